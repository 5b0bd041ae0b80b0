"""What people ask of a rollout, in a garden that lives: approval, suspension, rollback, windows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitops.control.control import Control, Hold, Suspension
from gitops.control.store import change_control, load_control
from gitops.errors import Refused
from gitops.kube.transport import Request
from gitops.look import plan
from gitops.pipeline import reconcile
from gitops.plan.document import digest
from gitops.rollout.approval import approval_of, approved
from gitops.rollout.rollout import RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.world import Pace
from tests.end_to_end.fleet import NAMES, POLICIES, Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet

THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
JANE = Suspension("jane", THEN, "disks are failing")


def ask(fleet: Fleet, change: Callable[[Control], Control]) -> Control:
    with fleet.world(Requests()) as world:
        return change_control(world.garden, fleet.composed().overlay, change)


def approve(fleet: Fleet) -> str:
    """Somebody approves of the present plan; returns its digest."""
    with fleet.world(Requests()) as world:
        planned, outlook = plan(world, fleet.composed())
        seen = digest(planned.plan)
        approval = approval_of(planned.plan, seen, outlook, "jane", THEN)
        change_control(world.garden, outlook.desired.overlay, lambda control: approved(control, approval, outlook))
    return seen


def outcomes(fleet: Fleet, **how: int) -> tuple[RunOutcome, str, dict[str, ShootOutcome]]:
    result = fleet.reconcile(**how).result  # type: ignore[arg-type]
    shoots = {shoot.shoot.partition("/")[2]: shoot.outcome for wave in result.waves for shoot in wave.shoots}
    return result.outcome, result.message, shoots


def with_approval(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["waves"][1]["approval"] = "Required"
    fleet.repository.commit("the fleet needs approval")


def objects_written(requests: Requests) -> list[str]:
    return [write for write in requests.writes if "/shoot-gitops-dev" not in write]


def test_a_wave_that_requires_approval_waits_for_it(fleet: Fleet) -> None:
    with_approval(fleet)

    outcome, message, shoots = outcomes(fleet)

    waiting, done = ShootOutcome.NOT_STARTED, ShootOutcome.CONVERGED
    assert (outcome, shoots) == (RunOutcome.WAITING, {"one": done, "two": waiting, "three": waiting})
    assert "gitops approve dev --digest" in message
    again = fleet.reconcile().result
    assert f"gitops approve dev --digest {digest(fleet.plan().plan)}" in again.message, "as nothing was written"
    assert [wave.outcome for wave in again.waves] == [WaveOutcome.PASSED, WaveOutcome.WAITING]

    approve(fleet)

    assert outcomes(fleet)[0] is RunOutcome.CONVERGED
    assert set(fleet.policies("two")) == {"default"}


def test_an_approval_is_void_where_a_commit_changes_what_is_done_and_nowhere_else(fleet: Fleet) -> None:
    with_approval(fleet)
    fleet.reconcile()
    approve(fleet)
    fleet.repository.shoot("two", wave="fleet", purpose="development")
    fleet.repository.commit()

    outcome, message, shoots = outcomes(fleet)

    assert outcome is RunOutcome.WAITING
    assert (shoots["two"], shoots["three"]) == (ShootOutcome.NOT_STARTED, ShootOutcome.CONVERGED)
    assert fleet.target("two") in message
    assert fleet.target("three") not in message
    assert not fleet.policies("two")


def test_an_approval_is_void_where_the_world_has_changed_and_nowhere_else(fleet: Fleet) -> None:
    fleet.reconcile()
    with_approval(fleet)
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit()
    fleet.reconcile()
    approve(fleet)
    fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"spec": {"reservedResources": {"cpu": "750m"}}})

    outcome, _, shoots = outcomes(fleet)

    assert outcome is RunOutcome.WAITING
    assert (shoots["two"], shoots["three"]) == (ShootOutcome.NOT_STARTED, ShootOutcome.CONVERGED)
    assert fleet.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "750m"}
    approve(fleet)
    assert outcomes(fleet)[0] is RunOutcome.CONVERGED


def test_a_change_during_the_run_is_not_written_over_without_approval(fleet: Fleet) -> None:
    """Between the Shoot, which was approved, and the policy, which somebody then makes another one."""
    fleet.reconcile()
    with_approval(fleet)
    fleet.repository.shoot("two", wave="fleet", purpose="development")
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit()
    fleet.reconcile()
    approve(fleet)

    def edit(request: Request) -> None:
        if request.writes and request.path == fleet.shoot_path("two"):
            fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"spec": {"reservedResources": {"cpu": "7"}}})

    outcome, _, shoots = outcomes_of(fleet, Requests(after=edit))

    assert outcome is RunOutcome.WAITING
    assert shoots["two"] is ShootOutcome.WAITING, "it is half done"
    assert fleet.shoot("two")["spec"]["purpose"] == "development"
    assert fleet.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "7"}


def outcomes_of(fleet: Fleet, requests: Requests) -> tuple[RunOutcome, str, dict[str, ShootOutcome]]:
    result = fleet.reconcile(requests).result
    shoots = {shoot.shoot.partition("/")[2]: shoot.outcome for wave in result.waves for shoot in wave.shoots}
    return result.outcome, result.message, shoots


class Killed(BaseException):
    """The process is gone."""


def test_a_killed_run_goes_on_under_the_same_approval(sandbox_fleet: SandboxFleet) -> None:
    with_approval(sandbox_fleet)
    sandbox_fleet.reconcile()
    approve(sandbox_fleet)

    for number in range(1, 20):
        count = iter(range(1, 100))

        def die(request: Request, number: int = number, count: object = count) -> None:
            if request.writes and next(count) == number:  # type: ignore[call-overload]
                raise Killed

        try:
            record = sandbox_fleet.reconcile(Requests(after=die))
        except Killed:
            continue
        if record.result.outcome is RunOutcome.CONVERGED:
            break
    assert outcomes(sandbox_fleet)[0] is RunOutcome.CONVERGED


def test_a_suspended_overlay_is_left_alone(fleet: Fleet) -> None:
    ask(fleet, lambda control: control.suspended(JANE, None))
    requests = Requests()

    result = fleet.reconcile(requests).result

    assert result.outcome is RunOutcome.WAITING
    assert "jane" in result.message
    assert "2026-11-30T10:00:00Z: disks are failing" in result.message
    assert requests.writes == []
    assert {shoot.outcome for wave in result.waves for shoot in wave.shoots} == {ShootOutcome.NOT_STARTED}
    ask(fleet, lambda control: control.resumed(None))
    assert outcomes(fleet)[0] is RunOutcome.CONVERGED


def test_a_suspended_shoot_is_out_of_the_way_of_the_others(fleet: Fleet) -> None:
    ask(fleet, lambda control: control.suspended(JANE, fleet.target("one")))

    outcome, message, shoots = outcomes(fleet)

    done = ShootOutcome.CONVERGED
    assert (outcome, shoots) == (RunOutcome.WAITING, {"one": ShootOutcome.DEFERRED, "two": done, "three": done})
    assert "suspended by jane" in message
    assert not fleet.policies("one")


@pytest.mark.parametrize("number", [1, 5, 12, 17])
def test_a_suspension_stops_a_rollout_between_two_writes(tmp_path: Path, number: int) -> None:
    fleet = SandboxFleet(tmp_path, names=("one", *(f"s{number:02}" for number in range(6))))
    for name in ("group.a", "group.b"):
        fleet.repository.policy(name)
    fleet.repository.commit()
    requests = Requests()
    at: list[int] = []

    def suspend(request: Request) -> None:
        if request.writes and len(requests.writes) == number:
            ask(fleet, lambda control: control.suspended(JANE, None))
            at.append(len(requests.writes))

    requests.after = suspend
    result = fleet.reconcile(requests, listen=timedelta(0), threads=1).result

    begun_later = requests.writes[at[0] :]
    assert result.outcome is RunOutcome.WAITING
    assert "suspended by jane" in result.message
    assert {write.rpartition("/")[2] for write in begun_later} == {"shoot-gitops-dev"}, "the record, and the lease"
    ask(fleet, lambda control: control.resumed(None))
    assert outcomes(fleet)[0] is RunOutcome.CONVERGED


def test_many_threads_hear_of_a_suspension(tmp_path: Path) -> None:
    fleet = SandboxFleet(tmp_path, names=("one", *(f"s{number:02}" for number in range(16))))
    requests = Requests()
    at: list[int] = []

    def suspend(request: Request) -> None:
        if request.writes and not at and len(requests.writes) >= 12:
            at.append(0)
            ask(fleet, lambda control: control.suspended(JANE, None))
            at[0] = len(requests.writes)

    requests.after = suspend
    result = fleet.reconcile(requests, listen=timedelta(0)).result

    assert result.outcome is RunOutcome.WAITING
    assert len(objects_written(requests)) <= at[0] + 16, "no thread begins more than the write it had asked for before"


def test_a_shoot_that_is_suspended_during_the_run_is_left_and_the_others_go_on(fleet: Fleet) -> None:
    path = fleet.shoot_path("one")

    def suspend(request: Request) -> None:
        if request.writes and request.path == path:
            ask(fleet, lambda control: control.suspended(JANE, fleet.target("one")))

    result = fleet.reconcile(Requests(after=suspend), listen=timedelta(0)).result

    assert result.outcome is RunOutcome.WAITING
    assert result.waves[0].shoots[0].outcome is ShootOutcome.DEFERRED
    assert {shoot.outcome for shoot in result.waves[1].shoots} == {ShootOutcome.CONVERGED}
    assert not fleet.policies("one")


def test_a_rollback_holds_until_git_moves_on(fleet: Fleet) -> None:
    good = fleet.reconcile().revision
    fleet.repository.policy("default", **balloons("2"))
    bad = fleet.repository.commit("worse")
    fleet.reconcile()
    ask(fleet, lambda control: control.held(Hold(bad, good, "jane", THEN)))

    for trigger in ("command", "schedule", "push"):
        record = fleet.reconcile(trigger=trigger)
        assert (record.revision, record.result.outcome) == (good, RunOutcome.CONVERGED)
        assert fleet.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "1"}

    fleet.repository.policy("default", **balloons("3"))
    better = fleet.repository.commit("better")
    assert fleet.reconcile(trigger="schedule").revision == better
    assert fleet.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "3"}


def test_a_commit_that_declares_the_same_is_not_what_a_rollback_waits_for(sandbox_fleet: SandboxFleet) -> None:
    fleet = sandbox_fleet
    good = fleet.reconcile().revision
    fleet.repository.policy("default", **balloons("2"))
    bad = fleet.repository.commit("worse")
    ask(fleet, lambda control: control.held(Hold(bad, good, "jane", THEN, fleet.composed().content)))

    fleet.repository.write("elsewhere.yaml", {"not": "of this overlay"})
    fleet.repository.commit("somebody else's work")
    assert fleet.reconcile(trigger="push").revision == good
    fleet.repository.git("reset", "--quiet", "--soft", "HEAD~2")
    fleet.repository.commit("the same, written anew")
    assert fleet.reconcile(trigger="push").revision == good
    fleet.repository.git("checkout", "--quiet", "-b", "other")
    assert fleet.reconcile(trigger="push").revision == good

    fleet.repository.overlay["spec"]["gate"]["timeout"] = "61s"
    better = fleet.repository.commit("the overlay itself is another one")
    assert fleet.reconcile(trigger="push").revision == better
    fleet.repository.git("reset", "--quiet", "--hard", bad)
    assert fleet.reconcile(trigger="push").revision == good, "git is back where it was"


def test_what_was_gone_back_to_is_not_rolled_back_by_declaring_the_same(sandbox_fleet: SandboxFleet) -> None:
    good = sandbox_fleet.reconcile().revision
    bad = sandbox_fleet.repository.commit("nothing is changed")
    ask(sandbox_fleet, lambda control: control.held(Hold(bad, good, "jane", THEN, sandbox_fleet.composed().content)))

    assert sandbox_fleet.reconcile().revision == good


def test_a_revision_that_was_rolled_back_is_refused_whoever_asks_for_it(fleet: Fleet) -> None:
    fleet.reconcile()
    desired = fleet.composed()
    ask(fleet, lambda control: control.held(Hold(desired.revision, "1" * 40, "jane", THEN)))

    with fleet.world(Requests()) as world, pytest.raises(Refused, match="which jane rolled back"):
        reconcile(world, desired, trigger="push", pace=Pace(fleet.poll))


def test_no_shoot_is_started_before_its_window_opens(sandbox_fleet: SandboxFleet) -> None:
    now = sandbox_fleet.clock.now()
    opening = (now + timedelta(hours=7)).replace(minute=0, second=0)
    window = {"schedule": f"0 {opening.hour} * * *", "duration": "1h", "zone": "UTC"}
    sandbox_fleet.repository.overlay["spec"]["waves"][1]["windows"] = [window]
    sandbox_fleet.repository.commit()

    outcome, message, shoots = outcomes(sandbox_fleet)
    assert (outcome, shoots["one"], shoots["two"]) == (
        RunOutcome.WAITING,
        ShootOutcome.CONVERGED,
        ShootOutcome.NOT_STARTED,
    )
    assert f"opens at {opening:%Y-%m-%dT%H:%M:%SZ}" in message

    sandbox_fleet.clock.sleep((opening - sandbox_fleet.clock.now()).total_seconds())
    assert outcomes(sandbox_fleet)[0] is RunOutcome.CONVERGED


def test_a_shoot_that_an_interrupted_run_began_in_its_window_is_finished_after_it(sandbox_fleet: SandboxFleet) -> None:
    fleet = sandbox_fleet
    fleet.reconcile()
    opening = (fleet.clock.now() + timedelta(hours=7)).replace(minute=0, second=0)
    fleet.repository.overlay["spec"]["waves"][1] |= {
        "windows": [{"schedule": f"0 {opening.hour} * * *", "duration": "10m", "zone": "UTC"}],
        "maxConcurrent": 1,
    }
    fleet.repository.shoot("two", wave="fleet", purpose="development")
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit()
    fleet.reconcile()
    asked: list[str] = []

    def interrupt(request: Request) -> None:
        if request.writes and request.path in map(fleet.shoot_path, NAMES):
            asked.append(request.path)

    fleet.clock.sleep((opening - fleet.clock.now()).total_seconds())
    with fleet.alive(), fleet.world(Requests(after=interrupt)) as world:
        pace = Pace(fleet.poll, stopping=lambda: "the end" if asked else "")
        reconcile(world, fleet.composed(), trigger="schedule", pace=pace)
    assert fleet.shoot("two")["spec"]["purpose"] == "development"
    assert fleet.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "1"}, "it is half done"

    fleet.clock.sleep(3600)
    fleet.repository.write("elsewhere.yaml", {"not": "of this overlay"})
    fleet.repository.commit("somebody else's work, which ends runs")
    assert outcomes(fleet)[0] is RunOutcome.CONVERGED

    fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"spec": {"reservedResources": {"cpu": "7"}}})
    assert outcomes(fleet)[2]["two"] is ShootOutcome.NOT_STARTED, "it had come to an end"


def test_what_is_asked_is_read_back_as_it_was_written(fleet: Fleet) -> None:
    with_approval(fleet)
    approve(fleet)
    ask(fleet, lambda control: control.suspended(JANE, None).suspended(JANE, fleet.target("two")))
    written = ask(fleet, lambda control: control.held(Hold("1" * 40, "2" * 40, "jane", THEN)))

    with fleet.world(Requests()) as world:
        assert load_control(world.garden, fleet.composed().overlay) == written
