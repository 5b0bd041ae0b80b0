"""Virtual time: a line of things that will happen, and a crew that works on it."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from gitops.rollout.actions import Action, Event
from gitops.rollout.executor import Perform

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
_PATIENCE = 10
"""So often a loop may ask in vain without any time passing: more is a loop that spins."""


class Timeline:
    """A clock that moves from one thing to the next."""

    def __init__(self) -> None:
        self._now = START
        self._coming: list[tuple[datetime, int, Callable[[], None]]] = []
        self._count = 0

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let everything happen that happens within this time."""
        until = self._now + timedelta(seconds=seconds)
        while self.step(until):
            pass

    def patience(self, until: datetime) -> float | None:
        raise NotImplementedError("nobody waits in real time here")

    def after(self, seconds: float, happening: Callable[[], None]) -> None:
        """Let something happen so many seconds from now."""
        self._count += 1
        heapq.heappush(self._coming, (self._now + timedelta(seconds=seconds), self._count, happening))

    def step(self, until: datetime | None) -> bool:
        """Let the next thing happen, or come to that time; whether anything happened."""
        if self._coming and (until is None or self._coming[0][0] <= until):
            self._now, _, happening = heapq.heappop(self._coming)
            happening()
            return True
        if until is not None:
            self._now = max(self._now, until)
        return False


class VirtualCrew:
    """Performs each action a moment after it was started, and answers a moment later."""

    def __init__(self, perform: Perform, timeline: Timeline, latency: Callable[[], float] = lambda: 0.1) -> None:
        self._perform = perform
        self._timeline = timeline
        self._latency = latency
        self._answers: deque[Event] = deque()
        self._under_way = 0
        self._in_vain = 0

    def start(self, action: Action) -> None:
        self._under_way += 1
        self._timeline.after(self._latency(), lambda: self._work(action))

    def next_event(self, until: datetime | None) -> Event | None:
        before = self._timeline.now()
        while not self._answers:
            if not self._timeline.step(until):
                self._in_vain = self._in_vain + 1 if self._timeline.now() == before else 0
                assert until is not None, "an answer is waited for that will never come"
                assert self._in_vain < _PATIENCE, "the loop spins"
                return None
        self._in_vain = 0
        self._under_way -= 1
        return self._answers.popleft()

    @property
    def busy(self) -> bool:
        return self._under_way > 0

    def _work(self, action: Action) -> None:
        event = self._perform(action)
        self._timeline.after(self._latency(), lambda: self._answers.append(event))
