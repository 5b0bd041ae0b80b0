"""The last gate of a shoot: its containers are known to run where the policies say."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from gitops.kube.transport import Request
from gitops.rollout.rollout import RunOutcome
from tests.actors import crds
from tests.actors.balloons_plugin import NAME, BalloonsPlugin
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.fleet import NAMES, Fleet
from tests.end_to_end.requests import Requests
from tests.kube.certificates import Authority
from tests.kube.https_server import HttpsServer, https_server

DEFINITION = Path(__file__).parents[1] / "data/crds/topology.node.k8s.io_noderesourcetopologies.yaml"


class Plugins:
    """The plugins of all shoots, which act whenever the pipeline is about to look at pods."""

    def __init__(self, fleet: Fleet) -> None:
        self.of = {name: BalloonsPlugin(fleet.shoot_client(name)) for name in NAMES}
        fleet.repository.overlay["spec"]["verification"] = {"placement": "Require", "instance": "balloons"}
        if isinstance(fleet, ControlPlaneFleet):
            fleet.repository.overlay["spec"]["gate"] = {"timeout": "8s", "quarantineAfter": "3s"}  # in real time
            for name in NAMES:
                definitions = [yaml.safe_load(DEFINITION.read_text())]
                crds.install(fleet.shoot_client(name), definitions)
                crds.wait_until_established(fleet.shoot_client(name), definitions)
        fleet.repository.commit("ask for proof")

    def requests(self) -> Requests:
        return Requests(before=self._act)

    def _act(self, request: Request) -> None:
        if request.path == "/apis/apps/v1/daemonsets":
            for plugin in self.of.values():
                plugin.step()


def test_a_shoot_converges_once_its_containers_are_known_to_be_where_they_belong(fleet: Fleet) -> None:
    plugins = Plugins(fleet)

    record = fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message


def test_a_container_in_the_wrong_type_stops_the_wave_with_its_pods_name(fleet: Fleet) -> None:
    plugins = Plugins(fleet)
    node = fleet.nodes("one")[0]
    before = {name: fleet.versions(name) for name in NAMES[1:]}
    plugins.of["one"].placed[f"default/web-{node}/main"] = "reserved[0]"

    record = fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.STOPPED
    assert f"default/web-{node}/main on {node}: it runs in reserved[0] and belongs in default" in record.result.message
    assert {name: fleet.versions(name) for name in NAMES[1:]} == before


def test_a_container_that_the_plugin_does_not_know_is_not_well(fleet: Fleet) -> None:
    plugins = Plugins(fleet)
    node = fleet.nodes("one")[0]
    plugins.of["one"].hidden.add(f"default/web-{node}/main")

    record = fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.STOPPED
    assert f"default/web-{node}/main on {node}: no word of it" in record.result.message


def kubelet(fleet: Fleet, name: str, server: HttpsServer) -> None:
    """Let a server answer for the kubelets of a shoot."""
    port = urlsplit(server.url).port
    for node in fleet.nodes(name):
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        fleet.shoot_client(name).strategic_patch(f"/api/v1/nodes/{node}/status", {"status": status})


def test_without_topologies_the_plugins_log_is_believed(real_fleet: ControlPlaneFleet) -> None:
    plugins = Plugins(real_fleet)
    with ExitStack() as stack:
        for name, plugin in plugins.of.items():
            plugin.topologies = False
            server = stack.enter_context(https_server(Authority()))
            kubelet(real_fleet, name, server)
            for node in real_fleet.nodes(name):
                path = f"/containerLogs/kube-system/plugin-{node}/main?limitBytes=16777216&tailLines=131072"
                server.answers[path] = (200, {"Content-Type": "text/plain"}, plugin.log(node).encode())

        record = real_fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message


def test_a_plugin_that_cannot_be_heard_is_not_well(real_fleet: ControlPlaneFleet) -> None:
    plugins = Plugins(real_fleet)
    plugins.of["one"].topologies = False

    record = real_fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.STOPPED
    assert "where containers run is not known: its log cannot be read" in record.result.message


def test_an_instance_that_is_not_there_is_not_well(fleet: Fleet) -> None:
    plugins = Plugins(fleet)
    fleet.repository.overlay["spec"]["verification"]["instance"] = "another"
    fleet.repository.commit()

    record = fleet.reconcile(plugins.requests())

    assert record.result.outcome is RunOutcome.STOPPED
    assert "no plugin runs here" in record.result.message
    assert NAME not in record.result.message
