"""Shoots that wait for people or for the time, on virtual time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gitops.control.control import NOTHING_ASKED, Approval, Control, Suspension
from gitops.desired.cron import Cron
from gitops.desired.overlay import ApprovalRule
from gitops.desired.windows import Window, parse_window
from gitops.errors import Suspended
from gitops.gardener.maintenance_window import DailyWindow
from gitops.plan.planning import Prune
from gitops.rollout.admission import HORIZON, next_opening
from gitops.rollout.executor import carry_out
from gitops.rollout.rollout import Result, Rollout, RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.rollout.wave import Rules
from tests.plan.fleet import overlay, wave
from tests.rollout.runs import POLL, at_once, fleet, outcome, run, target, world_of
from tests.rollout.toy_world import ToyWorld
from tests.rollout.virtual_time import START, VirtualCrew

JANE = Suspension("jane", datetime(2026, 11, 30, 10, tzinfo=UTC), "disks are failing")


def run_with(world: ToyWorld, control: Control = NOTHING_ASKED, digest: str = "sha256:1") -> Result:
    rules = Rules(world.desired.overlay, Prune.ALLOWED, POLL, control, revision="1" * 40, digest=digest)
    rollout = Rollout(world.desired, world.observe(), rules, world.time.now())
    return carry_out(rollout, VirtualCrew(world.perform, world.time), world.time)


def waves(**last: Any) -> ToyWorld:
    """A canary, then a wave of three as it is asked for, then one more."""
    by = overlay(wave("canary"), wave("fleet", max_concurrent=at_once(3), **last), wave("late"))
    return world_of(fleet({"canary": 1, "fleet": 3, "late": 1}, by))


def opening_in(hours: int, minutes: int = 60) -> Window:
    opening = START + timedelta(hours=hours)
    return Window(Cron(f"{opening.minute} {opening.hour} * * *", ZoneInfo("UTC")), timedelta(minutes=minutes))


def test_nobody_is_started_while_the_window_is_closed() -> None:
    world = waves(windows=(opening_in(3),))

    result = run_with(world)

    assert result.outcome is RunOutcome.WAITING
    assert f"opens at {START + timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}" in result.message
    assert [wave.outcome for wave in result.waves] == [
        WaveOutcome.PASSED,
        WaveOutcome.WAITING,
        WaveOutcome.NOT_STARTED,
    ]
    assert {shoot.outcome for shoot in result.waves[1].shoots} == {ShootOutcome.NOT_STARTED}
    assert {record.target for record in world.writes} == {target(0)}


def test_a_shoot_that_was_started_in_time_is_not_left_half_done() -> None:
    world = world_of(fleet({"all": 2}, overlay(wave("all", windows=(opening_in(24, 1),)))))
    world.temper(target(0)).takes = 90

    result = run_with(world)

    assert outcome(result, 0)[0] is ShootOutcome.CONVERGED
    assert outcome(result, 1)[0] is ShootOutcome.NOT_STARTED
    assert result.outcome is RunOutcome.WAITING


def test_a_wave_that_has_nothing_to_write_waits_for_no_window() -> None:
    world = waves()
    run(world)
    closed = replace(world.desired.overlay.waves[1], windows=(opening_in(12),), approval=ApprovalRule.REQUIRED)
    by = world.desired.overlay
    world.desired = replace(world.desired, overlay=replace(by, waves=(by.waves[0], closed, by.waves[2])))

    assert run_with(world).outcome is RunOutcome.CONVERGED


def test_a_wave_without_approval_names_the_command() -> None:
    world = world_of(fleet({"all": 5}, overlay(wave("all", approval=ApprovalRule.REQUIRED))))

    result = run_with(world, digest="sha256:abc")

    assert (result.outcome, world.writes) == (RunOutcome.WAITING, [])
    assert "`gitops approve dev --digest sha256:abc`" in result.message
    assert "s0002 and 2 more" in result.message
    assert outcome(result, 4) == (ShootOutcome.NOT_STARTED, "waits for approval")


def test_the_digest_is_not_told_when_something_was_written_since() -> None:
    result = run_with(waves(approval=ApprovalRule.REQUIRED), digest="sha256:abc")

    assert "sha256:abc" not in result.message
    assert "`gitops plan dev` shows" in result.message


def test_an_approval_of_something_else_says_whose_it_was() -> None:
    world = world_of(fleet({"all": 1}, overlay(wave("all", approval=ApprovalRule.REQUIRED))))
    other = Approval("jane", START, "2" * 40, "sha256:2", {target(0): frozenset({"0" * 32})})

    result = run_with(world, Control(approvals=(other,)))

    assert "differs from what jane approved" in outcome(result)[1]


def test_the_wave_goes_on_with_those_that_are_not_held() -> None:
    world = waves()

    result = run_with(world, Control(shoots={target(2): JANE}))

    found = [shoot.outcome for wave in result.waves for shoot in wave.shoots]
    done = ShootOutcome.CONVERGED
    assert found == [done, done, ShootOutcome.DEFERRED, done, done]
    assert result.outcome is RunOutcome.WAITING
    assert "suspended by jane since 2026-11-30T10:00:00Z: disks are failing" in result.message


def test_a_suspended_shoot_that_fails_stops_nothing() -> None:
    world = waves()
    world.shoots[target(0)]["status"]["lastOperation"]["state"] = "Failed"

    assert outcome(run_with(world, Control(shoots={target(0): JANE})))[0] is ShootOutcome.DEFERRED


def test_failures_that_the_wave_allows_are_told_with_what_it_waits_for() -> None:
    by = overlay(wave("all", max_failures=1, max_concurrent=at_once(2), windows=(opening_in(24, 1),)))
    world = world_of(fleet({"all": 3}, by))
    world.temper(target(0)).ends = "Failed"
    world.temper(target(0)).takes = world.temper(target(1)).takes = 90

    result = run_with(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "opens at" in result.message


@pytest.mark.parametrize("number", range(6))
def test_a_suspension_at_any_write_ends_the_run_with_nothing_written_after(number: int) -> None:
    world = waves()
    asked = 0

    def fault(kind: str, _: str) -> Any:
        nonlocal asked
        if kind in {"list shoots", "look inside"}:
            return ""
        asked += 1
        return Suspended(f"the overlay is suspended {JANE}", shoot=None) if asked > number else ""

    world.faults = fault
    result = run_with(world)

    assert result.outcome is RunOutcome.WAITING
    assert result.message == f"the overlay is suspended {JANE}"
    assert len(world.writes) == number


WINDOWS = (parse_window("0 22 * * 1-5", timedelta(hours=4), "Europe/Berlin"),)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("begin", "minutes", "now", "opens"),
    [
        (22, 60, "2026-06-06T12:00Z", "2026-06-08T22:00Z"),
        (19, 120, "2026-06-06T12:00Z", "2026-06-08T20:00Z"),
        (22, 60, "2026-06-08T22:30Z", "2026-06-08T22:30Z"),
        (23, 180, "2026-06-08T12:00Z", "2026-06-08T23:00Z"),
        (0, 10, "2026-11-27T12:00Z", "2026-11-28T00:00Z"),
    ],
    ids=["after-the-weekend", "the-wave-opens-later", "both-open-now", "the-shoot-opens-later", "after-midnight"],
)
def test_a_confined_shoot_is_started_when_both_windows_are_open(begin: int, minutes: int, now: str, opens: str) -> None:
    own = DailyWindow(timedelta(hours=begin), timedelta(minutes=minutes))

    assert next_opening(WINDOWS, own, at(now)) == at(opens)


def test_windows_that_meet_only_in_winter_meet() -> None:
    own = DailyWindow(timedelta(0), timedelta(minutes=10))

    opens = next_opening(WINDOWS, own, at("2026-06-08T12:00Z"))

    assert opens == at("2026-10-27T00:00Z"), "in summer the wave's ends at 00:00 UTC, in winter at 01:00"


def test_windows_that_never_meet_are_a_problem_that_is_told() -> None:
    own = DailyWindow(timedelta(hours=12), timedelta(minutes=60))

    assert next_opening(WINDOWS, own, at("2026-06-08T12:00Z")) is None
    assert timedelta(days=365) <= HORIZON
    world = waves(windows=(opening_in(6, 10),))
    begin = (START + timedelta(hours=1)).strftime("%H%M%S+0000")
    end = (START + timedelta(hours=2)).strftime("%H%M%S+0000")
    maintenance = {"confineSpecUpdateRollout": True, "timeWindow": {"begin": begin, "end": end}}
    world.shoots[target(2)]["spec"]["maintenance"] = maintenance

    result = run_with(world)

    assert "within a year they are never open together" in outcome(result, 2)[1]
    assert f"{target(2)} are never open together" in result.message
