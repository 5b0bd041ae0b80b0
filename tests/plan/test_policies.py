"""What a plan says about policies before any node sees them: cost, refusals, rivals, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.desired.overlay import Overlay
from gitops.manifest import Manifest
from gitops.nri.acceptance.machine import parse_machine
from gitops.nri.machines import POOL_LABEL
from gitops.plan.changes import Cost, ShootPlan
from gitops.plan.inside import suspects
from gitops.plan.observed import Inside, Observed, Surroundings, Unobserved
from gitops.plan.planning import plan_shoot
from tests.plan.fleet import NOON, core, declared, dry_run, inside, live_objects, live_shoot, overlay, policy

SPEC = {
    "cloudProfile": {"name": "p"},
    "provider": {"type": "aws", "workers": [{"name": "w", "machine": {"type": "m.large"}, "minimum": 1, "maximum": 3}]},
}
PROFILE = {"spec": {"machineTypes": [{"name": "m.large", "cpu": "8", "memory": "32Gi"}]}}
OVERLAY = overlay()


def node(name: str, cpu: str = "", **labels: str) -> Manifest:
    capacity = {"status": {"capacity": {"cpu": cpu}}} if cpu else {}
    return {"kind": "Node", "metadata": {"name": name, "labels": {POOL_LABEL: "w", **labels}}, **capacity}


def topology(name: str, *, cpus: int = 8, containers: int = 0) -> Manifest:
    balloon = {"name": "b[0]", "type": "balloon", "resources": [{"name": "cpu", "capacity": str(cpus)}]}
    shown = [{"name": f"n/p/c{number}", "type": "allocation for container"} for number in range(containers)]
    return {"metadata": {"name": name}, "zones": [balloon, *shown]}


def agents(plugin: str, *arguments: str, **pod: Any) -> Manifest:
    name = f"nri-resource-policy-{plugin}"
    template = {"spec": {"containers": [{"name": "c", "args": list(arguments)}], **pod}}
    return {"metadata": {"name": name, "labels": {"app.kubernetes.io/name": name}}, "spec": {"template": template}}


def reserving(cpu: str, name: str = "default", **metadata: Any) -> Manifest:
    manifest = policy(name, reservedResources={"cpu": cpu})
    return {**manifest, "metadata": {**manifest["metadata"], **metadata}}


def planned(
    *objects: Manifest,
    live: list[Manifest] | None = None,
    nodes: tuple[Manifest, ...] = (),
    by: Overlay = OVERLAY,
    **around: Any,
) -> tuple[ShootPlan, list[str]]:
    """The plan of one shoot after a dry run, and the rules and messages that forbid it."""
    shoot = declared(*objects, spec=SPEC)
    first = inside(live_objects(*(live or [])))
    outcomes = {ref: dry_run(first.objects.get(ref), m) for ref, m in suspects(shoot, by, first).items()}
    seen = Inside(first.objects, nodes, frozenset(), outcomes, surroundings=Surroundings(**around))
    plan, problems = plan_shoot(shoot, by, Observed(live_shoot(shoot), NOON, seen))
    return plan, [f"{problem.rule}: {problem.message}" for problem in problems]


def test_a_new_generation_costs_all_its_nodes_and_the_containers_that_they_show() -> None:
    nodes = (node("a"), node("b"), node("c"))
    shown = (topology("a", containers=4), topology("b", containers=3), topology("c", containers=2))

    plan, _ = planned(reserving("2"), live=[reserving("1")], nodes=nodes, topologies=shown)

    assert plan.changes[1].cost is Cost.PINNING
    assert plan.changes[1].reason == "3 nodes will use it and re-pin 9 containers"


def test_containers_that_some_nodes_do_not_show_are_not_counted() -> None:
    plan, _ = planned(
        reserving("2"), live=[reserving("1")], nodes=(node("a"), node("b")), topologies=(topology("a", containers=4),)
    )

    assert plan.changes[1].reason == "2 nodes will use it and re-pin at least 4 containers"


def test_who_will_use_which_policy_is_told_before_all_else() -> None:
    nodes = (node("a"), node("b", **{"config.nri/group": "g"}), node("c", **{"config.nri/group": "h"}))

    plan, _ = planned(reserving("1"), reserving("1", "group.g"), nodes=nodes, cloud_profile=PROFILE)

    assert plan.notes == (
        "2 nodes: 1 default, 1 group.g; 1 node would have no configuration",
        "node c: no policy group.h, and nothing falls back to another",
    )


def test_metadata_alone_costs_nothing() -> None:
    labelled = reserving("1", annotations={"a": "b"})

    plan, _ = planned(labelled, live=[reserving("1")], nodes=(node("a"),))

    assert plan.changes[1].cost is Cost.NONE
    assert plan.changes[1].reason == "none of the nodes notices: only metadata changes"


def test_a_policy_that_goes_leaves_its_nodes_to_what_is_left_for_them() -> None:
    live = [reserving("1"), reserving("2", "node.a"), reserving("1", "group.g")]
    nodes = (node("a"), node("b", **{"config.nri/group": "g"}))

    plan, _ = planned(reserving("1"), core("ConfigMap", "c"), live=live, nodes=nodes)

    told = {change.ref.name: (change.cost, change.reason) for change in plan.changes}
    assert told["node.a"] == (Cost.PINNING, "declared no longer; 1 node will use default instead")
    keep = "1 node will run it until the agent restarts, and then have no configuration"
    assert told["group.g"] == (Cost.NONE, f"declared no longer; {keep}")


@pytest.mark.parametrize(
    ("cpu", "nodes", "around", "machine"),
    [
        ("9", (), {"cloud_profile": PROFILE}, "1x1x8x1:34359738368"),
        ("9", (node("a", "8"),), {}, "1x1x8x1"),
        ("5", (node("a", "4"),), {"cloud_profile": PROFILE}, "1x1x4x1:34359738368"),
        ("5", (node("a", "8"),), {"topologies": (topology("a", cpus=4),)}, "1x1x4x1"),
    ],
    ids=["cloud profile", "capacity", "capacity before cloud profile", "topology before capacity"],
)
def test_a_policy_that_a_machine_refuses_forbids_the_run(
    cpu: str, nodes: tuple[Manifest, ...], around: dict[str, Any], machine: str
) -> None:
    plan, problems = planned(reserving(cpu), nodes=nodes, **around)

    assert plan.changes[1].fields
    assert len(problems) == 1
    assert f"worker pool w (machine type m.large, {machine}) refuses it" in problems[0]
    assert planned(reserving("2"), nodes=nodes, **around)[1] == []


def test_a_declared_machine_counts_more_than_any_report() -> None:
    by = overlay(machines={"m.large": parse_machine("1x1x2x1")})

    assert "1x1x2x1" in planned(reserving("3"), nodes=(node("a", "8"),), by=by)[1][0]


def test_a_policy_that_is_there_already_is_not_judged() -> None:
    assert planned(reserving("9"), live=[reserving("9")], nodes=(node("a", "8"),))[1] == []


def test_what_could_not_be_concluded_is_said() -> None:
    plan, problems = planned(reserving("9"), unread=("what the CloudProfile says (forbidden: no)",))

    assert problems == []
    assert plan.notes == (
        "worker pool w will use default",
        (
            "worker pool w: whether policies are accepted is not known: no CloudProfile has it; "
            "declare the machine type m.large"
        ),
        "not known: what the CloudProfile says (forbidden: no)",
    )


def topology_aware() -> Manifest:
    return {**reserving("1"), "kind": "TopologyAwarePolicy"}


BOTH = (agents("balloons"), agents("topology-aware"))
APART = (
    agents("balloons", nodeSelector={"cpu_kind": "balloons"}),
    agents("topology-aware", nodeSelector={"cpu_kind": "topology"}),
)


@pytest.mark.parametrize(
    ("daemon_sets", "nodes", "rivals"),
    [
        ((), (node("a"),), 2),
        (BOTH, (node("a"),), 2),
        (BOTH, (), 0),
        (APART, (node("a", "", cpu_kind="balloons"), node("b", "", cpu_kind="topology")), 0),
        (APART[:1], (node("a"),), 0),
        ((BOTH[0], agents("topology-aware", "--config-namespace", "nri")), (node("a"),), 0),
        ((BOTH[0], agents("topology-aware", "--config-namespace=kube-system")), (node("a"),), 2),
    ],
    ids=[
        "unseen agents",
        "both",
        "no nodes",
        "node selectors",
        "no balloons here",
        "other namespace",
        "same namespace",
    ],
)
def test_two_plugins_on_one_node_forbid_the_run(
    daemon_sets: tuple[Manifest, ...], nodes: tuple[Manifest, ...], rivals: int
) -> None:
    _, problems = planned(reserving("1"), topology_aware(), nodes=nodes, daemon_sets=daemon_sets)

    assert [problem.split(":")[0] for problem in problems] == ["two-plugins"] * rivals


@pytest.mark.parametrize(
    ("daemon_sets", "note"),
    [
        ((), ()),
        ((agents("balloons"),), ()),
        ((agents("template", "--config-namespace", "nri"),), ()),
        (
            (agents("balloons", "--config-namespace", "nri"),),
            ("BalloonsPolicy in namespace kube-system: no agent reads it there, they read nri",),
        ),
    ],
    ids=["no agents", "the default", "of another kind", "elsewhere"],
)
def test_a_namespace_that_nobody_watches_is_noted(daemon_sets: tuple[Manifest, ...], note: tuple[str, ...]) -> None:
    plan, problems = planned(reserving("1"), nodes=(node("a", "8"),), daemon_sets=daemon_sets)

    assert plan.notes == note
    assert problems == []


def test_a_shoot_that_nobody_can_look_into_tells_by_its_worker_pools() -> None:
    shoot = declared(reserving("1", "group.x"), spec=SPEC)

    plan, _ = plan_shoot(shoot, OVERLAY, Observed(live_shoot(shoot), NOON, Unobserved("hibernated")))

    assert plan.notes == (
        "worker pool w would have no configuration",
        "worker pool w: no policy default, and nothing falls back to another",
        "group.x: no node is in that group: label a worker pool config.nri/group=x",
    )
