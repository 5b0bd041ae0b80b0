"""Answers that go wrong, or never come, and what does not last: a run goes on, or ends with the reason."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitops.errors import Conflict, CredentialsError, Forbidden, GitopsError, Rejected, Throttled, Unreachable
from gitops.manifest import Manifest
from gitops.rollout.rollout import RunOutcome
from gitops.rollout.step import ShootOutcome
from tests.plan.fleet import COMPLETE, overlay, policy, wave
from tests.rollout.runs import at_once, done, fleet, gate, one, outcome, run, target, world_of, written
from tests.rollout.toy_world import Fault, Record, ToyWorld
from tests.rollout.virtual_time import START

ONE = target(0)
PATCH = "patch Shoot garden-local/s0000"
APPLY = "apply BalloonsPolicy kube-system/default"


def once(kind: str, fault: Fault) -> Any:
    """This fault for the first request of a kind, and none after that."""
    left = [fault]

    def faults(request: str, _: str) -> Fault:
        return left.pop() if request == kind and left else ""

    return faults


def for_ever(kind: str, fault: Fault) -> Any:
    return lambda request, _: fault if request == kind else ""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("verb", "what"), [("patch", PATCH), ("apply", APPLY)])
def test_a_write_without_an_answer_is_looked_at_and_not_repeated_blindly(verb: str, what: str, when: Fault) -> None:
    world = one()
    world.faults = once(verb, when)

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world).count(what) == 1
    assert done(world, ONE)


def test_a_creation_without_an_answer_is_not_repeated() -> None:
    world = one(spec={**COMPLETE, "extensions": [{"type": "nri"}]})
    world.shoots.clear()
    world.faults = once("create", "after")

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world) == ["create Shoot garden-local/s0000", APPLY]


def test_a_foreign_edit_between_read_and_write_of_a_shoot_is_kept() -> None:
    world = one()
    world.time.after(0.05, lambda: edit_shoot(world))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert world.shoots[ONE]["spec"]["purpose"] == "theirs"
    assert written(world) == [PATCH, APPLY]


def edit_shoot(world: ToyWorld) -> None:
    live = world.shoots[ONE]
    world.replace_shoot(ONE, {**live, "spec": {**live["spec"], "purpose": "theirs"}})


def test_a_foreign_edit_between_read_and_write_of_a_policy_is_kept() -> None:
    world = one(policy(pinCPU=True))
    run(world)
    world.desired = fleet({"all": 1}, None, policy(pinCPU=False))
    edited: list[bool] = []

    def edit(record: Record) -> None:
        if record.what == APPLY and not edited:
            edited.append(True)
            ref, live = next((r, m) for r, m in world.insides[ONE].items() if r.name == "default")
            world.edit_inside(ref, {**live, "spec": {**live["spec"], "pinMemory": True}})
            raise Conflict("the object has been modified", status=409)

    world.on_write = edit

    assert run(world).outcome is RunOutcome.CONVERGED
    live = next(m for r, m in world.insides[ONE].items() if r.name == "default")
    assert live["spec"] == {"pinCPU": False, "pinMemory": True}


def test_conflicts_without_end_wait_between_attempts_and_end_in_a_failure() -> None:
    world = one(by=overlay(wave("all"), gate=gate(minutes=10)))
    world.faults = for_ever("patch", Conflict("the object has been modified", status=409))

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "the object has been modified" in result.message
    assert world.requests["list shoots"] < 200
    assert world.time.now() - START > timedelta(minutes=9)


@pytest.mark.parametrize("verb", ["patch", "apply"])
def test_a_throttled_write_is_tried_again_when_the_server_said_so(verb: str) -> None:
    world = one()
    world.faults = once(verb, Throttled("slow down", retry_after=1200))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert done(world, ONE)
    assert world.time.now() - START > timedelta(seconds=1200)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Rejected("spec.extensions[0].type: Invalid value", status=422), id="rejected"),
        pytest.param(Forbidden("cannot patch shoots", status=403), id="forbidden"),
        pytest.param(CredentialsError("no kubeconfig"), id="no credentials"),
    ],
)
def test_a_write_that_is_refused_is_a_failure_with_the_servers_words(error: GitopsError) -> None:
    world = one()
    world.faults = for_ever("patch", error)

    assert outcome(run(world)) == (ShootOutcome.FAILED, str(error))


@pytest.mark.parametrize(
    "error", [Forbidden("no"), CredentialsError("no kubeconfig")], ids=["forbidden", "credentials"]
)
def test_a_shoot_that_may_not_be_looked_into_is_a_failure(error: GitopsError) -> None:
    world = one()
    world.faults = for_ever("look inside", error)

    assert outcome(run(world)) == (ShootOutcome.FAILED, str(error))


def test_an_unreachable_shoot_is_quarantined_after_a_while_and_the_rollout_goes_on() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))
    world.temper(ONE).unreachable = "no route to host"

    result = run(world)

    assert result.outcome is RunOutcome.WAITING
    assert outcome(result)[0] is ShootOutcome.QUARANTINED
    assert "no route to host" in outcome(result)[1]
    assert outcome(result, 1)[0] is ShootOutcome.CONVERGED
    assert world.time.now() - START > timedelta(minutes=5)


def test_a_shoot_that_answers_again_in_time_goes_on() -> None:
    world = one()
    world.temper(ONE).unreachable = "no route to host"
    world.time.after(200, lambda: setattr(world.temper(ONE), "unreachable", ""))

    assert run(world).outcome is RunOutcome.CONVERGED


def hibernate(world: ToyWorld) -> None:
    world.shoots[ONE]["spec"]["hibernation"] = {"enabled": True}
    world.shoots[ONE]["status"]["hibernated"] = True


@pytest.mark.parametrize(
    ("meanwhile", "expected", "message"),
    [
        pytest.param(hibernate, ShootOutcome.DEFERRED, "hibernated", id="hibernated"),
        pytest.param(lambda world: world.shoots.pop(ONE), ShootOutcome.FAILED, "deleted", id="deleted"),
    ],
)
def test_the_garden_is_asked_why_a_shoot_fell_silent_in_the_midst_of_the_run(
    meanwhile: Callable[[ToyWorld], None], expected: ShootOutcome, message: str
) -> None:
    world = one()
    world.temper(ONE).answers_after = -1
    world.time.after(200, lambda: meanwhile(world))
    world.time.after(200, lambda: setattr(world.temper(ONE), "unreachable", "no route to host"))

    result = run(world)

    assert outcome(result)[0] is expected
    assert message in outcome(result)[1]
    assert world.time.now() - START < timedelta(minutes=5)


def test_a_quarantined_shoot_comes_back_while_its_wave_soaks() -> None:
    soaking = overlay(wave("canary", soak=timedelta(minutes=20), max_concurrent=at_once(2)), wave("fleet"))
    world = world_of(fleet({"canary": 2, "fleet": 1}, soaking))
    world.temper(ONE).unreachable = "no route to host"
    world.time.after(600, lambda: setattr(world.temper(ONE), "unreachable", ""))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert done(world, ONE)


def test_an_unreachable_shoot_keeps_what_would_be_pruned() -> None:
    world = one(policy("default"), policy("group.old"))
    run(world)
    world.desired = fleet({"all": 1})
    world.temper(ONE).unreachable = "no route to host"

    run(world)

    assert {ref.name for ref in world.insides[ONE]} >= {"default", "group.old"}


def test_a_throttled_shoot_is_asked_again_when_it_said_so() -> None:
    world = one()
    run(world)
    world.faults = once("look inside", Throttled("slow down", retry_after=60))
    seen = world.observe()
    before = world.time.now()

    assert run(world, seen=seen).outcome is RunOutcome.CONVERGED
    assert timedelta(seconds=55) < world.time.now() - before < timedelta(seconds=90)


def test_a_garden_that_falls_silent_ends_the_run_as_failed() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))
    world.time.after(10, lambda: setattr(world, "faults", for_ever("list shoots", Unreachable("no route to garden"))))

    result = run(world)

    assert result.outcome is RunOutcome.FAILED
    assert "the garden cannot be read any more: no route to garden" in result.message
    assert outcome(result)[0] is ShootOutcome.WAITING
    assert outcome(result, 1)[0] is ShootOutcome.NOT_STARTED


def test_a_garden_that_is_silent_for_a_moment_is_waited_for() -> None:
    world = one()
    world.time.after(10, lambda: setattr(world, "faults", for_ever("list shoots", Unreachable("no route"))))
    world.time.after(100, lambda: setattr(world, "faults", lambda *_: ""))

    assert run(world).outcome is RunOutcome.CONVERGED


def test_a_garden_that_forbids_to_look_ends_the_run_at_once() -> None:
    world = one()
    world.time.after(10, lambda: setattr(world, "faults", for_ever("list shoots", Forbidden("no"))))

    assert run(world).outcome is RunOutcome.FAILED
    assert world.time.now() - START < timedelta(minutes=1)


def test_a_field_that_the_garden_stores_in_other_words_is_not_written_for_ever() -> None:
    """Such as a duration that nobody knows to be one: told as a failure, and not repeated until the deadline."""

    def shout(shoot: Manifest) -> Manifest:
        shouted = copy.deepcopy(shoot)
        shouted["spec"]["purpose"] = shouted["spec"].get("purpose", "").upper()
        return shouted

    world = one(spec={"purpose": "evaluation", "extensions": [{"type": "nri"}]})
    world.temper(ONE).stores = shout

    result = run(world, deadline=timedelta(hours=2))

    assert result.outcome is RunOutcome.STOPPED
    assert "/spec/purpose" in result.message
    assert written(world).count(PATCH) <= 5


def test_an_object_that_somebody_rewrites_at_once_is_not_written_for_ever() -> None:
    world = one(policy(pinCPU=True))

    def fight(record: Record) -> None:
        if record.what == APPLY:
            world.time.after(0.01, lambda: undo(world))

    world.on_write = fight

    result = run(world, deadline=timedelta(hours=2))

    assert result.outcome is RunOutcome.STOPPED
    assert "BalloonsPolicy kube-system/default" in result.message
    assert written(world).count(APPLY) <= 5


def undo(world: ToyWorld) -> None:
    ref, live = next((r, m) for r, m in world.insides[ONE].items() if r.name == "default")
    world.edit_inside(ref, {**live, "spec": {"pinCPU": False}}, manager="other-operator")


def test_another_tools_claim_that_comes_during_the_run_is_a_failure() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))

    def claim() -> None:
        live = world.shoots[target(1)]
        labels = {"kustomize.toolkit.fluxcd.io/name": "shoots"}
        world.shoots[target(1)] = {**live, "metadata": {**live["metadata"], "labels": labels}}

    world.time.after(20, claim)

    result = run(world)

    assert "Flux" in outcome(result, 1)[1]
    assert not any(record.target == target(1) for record in world.writes)
