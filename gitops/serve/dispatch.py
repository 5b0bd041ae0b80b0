"""What is due: looks into the repository, and runs of the overlays that are found there.

A push or the schedule asks for a look. A look finds the overlays of the revision that git holds now and asks for a run
of each. So a burst of pushes costs two looks, new overlays appear and removed ones stop by themselves, and nothing
that a webhook says is believed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gitops.desired.cron import Cron
from gitops.serve.interrupt import Interrupt
from gitops.trigger.queue import Backoff, Trigger, Work, WorkQueue
from gitops.trigger.schedule import spread

OVERTAKEN = "a newer commit came; the next run begins with it"
"""Why a run ended that was under way when another commit was found."""
_REPOSITORY = "repository"


@dataclass(frozen=True)
class Timing:
    """When runs are due."""

    schedule: Cron | None = None
    """None where only pushes start runs."""
    jitter: timedelta = timedelta(minutes=1)
    """Overlays run up to so much later than the schedule says, each always at the same time of its own."""
    spacing: timedelta = timedelta(seconds=5)
    """Between two looks into the repository, however many pushes come."""
    backoff: Backoff = field(default_factory=Backoff)
    """After a look or a run that failed."""


@dataclass(frozen=True)
class UnderWay:
    """A run that goes on."""

    overlay: str
    trigger: Trigger
    since: datetime
    head: str
    """The commit that the repository held when the run began; empty while that is being read."""
    interrupt: Interrupt
    looked: str = ""
    """The commit that the last look found since the run began; empty where there was none."""


class Dispatch:
    """Shared by all threads; every method returns at once."""

    def __init__(
        self,
        timing: Timing,
        only: Sequence[str],
        now: datetime,
        *,
        initial_run: bool = True,
        queued: Callable[[str, Trigger | None], None] = lambda *_: None,
    ) -> None:
        """Begin; a first look is due at once.

        Args:
            timing: when runs are due.
            only: the overlays to run; none means all that the repository has.
            now: what time it is.
            initial_run: whether the first look asks for runs.
            queued: told what asked for the run of an overlay that waits, when that changes; None when none waits.
        """
        self._queued = queued
        self._timing = timing
        self._only = tuple(only)
        self._asks = initial_run
        self._found: Sequence[str] = ()
        """Those among the overlays of the last look that are to run."""
        self._lock = threading.Lock()
        self._looks = WorkQueue(timing.backoff, timing.spacing)
        self._runs = WorkQueue(timing.backoff)
        self._going: dict[str, UnderWay] = {}
        self._stopping = False
        self._ticked = False
        """The first runs, of a process that has just begun, need no spreading: its workers are few."""
        self._tick = timing.schedule.next_after(now) if timing.schedule else None
        self._looks.ask(_REPOSITORY, Trigger.SCHEDULE, now)

    def pushed(self, now: datetime) -> None:
        """Somebody says that the repository has changed."""
        with self._lock:
            self._asks = True
            self._looks.ask(_REPOSITORY, Trigger.PUSH, now)

    def take_look(self, now: datetime) -> Work | None:
        """Begin a look, if one is due; the schedule is kept here."""
        with self._lock:
            if self._tick is not None and self._tick <= now:
                self._asks = self._ticked = True
                self._looks.ask(_REPOSITORY, Trigger.SCHEDULE, now)
                self._tick = self._timing.schedule.next_after(now) if self._timing.schedule else None
            return None if self._stopping else self._looks.take(now)

    def looked(self, work: Work, overlays: Sequence[str], head: str, now: datetime) -> Sequence[str]:
        """A look found these overlays at this commit: ask for their runs, and end those of another commit.

        Returns the overlays that are to run and are not there.
        """
        with self._lock:
            self._looks.done(work)
            wanted = self._found = self.wanted(overlays)
            for waiting in self._runs.waiting:
                if waiting.key not in wanted:
                    self._queued(waiting.key, None)
            self._runs.keep_only(wanted)
            late = self._timing.jitter if work.trigger is Trigger.SCHEDULE and self._ticked else timedelta()
            for name in wanted if self._asks else ():
                self._runs.ask(name, work.trigger, now + spread(name, late))
                self._queued(name, work.trigger)
            self._asks = True
            self._going = {name: replace(run, looked=head) for name, run in self._going.items()}
            for run in self._going.values():
                _end_overtaken(run)
            return [name for name in self._only if name not in overlays]

    def wanted(self, overlays: Sequence[str]) -> Sequence[str]:
        """Those among them that are to run."""
        return [name for name in overlays if not self._only or name in self._only]

    @property
    def overlays(self) -> Sequence[str]:
        """Those that are to run, as far as that is known without another look."""
        with self._lock:
            return self._only or self._found

    def look_failed(self, work: Work, now: datetime) -> timedelta:
        """A look found nothing out; returns how long it is until the next."""
        with self._lock:
            return self._looks.failed(work, now)

    def take_run(self, now: datetime) -> tuple[Work, Interrupt] | None:
        """Begin the run of an overlay, if one is due."""
        with self._lock:
            work = None if self._stopping else self._runs.take(now)
            if work is None:
                return None
            self._queued(work.key, None)
            interrupt = Interrupt()
            self._going[work.key] = UnderWay(work.key, work.trigger, now, "", interrupt)
            return work, interrupt

    def found_head(self, work: Work, head: str) -> None:
        """The run reads this commit."""
        with self._lock:
            self._going[work.key] = replace(self._going[work.key], head=head)
            _end_overtaken(self._going[work.key])

    def run_ended(self, work: Work, resumes: datetime | None = None) -> None:
        """A run came to its end, whatever its outcome; at a time that it waits for, another one is due."""
        with self._lock:
            del self._going[work.key]
            self._runs.done(work)
            if resumes is not None:
                self._runs.ask(work.key, Trigger.SCHEDULE, resumes)

    def run_failed(self, work: Work, now: datetime) -> timedelta:
        """A run could not go on; returns how long it is until the next."""
        with self._lock:
            del self._going[work.key]
            self._queued(work.key, work.trigger)
            return self._runs.failed(work, now)

    def stop(self, reason: str) -> None:
        """Begin nothing more, and end what goes on before its next write."""
        with self._lock:
            self._stopping = True
            for run in self._going.values():
                run.interrupt.set(reason)

    def next_look(self) -> datetime | None:
        """When a look may be due if nobody asks before; None when there is no such time."""
        with self._lock:
            return _earliest(self._tick, self._looks.next_due())

    def next_run(self) -> datetime | None:
        """When a run may be due if nobody asks before; None when there is no such time."""
        with self._lock:
            return self._runs.next_due()

    @property
    def going(self) -> tuple[UnderWay, ...]:
        """The runs that go on."""
        with self._lock:
            return tuple(self._going.values())

    def next_scheduled(self, overlay: str) -> datetime | None:
        """When the schedule runs an overlay next; None where there is no schedule."""
        with self._lock:
            return None if self._tick is None else self._tick + spread(overlay, self._timing.jitter)

    @property
    def next_tick(self) -> datetime | None:
        """When the schedule asks next; None where there is none."""
        with self._lock:
            return self._tick


def _end_overtaken(run: UnderWay) -> None:
    """Of two commits that were read at the same time nobody knows the newer; the run that a look asks for does."""
    if run.head and run.looked not in {"", run.head}:
        run.interrupt.set(OVERTAKEN)


def _earliest(*moments: datetime | None) -> datetime | None:
    present: Iterable[datetime] = (moment for moment in moments if moment is not None)
    return min(present, default=None)
