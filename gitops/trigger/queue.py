"""A coalescing work queue, keyed; what controller-runtime's workqueue means by it.

Of one key at most one piece of work is under way and one more waits, however often it is asked for. Who asks while it
is under way gets a run that begins after it has ended, and so sees whatever they saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum


class Trigger(IntEnum):
    """What asked for a run; of several the greatest gives it its name."""

    SCHEDULE = 0
    PUSH = 1

    @property
    def word(self) -> str:
        """As records have it."""
        return self.name.lower()


@dataclass(frozen=True)
class Work:
    """One piece of work."""

    key: str
    trigger: Trigger
    due: datetime
    """When it may begin."""


@dataclass(frozen=True)
class Backoff:
    """How long to wait after failures."""

    first: timedelta = timedelta(seconds=5)
    """After the first; each further wait is twice the one before."""
    longest: timedelta = timedelta(minutes=5)
    jitter: Callable[[], float] = lambda: 1.0
    """A number between 0 and 1: that part of the upper half of the wait is taken."""

    def after(self, failures: int) -> timedelta:
        """The wait after so many failures in a row."""
        doublings = min(failures - 1, 30)  # any more would overflow, and are past the longest anyway
        bound = min(self.longest, self.first * (1 << doublings))
        return bound * (0.5 + self.jitter() / 2)


class WorkQueue:
    """What waits, what is under way, and how often it failed. Not for several threads at once."""

    def __init__(self, backoff: Backoff | None = None, spacing: timedelta = timedelta()) -> None:
        """An empty queue.

        Args:
            backoff: after failures.
            spacing: the shortest time between two beginnings of one key.
        """
        self._backoff = backoff or Backoff()
        self._spacing = spacing
        self._waiting: dict[str, Work] = {}
        self._under_way: dict[str, Work] = {}
        self._begun: dict[str, datetime] = {}
        self._failures: dict[str, int] = {}

    def ask(self, key: str, trigger: Trigger, due: datetime) -> None:
        """Want a key worked on, from that time on. What waits already comes no later for it, and no second time."""
        if (begun := self._begun.get(key)) is not None:
            due = max(due, begun + self._spacing)
        before = self._waiting.get(key)
        if before is not None:
            trigger, due = max(trigger, before.trigger), min(due, before.due)
        self._waiting[key] = Work(key, trigger, due)

    def take(self, now: datetime) -> Work | None:
        """Begin what has been due longest and is not under way; None when there is nothing."""
        ready = [work for work in self._waiting.values() if work.due <= now and work.key not in self._under_way]
        if not ready:
            return None
        work = min(ready, key=lambda work: (work.due, work.key))
        self._under_way[work.key] = self._waiting.pop(work.key)
        self._begun[work.key] = now
        return work

    def done(self, work: Work) -> None:
        """It went well, so it starts over with its waits after failures."""
        del self._under_way[work.key]
        self._failures.pop(work.key, None)

    def failed(self, work: Work, now: datetime) -> timedelta:
        """It did not: it is asked for again after a while, which is returned."""
        del self._under_way[work.key]
        self._failures[work.key] = failures = self._failures.get(work.key, 0) + 1
        wait = self._backoff.after(failures)
        self.ask(work.key, work.trigger, now + wait)
        return wait

    def keep_only(self, keys: Iterable[str]) -> None:
        """Forget every other key; what of them is under way ends by itself."""
        kept = set(keys)
        self._waiting = {key: work for key, work in self._waiting.items() if key in kept}
        self._begun = {key: time for key, time in self._begun.items() if key in kept}
        self._failures = {key: count for key, count in self._failures.items() if key in kept}

    def next_due(self) -> datetime | None:
        """When something that waits and is not under way may begin; None when nothing does."""
        return min((work.due for key, work in self._waiting.items() if key not in self._under_way), default=None)

    @property
    def under_way(self) -> tuple[Work, ...]:
        """What has begun and not ended."""
        return tuple(self._under_way.values())

    @property
    def waiting(self) -> tuple[Work, ...]:
        """What is asked for and has not begun."""
        return tuple(self._waiting.values())
