"""Policies that must not reach a node: found in the plan, before anything is written."""

from __future__ import annotations

from gitops.rollout.rollout import RunOutcome
from tests.actors import crds
from tests.end_to_end.fleet import Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.test_refusals import refused


def test_a_field_that_a_shoots_older_definition_would_drop_names_the_release_that_brought_it(fleet: Fleet) -> None:
    fleet.reconcile()
    crds.install(fleet.shoot_client("three"), [crds.balloons_of("v0.9.4")])
    types = [{"name": "irq", "irqMode": "sink", "schedulingClass": "fast"}]
    classes = [{"name": "fast", "policy": "fifo", "priority": 1}]
    fleet.repository.policy("default", **balloons(balloonTypes=types, schedulingClasses=classes))
    fleet.repository.commit()

    refused(
        fleet,
        r"^policies/default.yaml:1: BalloonsPolicy kube-system/default in shoot \S+/three: .*"
        r"irqMode came with nri-plugins v0\.14\.0: the CRD here is older.*"
        r"schedulingClasses came with nri-plugins v0\.12\.1[^\n]*refused-by-the-shoot\]$",
    )


def test_a_node_that_refuses_in_the_first_node_wave_leaves_every_other_node_with_what_it_has(fleet: Fleet) -> None:
    workers = fleet.shoot("one")["spec"]["provider"]["workers"]
    fleet.patch_shoot("one", {"spec": {"provider": {"workers": [{**workers[0], "minimum": 2, "maximum": 2}]}}})
    fleet.settle()
    _, canary = fleet.nodes("one")
    fleet.repository.overlay["spec"]["nodeWaves"] = [{"policies": ["node.*"]}]
    declare(fleet, canary, "1")
    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED
    before = fleet.policies("one")["default"]

    fleet.refuse("one", canary, "no such CPUs")
    declare(fleet, canary, "2")
    stopped = fleet.reconcile()

    assert stopped.result.outcome is RunOutcome.STOPPED
    assert f"{canary}: no such CPUs" in stopped.result.message
    assert fleet.policies("one")["default"] == before
    assert fleet.policies("one")[f"node.{canary}"]["spec"]["reservedResources"] == {"cpu": "2"}

    fleet.accept("one")
    declare(fleet, canary, "3")
    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED
    assert fleet.policies("one")["default"]["spec"]["reservedResources"] == {"cpu": "3"}


def declare(fleet: Fleet, canary: str, cpu: str) -> None:
    """Reserve so many CPUs on all nodes, by two policies."""
    for name in ("default", f"node.{canary}"):
        fleet.repository.policy(name, **balloons(cpu))
    fleet.repository.commit()
