"""A day in the life of the process on virtual time: pushes, the schedule, and everything that goes wrong meanwhile."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from gitops.cli.sandbox import PacedClock
from gitops.clock import Clock
from gitops.control.revision import Chosen, choose_revision
from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError
from gitops.observer import Observer, Observers, Run
from gitops.record.record import Record
from gitops.rollout.rollout import Rollout
from gitops.serve.board import Board
from gitops.serve.dispatch import Dispatch, Timing
from gitops.serve.display import Display
from gitops.serve.health import Health
from gitops.serve.last import LastRuns
from gitops.serve.logs import LogObserver
from gitops.serve.metrics import Metrics
from gitops.serve.runner import Runner
from gitops.source.repository import open_artifact
from gitops.trigger.schedule import read_schedule
from gitops.world import World
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet


class EventfulClock(PacedClock):
    """The landscape's clock, on which things happen while others sleep."""

    def __init__(self, clock: PacedClock) -> None:
        super().__init__(float("inf"))
        self.landscape = clock.landscape
        self._coming: list[tuple[datetime, int, Callable[[], None]]] = []
        self._count = itertools.count()

    def at(self, moment: datetime, happening: Callable[[], None]) -> None:
        heapq.heappush(self._coming, (moment, next(self._count), happening))

    def sleep(self, seconds: float) -> None:
        until = self.now() + timedelta(seconds=seconds)
        while self._coming and self._coming[0][0] <= until:
            moment, _, happening = heapq.heappop(self._coming)
            super().sleep(max((moment - self.now()).total_seconds(), 0))
            happening()
        super().sleep(max((until - self.now()).total_seconds(), 0))


class Told(Observer):
    """How runs went."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.triggers: Counter[str] = Counter()
        self.writes = 0
        self.ended_records: deque[Record] = deque(maxlen=4)
        self.moving: Callable[[Run, Rollout], None] | None = None
        """Called in every turn of every rollout."""

    def moved(self, run: Run, rollout: Rollout) -> None:
        if self.moving is not None:
            self.moving(run, rollout)

    def ended(self, run: Run, record: Record) -> None:
        self.ended_records.append(record)
        self.outcomes[record.result.outcome.value] += 1
        self.triggers[run.trigger] += 1
        self.writes += record.result.writes

    def failed(self, run: Run, error: GitopsError) -> None:
        del run
        self.outcomes[type(error).__name__] += 1


class Living:
    """The core of the process around a fleet in the sandbox, without threads of its own."""

    def __init__(self, fleet: SandboxFleet, *, cron: str | None = None, timing: Timing | None = None) -> None:
        self.fleet = fleet
        self.clock = EventfulClock(fleet.clock)
        fleet.clock = self.clock
        self.requests = Requests()
        self.told = Told()
        schedule = read_schedule(cron, "UTC") if cron else None
        self.health = Health(lambda: 0.0)
        self.last = LastRuns()
        self.board = Board(self.clock)
        display = Display(self.board, Metrics(self.clock), self.last)
        self.dispatch = Dispatch(timing or Timing(schedule), (), self.clock.now(), queued=display.queued)
        self.runner = Runner(
            self.dispatch,
            lambda: open_artifact(str(fleet.repository.path), "main", cache=fleet.repository.path),
            self._world,
            self.clock,
            self.health,
            display,
            self._chosen,
            Observers(self.told, LogObserver()),
            poll=timedelta(seconds=5),
        )

    @contextmanager
    def _world(self, desired: Desired, clock: Clock) -> Iterator[World]:
        """Requests are counted and not kept: a day has too many of them."""
        del desired, clock
        with self.fleet.world(Requests()) as world:
            yield world

    def _chosen(self, world: World, desired: Desired) -> Chosen:
        return choose_revision(world.garden, desired, self._composed_at)

    def _composed_at(self, revision: str) -> Desired:
        path = self.fleet.repository.path
        with open_artifact(str(path), revision, cache=path) as artifact:
            return compose_whole(artifact, "dev", self.clock.now())

    def pushed(self) -> None:
        self.dispatch.pushed(self.clock.now())

    def live_until(self, end: datetime, *, runs: bool = True) -> None:
        """Look, run and sleep, as the threads of the process do; or only look, as one that is in a run may."""
        while self.clock.now() < end:
            if self.runner.look() or (runs and self.runner.run()):
                continue
            due = [moment for moment in (self.dispatch.next_look(), self.dispatch.next_run()) if moment is not None]
            pause = min([*due, end], default=end) - self.clock.now()
            self.clock.sleep(min(max(pause.total_seconds(), 0.1), 60))

    def live(self, **duration: float) -> None:
        self.live_until(self.clock.now() + timedelta(**duration))
