"""One shoot in a rollout: what it waits for, what goes wrong with it, and what the run makes of that."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest

from gitops.errors import Conflict, CredentialsError, Forbidden, GitopsError, Rejected, Throttled, Unreachable
from gitops.manifest import Manifest, get
from gitops.ownership.applyset import GROUP_KINDS, member_labels
from gitops.ownership.field_record import RECORD_ANNOTATION
from gitops.plan.planning import Prune
from gitops.rollout.rollout import Result, RunOutcome
from gitops.rollout.step import ShootOutcome
from tests.plan.fleet import COMPLETE, core, declared, desired, ignoring, overlay, policy, wave
from tests.rollout.runs import at_once, done, fleet, gate, old_shoot, run, target, world_of, written
from tests.rollout.toy_world import Fault, Record, ToyWorld
from tests.rollout.virtual_time import START

ONE = target(0)
PATCH = "patch Shoot garden-local/s0000"
APPLY = "apply BalloonsPolicy kube-system/default"


def one(*objects: Manifest, by: Any = None, **more: Any) -> ToyWorld:
    return world_of(fleet({"all": 1}, by, *objects, **more))


def outcome(result: Result, number: int = 0) -> tuple[ShootOutcome, str]:
    shoots = [shoot for wave in result.waves for shoot in wave.shoots]
    return shoots[number].outcome, shoots[number].message


def once(kind: str, fault: Fault) -> Any:
    """This fault for the first request of a kind, and none after that."""
    left = [fault]

    def faults(request: str, _: str) -> Fault:
        return left.pop() if request == kind and left else ""

    return faults


def for_ever(kind: str, fault: Fault) -> Any:
    return lambda request, _: fault if request == kind else ""


# creation and deletion


def test_a_complete_shoot_that_is_absent_is_created_and_filled() -> None:
    world = one(spec={**COMPLETE, "extensions": [{"type": "nri"}]})
    world.shoots.clear()

    result = run(world)

    assert result.outcome is RunOutcome.CONVERGED
    assert written(world) == ["create Shoot garden-local/s0000", APPLY]
    assert done(world, ONE)
    assert run(world).writes == 0


def test_a_created_shoot_is_not_written_again_for_fields_that_are_ignored() -> None:
    world = one(core("ConfigMap", "c"), spec=COMPLETE, ignored=(ignoring("Shoot", "spec", "region"),))
    world.tempers[ONE] = world.temper(ONE)
    world.shoots.clear()

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world)[0] == "create Shoot garden-local/s0000"
    assert not any("patch" in what for what in written(world))


def test_a_shoot_that_somebody_created_meanwhile_is_merged_into() -> None:
    world = one(spec={**COMPLETE, "extensions": [{"type": "nri"}]})
    theirs = old_shoot(world.desired.shoots[ONE], {**COMPLETE, "purpose": "theirs"})
    world.shoots.clear()
    world.time.after(0.05, lambda: world.shoots.update({ONE: theirs}))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert world.shoots[ONE]["spec"]["purpose"] == "theirs"
    assert written(world) == [PATCH, APPLY]


def test_a_partial_shoot_that_is_absent_is_a_failure() -> None:
    world = one()
    world.shoots.clear()

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "too little to create it" in result.message
    assert world.writes == []


def test_a_shoot_that_is_deleted_during_the_run_is_a_failure() -> None:
    world = one()
    world.time.after(20, world.shoots.clear)

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "the Shoot was deleted during the run" in result.message


def test_a_shoot_that_is_gone_when_it_is_written_is_a_failure() -> None:
    world = one()
    world.time.after(0.05, world.shoots.clear)

    assert outcome(run(world)) == (ShootOutcome.FAILED, "not found")


def test_a_shoot_that_is_being_deleted_is_not_written() -> None:
    world = one()
    world.shoots[ONE]["metadata"]["deletionTimestamp"] = "2026-11-30T11:00:00Z"

    assert outcome(run(world)) == (ShootOutcome.FAILED, "the Shoot is being deleted")
    assert world.writes == []


def test_a_shoot_in_sync_that_is_being_deleted_is_a_failure_too() -> None:
    world = one()
    run(world)
    world.shoots[ONE]["metadata"]["deletionTimestamp"] = "2026-11-30T11:00:00Z"

    assert "being deleted since" in outcome(run(world))[1]


def test_a_record_that_cannot_be_read_is_a_failure() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))
    world.time.after(20, lambda: spoil(world, target(1)))

    assert "cannot be read" in outcome(run(world), 1)[1]
    assert not any(record.target == target(1) for record in world.writes)


def spoil(world: ToyWorld, name: str) -> None:
    live = world.shoots[name]
    world.shoots[name] = {**live, "metadata": {**live["metadata"], "annotations": {RECORD_ANNOTATION: "{"}}}


def run_with(world: ToyWorld, seen: Any) -> Result:
    """A run that begins with an older look at the world."""
    world.observe = lambda: seen  # type: ignore[method-assign]
    return run(world)


# waiting


def test_a_hibernated_shoot_is_deferred_and_the_next_wave_goes_on() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))
    sleeping(world)

    result = run(world)

    assert result.outcome is RunOutcome.WAITING
    assert outcome(result)[0] is ShootOutcome.DEFERRED
    assert "hibernated" in result.message
    assert outcome(result, 1)[0] is ShootOutcome.CONVERGED
    assert PATCH in written(world), "the Shoot itself can be written"


def sleeping(world: ToyWorld) -> None:
    world.shoots[ONE]["spec"]["hibernation"] = {"enabled": True}
    world.shoots[ONE]["status"]["hibernated"] = True


def test_a_hibernated_shoot_with_nothing_inside_is_as_it_should_be() -> None:
    world = world_of(desired(declared(name="s0000")))
    sleeping(world)

    assert run(world).outcome is RunOutcome.CONVERGED


def test_a_shoot_that_wakes_up_is_finished_by_the_next_run() -> None:
    world = one()
    sleeping(world)
    run(world)

    world.replace_shoot(
        ONE, {**world.shoots[ONE], "spec": {**world.shoots[ONE]["spec"], "hibernation": {"enabled": False}}}
    )
    world.time.sleep(120)

    assert run(world).outcome is RunOutcome.CONVERGED
    assert done(world, ONE)


def confined(world: ToyWorld) -> None:
    world.shoots[ONE]["spec"]["maintenance"] = {"confineSpecUpdateRollout": True}


def test_a_change_that_waits_for_its_window_is_deferred() -> None:
    world = one()
    confined(world)

    result = run(world)

    assert result.outcome is RunOutcome.WAITING
    assert "maintenance window" in result.message
    assert written(world) == [PATCH]


def test_after_the_window_the_rest_is_written() -> None:
    world = one()
    confined(world)
    run(world)
    world.time.sleep(60)
    world._reconcile(ONE)  # noqa: SLF001 - the window opens
    world.time.sleep(60)

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world) == [PATCH, APPLY]


def test_a_confined_shoot_is_not_written_while_an_operation_runs() -> None:
    world = one()
    confined(world)
    world._reconcile(ONE)  # noqa: SLF001 - the window is open
    world.time.sleep(5)
    ended: list[bool] = []
    world.on_write = lambda _: ended.append(get(world.shoots[ONE], "status", "lastOperation", "state") == "Succeeded")

    run(world)

    assert ended == [True]


def test_a_policy_waits_for_its_kind_to_be_served() -> None:
    world = one()
    world.temper(ONE).serves_after = 300
    told: set[str] = set()

    assert run(world, watch=lambda rollout: told.add(rollout.tracks[ONE].message)).outcome is RunOutcome.CONVERGED
    assert written(world) == [PATCH, APPLY]
    assert any("BalloonsPolicy is unknown there" in message for message in told)


def test_what_others_need_is_current_before_the_next_stage_is_written() -> None:
    world = one(core("Namespace", "n"), core("ConfigMap", "c"), policy("default"), policy("node.n1"))

    def check(record: Record) -> None:
        if "node.n1" in record.what:
            default = next(m for r, m in world.insides[ONE].items() if r.name == "default")
            assert default["status"]["nodes"]["n1"]["status"] == "Success"

    world.on_write = check

    assert run(world).outcome is RunOutcome.CONVERGED
    assert [what.split()[1] for what in written(world)] == ["Shoot", "Namespace", "ConfigMap", *["BalloonsPolicy"] * 2]


# answers that go wrong


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
def test_a_throttled_write_is_tried_again_later(verb: str) -> None:
    world = one()
    world.faults = once(verb, Throttled("slow down", retry_after=30))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert done(world, ONE)


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

    assert run_with(world, seen).outcome is RunOutcome.CONVERGED
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


# prune


def test_what_is_declared_no_longer_is_pruned_last() -> None:
    world = one(policy("default"), policy("group.old"))
    run(world)
    world.writes.clear()
    world.desired = fleet({"all": 1}, None, policy("default", pinCPU=False))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world) == [APPLY, "delete BalloonsPolicy kube-system/group.old"]
    assert run(world).writes == 0


def test_a_run_that_may_not_prune_leaves_everything() -> None:
    world = one(policy("default"), policy("group.old"))
    run(world)
    world.desired = fleet({"all": 1})

    assert run(world, prune=Prune.WITHHELD).outcome is RunOutcome.CONVERGED
    assert "group.old" in {ref.name for ref in world.insides[ONE]}


def test_an_object_that_changed_since_it_was_seen_is_not_deleted_blindly() -> None:
    world = one(policy("default"), policy("group.old"))
    run(world)
    world.desired = fleet({"all": 1})

    def adopt(record: Record) -> None:
        if record.what.startswith("delete"):
            ref, live = next((r, m) for r, m in world.insides[ONE].items() if r.name == "group.old")
            theirs = {**live, "metadata": {**live["metadata"], "labels": member_labels("other")}}
            world.insides[ONE][ref] = {**theirs, "metadata": {**theirs["metadata"], "resourceVersion": "9999"}}

    world.on_write = adopt

    assert run(world).outcome is RunOutcome.CONVERGED
    assert "group.old" in {ref.name for ref in world.insides[ONE]}


def test_the_parent_of_the_set_names_what_is_in_it() -> None:
    world = one(core("ConfigMap", "c"), policy("default"))
    run(world)
    assert kinds(world) == "BalloonsPolicy.config.nri,ConfigMap"

    world.desired = fleet({"all": 1})
    run(world)

    assert kinds(world) == "BalloonsPolicy.config.nri"


def kinds(world: ToyWorld) -> str:
    parent = next(m for r, m in world.insides[ONE].items() if r.name == "shoot-gitops-dev")
    return str(parent["metadata"]["annotations"][GROUP_KINDS])


# what never settles


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
