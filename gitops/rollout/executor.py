"""Runs a rollout: a thin loop around the state machine, and the threads that do its work."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from gitops.clock import Clock
from gitops.rollout.actions import Action, Event
from gitops.rollout.rollout import Result, Rollout, RunOutcome

INTERRUPTED = "interrupted; the next run goes on from here"
"""Why a run ended that somebody interrupted."""
DEADLINE = "the deadline of this run has come; the next run goes on from here"
"""Why a run ended that took too long."""

Perform = Callable[[Action], Event]
"""Does one action; may be called from any thread."""


class Crew(Protocol):
    """Whoever does the work while the loop waits."""

    def start(self, action: Action) -> None:
        """Begin an action."""

    def next_event(self, until: datetime | None) -> Event | None:
        """The next answer, or None when that time has come; None as a time waits for an answer only."""

    @property
    def busy(self) -> bool:
        """Whether any action is still to be answered."""


def carry_out(
    rollout: Rollout,
    crew: Crew,
    clock: Clock,
    *,
    deadline: datetime | None = None,
    on_change: Callable[[Rollout], None] = lambda _: None,
    stopping: Callable[[], str] = lambda: "",
) -> Result:
    """Run to the end, or to where the run must wait.

    A KeyboardInterrupt ends the run cleanly: what is under way is waited for, nothing more is written. A second one
    ends it at once. Threads other than the main one hear no such thing; they are asked by `stopping`.

    Args:
        rollout: what to do.
        crew: who does it.
        clock: what time it is.
        deadline: when to end in any case.
        on_change: called in every turn, when its actions have begun, and at the end; to show progress.
        stopping: asked in every turn, before anything begins; a reason ends the run as an interrupt does.
    """
    while not rollout.over and (rollout.ending is None or crew.busy):
        try:
            if reason := stopping():
                rollout.stop(RunOutcome.WAITING, reason)
            _turn(rollout, crew, clock, deadline, on_change)
        except KeyboardInterrupt:
            if rollout.ending is not None:
                raise
            rollout.stop(RunOutcome.WAITING, INTERRUPTED)
            on_change(rollout)
    on_change(rollout)
    return rollout.result()


def _turn(
    rollout: Rollout, crew: Crew, clock: Clock, deadline: datetime | None, on_change: Callable[[Rollout], None]
) -> None:
    with undisturbed():
        until = _begin(rollout, crew, clock.now(), deadline)
        on_change(rollout)
    event = None if rollout.over else crew.next_event(until)
    if event is not None:
        with undisturbed():
            rollout.handle(event, clock.now())


def _begin(rollout: Rollout, crew: Crew, now: datetime, deadline: datetime | None) -> datetime | None:
    """Start what is to be done now; until when to wait for answers."""
    if deadline is not None and now >= deadline:
        rollout.stop(RunOutcome.WAITING, DEADLINE)
    for action in rollout.actions(now):
        crew.start(action)
    times = [] if rollout.ending else [time for time in (rollout.wake_at(), deadline) if time is not None]
    if not times and not crew.busy and not rollout.over:
        raise RuntimeError("the rollout waits for nothing")
    return min(times, default=None)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hear Ctrl-C when the block is done and not in its midst, so that no answer is half noted or lost.

    Only the main thread hears it at all.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    for number in heard[:1]:
        signal.raise_signal(number)


class ThreadCrew:
    """A pool of threads. To be used as a context manager, which waits for what is under way unless it fails."""

    def __init__(self, perform: Perform, clock: Clock, *, threads: int) -> None:
        self._perform = perform
        self._clock = clock
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="rollout")
        self._done: queue.SimpleQueue[Future[Event]] = queue.SimpleQueue()
        self._under_way = 0

    def start(self, action: Action) -> None:
        """Begin an action."""
        self._under_way += 1
        self._pool.submit(self._perform, action).add_done_callback(self._done.put)

    def next_event(self, until: datetime | None) -> Event | None:
        """The next answer, or None when that time has come."""
        if until is not None and not self._under_way:
            self._clock.sleep(max((until - self._clock.now()).total_seconds(), 0))
            return None
        timeout = None if until is None else self._clock.patience(until)
        try:
            future = self._done.get(timeout=timeout)
        except queue.Empty:
            return None
        self._under_way -= 1
        return future.result()

    @property
    def busy(self) -> bool:
        """Whether any action is still to be answered."""
        return self._under_way > 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
