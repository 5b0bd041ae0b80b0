"""What nodes need comes before the Shoot is written: looked at once, repaired one after the other, or a stop."""

from __future__ import annotations

from gitops.kube.transport import Request
from gitops.rollout.rollout import RunOutcome
from tests.actors.node_jobs import BROKEN, FINE, LABEL, NodeJobs, Report
from tests.end_to_end.fleet import NAMES, Fleet
from tests.end_to_end.requests import Requests


class Nodes:
    """The nodes of all shoots, which act after every request of the pipeline."""

    def __init__(self, fleet: Fleet, **machines: Report) -> None:
        self.jobs = {name: NodeJobs(fleet.shoot_client(name)) for name in NAMES}
        self._fleet = fleet
        for name, report in machines.items():
            for node in fleet.nodes(name):
                self.jobs[name].machines[node] = dict(report)

    def requests(self) -> Requests:
        return Requests(after=self._act)

    def _act(self, request: Request) -> None:
        if request.writes or request.path.endswith("/pods"):
            for jobs in self.jobs.values():
                jobs.step()

    def log(self, name: str) -> list[str]:
        return self.jobs[name].log


def ask(fleet: Fleet, **prerequisites: str) -> None:
    fleet.repository.overlay["spec"]["prerequisites"] = prerequisites
    fleet.repository.commit(f"ask for {prerequisites}")


def more_nodes(fleet: Fleet, name: str, *nodes: str) -> None:
    for node in nodes:
        fleet.shoot_client(name).post("/api/v1/nodes", {"metadata": {"name": node}})
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        fleet.shoot_client(name).strategic_patch(f"/api/v1/nodes/{node}/status", ready)


def test_nodes_are_looked_at_and_repaired_before_the_shoot_is_written(fleet: Fleet) -> None:
    ask(fleet, dbus="Install", nri="Enable", cgroupV2="Require")
    node = fleet.nodes("two")[0]
    nodes = Nodes(fleet, two=BROKEN)
    requests = nodes.requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert nodes.log("two") == [f"probe {node}", f"repair {node}", f"{node} is Ready again"]
    assert nodes.log("one") == [f"probe {fleet.nodes('one')[0]}"]
    writes = requests.writes
    first_shoot = writes.index(f"PATCH {fleet.shoot_path('one')}")
    assert first_shoot > writes.index("PATCH /apis/apps/v1/namespaces/kube-system/daemonsets/shoot-gitops-probe")
    repairs = writes.index("PATCH /apis/apps/v1/namespaces/kube-system/daemonsets/shoot-gitops-repair")
    assert repairs < writes.index(f"PATCH {fleet.shoot_path('two')}")


def test_a_run_with_nothing_to_do_looks_at_no_node(fleet: Fleet) -> None:
    ask(fleet, dbus="Install", nri="Enable")
    fleet.reconcile(Nodes(fleet, one=BROKEN).requests())
    nodes = Nodes(fleet)
    requests = nodes.requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED
    assert requests.writes == []
    assert [nodes.log(name) for name in NAMES] == [[], [], []]
    inside = [request for request in requests.sent if request.path.startswith(("/api/v1", "/apis/apps"))]
    assert len([request for request in inside if "configmaps/shoot-gitops-nodes" in request.path]) == len(NAMES)


def test_a_plan_says_what_comes_first_on_the_nodes(fleet: Fleet) -> None:
    ask(fleet, dbus="Install", nri="Enable")

    shoots = [shoot for wave in fleet.plan().plan.waves for shoot in wave.shoots]

    first = "1 of 1 nodes are looked at first, and repaired one after the other where D-Bus or NRI is missing"
    assert all(first in shoot.notes for shoot in shoots)
    fleet.reconcile(Nodes(fleet).requests())
    assert not [note for wave in fleet.plan().plan.waves for shoot in wave.shoots for note in shoot.notes]


def test_nodes_are_restarted_one_at_a_time(fleet: Fleet) -> None:
    ask(fleet, nri="Enable")
    more_nodes(fleet, "one", "extra-1", "extra-2")
    names = sorted(fleet.nodes("one"))
    nodes = Nodes(fleet, one=BROKEN)

    record = fleet.reconcile(nodes.requests())

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    restarts = [entry for entry in nodes.log("one") if not entry.startswith("probe")]
    assert restarts == [entry for name in names for entry in (f"repair {name}", f"{name} is Ready again")]


def test_a_node_that_cannot_be_repaired_stops_the_shoot_with_its_own_words(fleet: Fleet) -> None:
    ask(fleet, dbus="Install")
    nodes = Nodes(fleet, one=BROKEN)
    words = "the directory /run/dbus/system_bus_socket cannot be removed: Device or resource busy"
    nodes.jobs["one"] = NodeJobs(
        fleet.shoot_client("one"), nodes.jobs["one"].machines, lambda _, report: {**report, "error": words}
    )
    node = fleet.nodes("one")[0]
    before = fleet.versions("one")
    requests = nodes.requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.STOPPED
    assert node in record.result.message
    assert words in record.result.message
    assert fleet.versions("one") == before
    assert not [write for write in requests.writes if "/shoots/" in write]

    nodes.jobs["one"].machines[node] = FINE
    assert fleet.reconcile(nodes.requests()).result.outcome is RunOutcome.CONVERGED


def test_with_require_nothing_on_a_node_is_ever_changed(fleet: Fleet) -> None:
    ask(fleet, dbus="Require", nri="Require", cgroupV2="Require")
    nodes = Nodes(fleet, one=BROKEN)
    requests = nodes.requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.STOPPED
    assert "D-Bus: a directory is at /run/dbus/system_bus_socket" in record.result.message
    assert nodes.log("one") == [f"probe {fleet.nodes('one')[0]}"]
    assert not [write for write in requests.writes if "repair" in write or "/nodes/" in write]


def test_without_prerequisites_nobody_looks_at_nodes(fleet: Fleet) -> None:
    nodes = Nodes(fleet, one=BROKEN)
    requests = nodes.requests()

    assert fleet.reconcile(requests).result.outcome is RunOutcome.CONVERGED
    about_nodes = ("shoot-gitops-nodes", "shoot-gitops-probe", "shoot-gitops-repair", LABEL)
    asked = [f"{request.path} {request.query}" for request in requests.sent]
    assert not [request for request in asked if any(word in request for word in about_nodes)]
