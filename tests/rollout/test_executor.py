"""The threads that do a rollout's work."""

from __future__ import annotations

import signal
import threading
from datetime import datetime, timedelta

import pytest

from gitops.clock import SystemClock
from gitops.rollout.actions import Action, Event, ObserveShoots, ShootsObserved
from gitops.rollout.executor import ThreadCrew, undisturbed
from tests.rollout.virtual_time import START
from tests.waiting import PATIENCE

ACTION = ObserveShoots(("garden-local/one",))
ANSWER = ShootsObserved({"garden-local/one": None}, START)


class StillClock:
    """A clock that stands still while others work, and notes for how long the loop wanted to sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> datetime:
        return START

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def patience(self, until: datetime) -> float | None:
        return 0.01 if until <= START else None


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


def test_an_action_is_answered_by_its_event(clock: StillClock) -> None:
    with ThreadCrew(lambda _: ANSWER, clock, threads=1) as crew:
        crew.start(ACTION)
        busy = crew.busy

        assert crew.next_event(None) is ANSWER
        assert (busy, crew.busy) == (True, False)


def test_as_many_actions_are_under_way_as_there_are_threads(clock: StillClock) -> None:
    together = threading.Barrier(3, timeout=PATIENCE)

    def perform(_: Action) -> Event:
        together.wait()
        return ANSWER

    with ThreadCrew(perform, clock, threads=3) as crew:
        for _ in range(3):
            crew.start(ACTION)

        assert [crew.next_event(None) for _ in range(3)] == [ANSWER] * 3


def test_without_work_under_way_the_clock_sleeps_until_then(clock: StillClock) -> None:
    with ThreadCrew(lambda _: ANSWER, clock, threads=1) as crew:
        assert crew.next_event(START + timedelta(seconds=7)) is None
        assert crew.next_event(START - timedelta(seconds=7)) is None

    assert clock.slept == [7, 0]


def test_an_answer_is_waited_for_no_longer_than_until_then(clock: StillClock) -> None:
    released = threading.Event()

    def perform(_: Action) -> Event:
        released.wait(PATIENCE)
        return ANSWER

    with ThreadCrew(perform, clock, threads=1) as crew:
        crew.start(ACTION)
        assert crew.next_event(START) is None
        assert crew.busy

        released.set()
        assert crew.next_event(START + timedelta(seconds=1)) is ANSWER


def test_what_is_no_event_but_a_bug_reaches_the_loop(clock: StillClock) -> None:
    def perform(_: Action) -> Event:
        raise ZeroDivisionError

    with ThreadCrew(perform, clock, threads=1) as crew:
        crew.start(ACTION)
        with pytest.raises(ZeroDivisionError):
            crew.next_event(None)


def test_leaving_waits_for_what_is_under_way_and_begins_nothing_more() -> None:
    begun: list[Action] = []
    may_end = threading.Event()

    def perform(action: Action) -> Event:
        begun.append(action)
        may_end.wait(PATIENCE)
        return ANSWER

    with ThreadCrew(perform, SystemClock(), threads=1) as crew:
        crew.start(ACTION)
        crew.start(ACTION)
        may_end.set()
        crew.next_event(None)

    assert 1 <= len(begun) <= 2


def test_an_error_in_the_loop_does_not_wait_for_what_is_under_way() -> None:
    may_end = threading.Event()

    def perform(_: Action) -> Event:
        may_end.wait(PATIENCE)
        return ANSWER

    def loop() -> None:
        with ThreadCrew(perform, SystemClock(), threads=1) as crew:
            crew.start(ACTION)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop()
    may_end.set()


def test_an_interrupt_is_heard_when_a_block_is_done() -> None:
    reached: list[str] = []

    def block() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            reached.append("the end")

    with pytest.raises(KeyboardInterrupt):
        block()

    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_a_block_leaves_the_interrupt_as_it_was() -> None:
    with pytest.raises(ZeroDivisionError), undisturbed():
        raise ZeroDivisionError

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_hear_no_interrupt_and_change_nothing() -> None:
    reached: list[str] = []

    def block() -> None:
        with undisturbed():
            reached.append(threading.current_thread().name)

    thread = threading.Thread(target=block, name="another")
    thread.start()
    thread.join()

    assert reached == ["another"]
