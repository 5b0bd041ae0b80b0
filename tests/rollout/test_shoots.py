"""One shoot in a rollout: what it waits for, what goes wrong with it, and what the run makes of that."""

from __future__ import annotations

from gitops.manifest import get
from gitops.ownership.applyset import GROUP_KINDS, member_labels
from gitops.ownership.field_record import RECORD_ANNOTATION
from gitops.plan.planning import Prune
from gitops.rollout.rollout import RunOutcome
from gitops.rollout.step import ShootOutcome
from tests.plan.fleet import COMPLETE, core, declared, desired, ignoring, policy
from tests.rollout.runs import done, fleet, old_shoot, one, outcome, run, target, world_of, written
from tests.rollout.toy_world import Record, ToyWorld

ONE = target(0)
PATCH = "patch Shoot garden-local/s0000"
APPLY = "apply BalloonsPolicy kube-system/default"


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
