"""Time: virtual for tests, scaled for people. Nothing in the sandbox reads any other clock.

A clock also keeps the agenda: what the pretend gardenlet and agents will do, and when.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

Action = Callable[[], None]


class Clock(Protocol):
    """What the landscape needs of time."""

    def now(self) -> datetime:
        """Return the landscape's time, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Let landscape seconds pass."""

    def call_later(self, seconds: float, action: Action) -> None:
        """Run an action once that many landscape seconds have passed."""


def stamp(moment: datetime) -> str:
    """Return a time as the API spells it: RFC 3339 in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class _Agenda:
    """Actions by due time; those of one moment keep their order."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, int, Action]] = []
        self._counter = itertools.count()
        self.lock = threading.RLock()

    def add(self, due: datetime, action: Action) -> None:
        with self.lock:
            heapq.heappush(self._heap, (due, next(self._counter), action))

    def next_due(self) -> datetime | None:
        with self.lock:
            return self._heap[0][0] if self._heap else None

    def pop_due(self, now: datetime) -> Action | None:
        with self.lock:
            return heapq.heappop(self._heap)[2] if self._heap and self._heap[0][0] <= now else None


class VirtualClock:
    """A clock that stands still until it is moved; actions run in the moving thread."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self._now = start
        self._agenda = _Agenda()
        self._moving = threading.RLock()

    def now(self) -> datetime:
        """Return the virtual time."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Advance."""
        self.advance(seconds)

    def call_later(self, seconds: float, action: Action) -> None:
        """Put an action on the agenda; it runs when the clock is advanced past it."""
        self._agenda.add(self._now + timedelta(seconds=seconds), action)

    def advance(self, seconds: float) -> None:
        """Move on, stopping at every action on the way at its own time."""
        with self._moving:
            end = self._now + timedelta(seconds=seconds)
            while True:
                due = self._agenda.next_due()
                if due is None or due > end:
                    break
                self._now = max(self._now, due)
                action = self._agenda.pop_due(self._now)
                if action is not None:
                    action()
            self._now = max(self._now, end)


class ScaledClock:
    """Real time, times a factor: with scale 60 a minute takes a second. A thread runs the agenda."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._start = datetime.now(UTC)
        self._origin = time.monotonic()
        self._agenda = _Agenda()
        self._wake = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="sandbox-agenda", daemon=True)
        self._thread.start()

    def now(self) -> datetime:
        """Return the scaled time."""
        return self._start + timedelta(seconds=(time.monotonic() - self._origin) * self._scale)

    def sleep(self, seconds: float) -> None:
        """Sleep real seconds: the landscape's divided by the scale."""
        time.sleep(seconds / self._scale)

    def call_later(self, seconds: float, action: Action) -> None:
        """Put an action on the agenda; the clock's own thread runs it."""
        self._agenda.add(self.now() + timedelta(seconds=seconds), action)
        with self._wake:
            self._wake.notify()

    def stop(self) -> None:
        """End the agenda's thread."""
        self._stopped = True
        with self._wake:
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            action = self._agenda.pop_due(self.now())
            if action is not None:
                action()
                continue
            with self._wake:
                due = self._agenda.next_due()
                seconds = None if due is None else (due - self.now()).total_seconds() / self._scale
                if seconds is None or seconds > 0:
                    self._wake.wait(seconds)
