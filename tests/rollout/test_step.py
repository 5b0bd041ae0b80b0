"""What one shoot needs next: cases that whole runs do not come by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonpatch
import pytest

from gitops.gardener.extension_use import Service
from gitops.gardener.rolling import Vector
from gitops.gardener.shoot_merge import OPERATION
from gitops.plan.observed import Inside, Observed
from gitops.plan.planning import Prune
from gitops.rollout.step import (
    ApplyObjects,
    Await,
    CreateShoot,
    PatchShoot,
    PruneObjects,
    Settled,
    ShootOutcome,
    next_step,
    object_gate,
    subject,
)
from gitops.verdict import Status
from tests.plan.fleet import NOON, core, declared, inside, live_objects, overlay, policy, ref
from tests.rollout.runs import old_shoot


def test_an_object_that_is_not_there_is_not_found() -> None:
    assert object_gate(ref(policy()), inside()).status is Status.NOT_FOUND


@pytest.mark.parametrize(
    ("write", "what"),
    [
        pytest.param(CreateShoot(declared().shoot), "Shoot garden-local/one", id="a new Shoot"),
        pytest.param(PatchShoot((), ("/spec/b", "/spec/a")), "/spec/a, /spec/b", id="fields of a Shoot"),
        pytest.param(PatchShoot(()), "what is owned of the Shoot", id="a record"),
        pytest.param(
            ApplyObjects({}, (policy("a"), core("Namespace", "n"))),
            "BalloonsPolicy kube-system/a, Namespace n",
            id="objects",
        ),
        pytest.param(PruneObjects((policy("a"),), {}), "BalloonsPolicy kube-system/a", id="a prune"),
    ],
)
def test_a_write_says_what_it_is_about(write: Any, what: str) -> None:
    assert subject(write) == what


def test_an_object_is_applied_at_the_version_it_was_compared_at() -> None:
    shoot = declared(policy("default", pinCPU=True), policy("node.x"))
    live = live_objects(policy("default", pinCPU=False))
    settled = next_step(shoot, overlay(), Observed(well(shoot), NOON, inside(live)), Prune.ALLOWED)

    assert isinstance(settled, ApplyObjects)
    assert [m["metadata"].get("resourceVersion") for m in settled.manifests] == ["7"]


def well(shoot: Any) -> Any:
    """The Shoot after its own write and gate."""
    patched = next_step(shoot, overlay(), Observed(old_shoot(shoot), NOON, inside()), Prune.ALLOWED)
    assert isinstance(patched, PatchShoot)
    return jsonpatch.apply_patch(old_shoot(shoot), list(patched.operations))


def test_an_object_in_the_hands_of_another_tool_is_a_failure() -> None:
    shoot = declared(policy())
    theirs = live_objects(policy(), labels={"argocd.argoproj.io/instance": "apps"})

    step = next_step(shoot, overlay(), Observed(well(shoot), NOON, inside(theirs)), Prune.ALLOWED)

    assert isinstance(step, Settled)
    assert step.outcome is ShootOutcome.FAILED
    assert "Argo CD" in step.message


VECTORS = tuple(Vector("nri", digest * 16, (Service("Extension", "nri", on_by_default=False),)) for digest in "12")


def before_rolling(**status: Any) -> tuple[Any, Any]:
    """A shoot for which there is a new image vector, and its Shoot that was rolled with the old one."""
    first, second = (replace(declared(), vectors=(vector,)) for vector in VECTORS)
    live = well(first)
    live["metadata"]["annotations"].pop(OPERATION, None)
    live["status"] |= status
    return second, live


def rolling(shoot: Any, live: Any) -> Any:
    return next_step(shoot, overlay(), Observed(live, NOON, inside()), Prune.ALLOWED)


def test_a_new_image_vector_is_one_patch_with_its_trigger() -> None:
    step = rolling(*before_rolling())

    assert isinstance(step, PatchShoot)
    assert [
        operation["value"] for operation in step.operations if OPERATION.replace("/", "~1") in operation["path"]
    ] == ["reconcile"]


def test_a_failed_shoot_is_a_persons_to_retry() -> None:
    step = rolling(*before_rolling(lastOperation={"type": "Reconcile", "state": "Failed", "description": "broken"}))

    assert isinstance(step, Settled)
    assert step.outcome is ShootOutcome.FAILED
    assert "Reconcile is Failed: broken" in step.message


def test_an_operation_that_somebody_ordered_is_not_overwritten() -> None:
    shoot, live = before_rolling()
    live["metadata"]["annotations"][OPERATION] = "rotate-ssh-keypair"

    step = rolling(shoot, live)

    assert isinstance(step, Await)
    assert "rotate-ssh-keypair is still waiting" in step.message


def test_a_confined_shoot_is_not_written_while_an_operation_would_be_mistaken_for_its_roll_out() -> None:
    shoot, live = before_rolling(lastOperation={"type": "Reconcile", "state": "Processing"})
    live["spec"]["maintenance"] = {"confineSpecUpdateRollout": True}

    assert isinstance(rolling(shoot, live), Await)


NAMES = ("default", "group.a", "group.b", "node.x", "node.y")


@pytest.mark.parametrize(
    ("waves", "written"),
    [
        ((), ["default", "group.a group.b", "node.x node.y"]),
        ((("node.x",),), ["node.x", "default", "group.a group.b", "node.y"]),
        ((("node.*",), ("group.b",)), ["node.x node.y", "group.b", "default", "group.a"]),
        ((("group.*", "node.x"),), ["group.a group.b", "node.x", "default", "node.y"]),
        ((("group.z",), ("node.?",)), ["node.x node.y", "default", "group.a group.b"]),
    ],
    ids=["none", "one canary", "nodes, then a group", "two kinds in one wave", "a wave without policies"],
)
def test_node_waves_are_written_one_behind_the_gate_of_the_other(
    waves: tuple[tuple[str, ...], ...], written: list[str]
) -> None:
    """Each policy has one node that uses it; nothing is written while one of an earlier wave has not accepted."""
    shoot = declared(*(policy(name, pinCPU=True) for name in NAMES))
    by = overlay(node_waves=waves)
    nodes = tuple(_node_of(name) for name in NAMES)
    live = {ref(one): one for one in live_objects(*(policy(name, pinCPU=False) for name in NAMES))}
    seen: list[str] = []
    while True:
        step = next_step(shoot, by, Observed(well(shoot), NOON, Inside(live, nodes, frozenset())), Prune.ALLOWED)
        if not isinstance(step, ApplyObjects):
            break
        names = [one["metadata"]["name"] for one in step.manifests]
        seen.append(" ".join(names))
        for name in names:
            (applied,) = live_objects(policy(name, pinCPU=True))
            applied["metadata"]["generation"] = 2
            live[ref(applied)] = applied
        waiting = next_step(shoot, by, Observed(well(shoot), NOON, Inside(live, nodes, frozenset())), Prune.ALLOWED)
        assert isinstance(waiting, Await)
        for name in names:
            node = _node_of(name)["metadata"]["name"]
            answer = {"status": "Success", "generation": 2}
            live[ref(policy(name))] = {**live[ref(policy(name))], "status": {"nodes": {node: answer}}}

    assert seen == written
    assert step == Settled(ShootOutcome.CONVERGED)


def _node_of(name: str) -> dict[str, Any]:
    """The node that uses the policy."""
    kind, _, rest = name.partition(".")
    labels = {"config.nri/group": rest} if kind == "group" else {}
    return {"kind": "Node", "metadata": {"name": rest if kind == "node" else name, "labels": labels}}
