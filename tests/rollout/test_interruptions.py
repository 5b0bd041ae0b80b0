"""A run that ends before its work does: killed, interrupted, out of time. The next one goes on from there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest

from gitops.manifest import Target
from gitops.rollout.actions import Action, Event
from gitops.rollout.executor import INTERRUPTED, carry_out
from gitops.rollout.rollout import Rollout, RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from tests.plan.fleet import core, overlay, policy, wave
from tests.rollout.runs import Run, at_once, done, fleet, run, target, world_of, written
from tests.rollout.toy_world import Record, ToyWorld
from tests.rollout.virtual_time import START, VirtualCrew


class Killed(BaseException):
    """The process is gone."""


def three_waves() -> ToyWorld:
    by = overlay(wave("canary"), wave("early", max_concurrent=at_once(2)), wave("late"))
    return world_of(fleet({"canary": 1, "early": 2, "late": 1}, by, core("ConfigMap", "c"), policy("default")))


def in_order(world: ToyWorld) -> Callable[[Record], None]:
    """Checks before a write that all shoots of earlier waves are well."""
    order = {shoot.target: ["canary", "early", "late"].index(shoot.wave) for shoot in world.desired.shoots.values()}

    def check(record: Record) -> None:
        earlier = [name for name, place in order.items() if place < order[record.target]]
        assert all(done(world, name) for name in earlier), record

    return check


def killed_at(world: ToyWorld, number: int, moment: str) -> Callable[[Record], None]:
    """Ends the process at the write of this number: before it is done, or before its answer comes."""
    check, numbers = in_order(world), count()

    def die() -> None:
        raise Killed

    def on_write(record: Record) -> None:
        check(record)
        if next(numbers) == number:
            if moment == "write":
                die()
            world.time.after(0, die)

    return on_write


def all_writes() -> int:
    world = three_waves()
    run(world)
    return len(world.writes)


WRITES = all_writes()


@pytest.mark.parametrize("moment", ["write", "answer"])
@pytest.mark.parametrize("number", range(WRITES))
def test_a_run_that_is_killed_at_any_write_is_finished_by_the_next(number: int, moment: str) -> None:
    whole, world = three_waves(), three_waves()
    run(whole)
    world.on_write = killed_at(world, number, moment)
    with pytest.raises(Killed):
        run(world)
    world.on_write = in_order(world)
    world.time.sleep(40)

    result = run(world)

    assert result.outcome is RunOutcome.CONVERGED
    assert all(done(world, name) for name in world.desired.shoots)
    assert contents(world) == contents(whole)
    assert sorted(written(world)) == sorted(written(whole)), "nothing is written twice"
    assert run(world).writes == 0


def contents(world: ToyWorld) -> dict[Target, object]:
    """What is declared, as it is in the end; without what depends on how often it was written."""
    return {
        name: (shoot["spec"], {ref: (m.get("spec"), m["metadata"]["labels"]) for ref, m in world.insides[name].items()})
        for name, shoot in world.shoots.items()
    }


def test_a_run_that_is_out_of_time_waits_and_says_so() -> None:
    world = three_waves()

    result = run(world, deadline=timedelta(seconds=20))

    assert result.outcome is RunOutcome.WAITING
    assert "deadline" in result.message
    assert [w.outcome for w in result.waves] == [WaveOutcome.WAITING, WaveOutcome.NOT_STARTED, WaveOutcome.NOT_STARTED]
    assert result.waves[0].shoots[0].outcome is ShootOutcome.WAITING
    assert result.waves[0].shoots[0].writes == 1
    assert world.time.now() - START < timedelta(seconds=22)
    assert run(world).outcome is RunOutcome.CONVERGED


def test_what_is_under_way_at_the_deadline_is_waited_for() -> None:
    world = three_waves()

    result = run(world, deadline=timedelta(seconds=3), latency=lambda: 2.0)

    assert result.outcome is RunOutcome.WAITING
    assert result.writes == 1, "the write that was under way is counted"
    assert world.time.now() - START == timedelta(seconds=4)


def test_a_deadline_that_has_passed_lets_nothing_begin() -> None:
    world = three_waves()

    result = run(world, deadline=timedelta(0))

    assert (result.outcome, result.writes, world.writes) == (RunOutcome.WAITING, 0, [])


class InterruptedCrew(VirtualCrew):
    """Somebody presses Ctrl-C at certain calls of the loop."""

    def __init__(self, world: ToyWorld, *, at_starts: set[int], at_waits: set[int]) -> None:
        super().__init__(world.perform, world.time)
        self._at = {"start": at_starts, "wait": at_waits}
        self._calls = {"start": 0, "wait": 0}

    def start(self, action: Action) -> None:
        self._press("start")
        super().start(action)

    def next_event(self, until: object) -> Event | None:
        self._press("wait")
        return super().next_event(until)  # type: ignore[arg-type]

    def _press(self, call: str) -> None:
        self._calls[call] += 1
        if self._calls[call] in self._at[call]:
            raise KeyboardInterrupt


@pytest.mark.parametrize("number", range(1, 25))
@pytest.mark.parametrize("call", ["start", "wait"])
def test_an_interrupted_run_ends_cleanly_whenever_it_is_interrupted(call: str, number: int) -> None:
    world = three_waves()
    crew = InterruptedCrew(
        world, at_starts={number} if call == "start" else set(), at_waits={number} if call == "wait" else set()
    )

    result = carry_out(Run(world).start(), crew, world.time)

    assert (result.outcome, result.message) == (RunOutcome.WAITING, INTERRUPTED)
    assert not crew.busy
    world.time.sleep(60)
    assert run(world).outcome is RunOutcome.CONVERGED


def test_an_interrupted_run_waits_for_what_is_under_way_and_writes_nothing_more() -> None:
    world = world_of(fleet({"all": 3}, overlay(wave("all", max_concurrent=at_once(3)))))
    crew = InterruptedCrew(world, at_starts=set(), at_waits={1})

    result = carry_out(Run(world).start(), crew, world.time)

    assert result.writes == len(world.writes) == 3
    assert [shoot.outcome for shoot in result.waves[0].shoots] == [ShootOutcome.WAITING] * 3


@pytest.mark.parametrize("turn", range(1, 20))
def test_a_run_in_a_thread_is_ended_cleanly_whenever_it_is_asked_to_end(turn: int) -> None:
    world, turns = three_waves(), count(1)
    crew = VirtualCrew(world.perform, world.time)
    written_before: list[int] = []

    def stopping() -> str:
        if next(turns) < turn:
            return ""
        written_before.append(len(world.writes))
        return "the process ends"

    result = carry_out(Run(world).start(), crew, world.time, stopping=stopping)

    assert (result.outcome, result.message) == (RunOutcome.WAITING, "the process ends")
    assert not crew.busy
    assert len(world.writes) - written_before[0] <= 1, "only what was under way"
    assert result.writes == len(world.writes)
    world.time.sleep(60)
    assert run(world).outcome is RunOutcome.CONVERGED


def test_a_second_interrupt_ends_at_once() -> None:
    world = three_waves()
    crew = InterruptedCrew(world, at_starts=set(), at_waits={1, 2})

    with pytest.raises(KeyboardInterrupt):
        carry_out(Run(world).start(), crew, world.time)

    assert crew.busy


def test_the_first_reason_to_end_is_the_one_that_counts() -> None:
    rollout = Run(three_waves()).start()

    rollout.stop(RunOutcome.FAILED, "first")
    rollout.stop(RunOutcome.WAITING, "second")

    assert rollout.over
    assert (rollout.result().outcome, rollout.result().message) == (RunOutcome.FAILED, "first")
    assert rollout.actions(START) == []


def test_a_run_that_has_not_ended_says_so() -> None:
    result = Run(three_waves()).start().result()

    assert (result.outcome, result.message) == (RunOutcome.WAITING, "the run is still going on")


def test_progress_is_told_after_every_event() -> None:
    world = world_of(fleet({"all": 1}))
    seen: list[str] = []

    def watch(rollout: Rollout) -> None:
        seen.append(rollout.tracks[target(0)].phase.value)

    run(world, watch=watch)

    assert "waiting" in seen
    assert seen[-1] == "settled"


def test_a_rollout_that_waits_for_nothing_is_a_bug_and_says_so() -> None:
    world = three_waves()

    class Lost(VirtualCrew):
        def start(self, action: Action) -> None:
            """Nobody does it."""

    with pytest.raises(RuntimeError, match=r"waits for nothing"):
        carry_out(Run(world).start(), Lost(world.perform, world.time), world.time)
