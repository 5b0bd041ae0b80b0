"""Threads around Dispatch: one that looks into git, some that run overlays, one that listens; and how they end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gitops.rollout.executor import INTERRUPTED
from gitops.serve.listening import HttpServer
from gitops.serve.runner import Runner

log = logging.getLogger(__name__)

_NAP = 5.0
"""Seconds after which an idle thread looks up, to show that it is alive and to notice a clock that was set."""


@dataclass(frozen=True)
class Limits:
    """How much is done at once, and how long an end may take."""

    workers: int = 8
    """Overlays that run at once; each has threads of its own for its requests."""
    grace: float = 25.0
    """Seconds from the wish to end until the end, below Kubernetes' terminationGracePeriodSeconds of 30."""


class Process:
    """The whole: `start`, then `stop`."""

    def __init__(self, runner: Runner, limits: Limits) -> None:
        self._runner = runner
        self._limits = limits
        self._server: HttpServer | None = None
        self._stopping = threading.Event()
        self._news = threading.Condition()
        worker = self._loop(runner.run, runner.dispatch.next_run)
        scout = self._loop(runner.look, runner.dispatch.next_look)
        names = [f"worker-{number}" for number in range(1, limits.workers + 1)]
        self._workers = [threading.Thread(target=worker, name=name, daemon=True) for name in names]
        self._scout = threading.Thread(target=scout, name="scout", daemon=True)

    def start(self, server: HttpServer) -> None:
        """Listen, and begin."""
        self._server = server
        server.start()
        for thread in (self._scout, *self._workers):
            thread.start()
        self._runner.health.listening()

    def pushed(self) -> bool:
        """The repository has changed; callable from any thread. False when it is too late to do anything about it."""
        self._runner.dispatch.pushed(self._runner.clock.now())
        self._wake()
        return not self._stopping.is_set()

    @property
    def next_tick(self) -> datetime | None:
        """When the schedule asks next; None where there is none."""
        return self._runner.dispatch.next_tick

    def stop(self) -> bool:
        """End: not ready any more, runs end before their next write and record it, then the server ends.

        A look into git that goes on changes nothing and is not waited for.

        Returns whether all runs came to their end within the grace period; what did not is left behind.
        """
        end = time.monotonic() + self._limits.grace
        self._runner.health.ending()
        self._stopping.set()
        self._runner.dispatch.stop(INTERRUPTED)
        self._wake()
        for thread in self._workers:
            thread.join(max(end - time.monotonic(), 0))
        late = [run.overlay for run in self._runner.dispatch.going]
        for overlay in late:
            log.error(
                "%s did not end within the grace period; the next run looks first and goes on",
                overlay,
                extra={"overlay": overlay},
            )
        self._runner.display.close()
        if self._server is not None:
            self._server.stop()
        return not late

    def _loop(self, work: Callable[[], bool], next_due: Callable[[], datetime | None]) -> Callable[[], None]:
        def loop() -> None:
            while not self._stopping.is_set():
                self._runner.health.beat()
                if work():
                    self._wake()
                    continue
                with self._news:
                    if not self._stopping.is_set():
                        self._news.wait(self._nap(next_due()))

        return loop

    def _nap(self, due: datetime | None) -> float:
        if due is None:
            return _NAP
        return min(max((due - self._runner.clock.now()).total_seconds(), 0.01), _NAP)

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()
