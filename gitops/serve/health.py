"""What `/healthz` and `/readyz` know: whether threads move, and whether repository and garden answered last."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from gitops.errors import CredentialsError, GitopsError, Refused, Unreachable
from gitops.observer import Observer, Run
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.rollout.rollout import Rollout

STUCK = 1800.0
"""Seconds in which a thread must show that it is alive. Longer than any request or fetch may take, as a restart
in the midst of work does harm that a late restart does not."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    message: str = ""
    """What is wrong, without addresses and without what an error said, as anybody may read it."""


class Health(Observer):
    """Kept by all threads; also an observer, as a run shows whether the garden answers."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Nothing is known yet.

        Args:
            monotonic: seconds that only ever pass.
        """
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._beats: dict[str, tuple[float, threading.Thread]] = {}
        self._repository = "it has not been read yet"
        self._garden = ""
        self._listening = "not yet"
        self._ending = False

    def beat(self) -> None:
        """The calling thread is alive."""
        thread = threading.current_thread()
        with self._lock:
            self._beats[thread.name] = (self._monotonic(), thread)

    def listening(self) -> None:
        """Requests are answered."""
        self._listening = ""

    def ending(self) -> None:
        """The process ends: nobody should send anything more, and threads end as they should."""
        self._ending = True
        self._listening = "the process is ending"

    def repository(self, error: Exception | None) -> None:
        """The repository was read, or could not be; a commit that is refused, as nobody signed it, was read."""
        unread = error is not None and not isinstance(error, Refused)
        self._repository = "it could not be read at the last try; the log says why" if unread else ""

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """A garden that was observed answers."""
        del run, planned, outlook
        self._garden = ""
        self.beat()

    def moved(self, run: Run, rollout: Rollout) -> None:
        """A rollout moves."""
        del run, rollout
        self.beat()

    def failed(self, run: Run, error: GitopsError) -> None:
        """Only who cannot be reached, or has no way in, does not answer; a refusal is an answer."""
        del run
        self.failed_with(error)

    def failed_with(self, error: GitopsError) -> None:
        """The same, before a run could begin."""
        if isinstance(error, Unreachable | CredentialsError):
            self._garden = "it did not answer at the last try; the log says why"

    def live(self) -> list[Check]:
        """Whether the process's threads are alive and move."""
        now = self._monotonic()
        with self._lock:
            beats = dict(self._beats)
        checks = []
        for name, (time, thread) in sorted(beats.items()):
            problem = "" if thread.is_alive() or self._ending else "it has ended"
            if not problem and now - time > STUCK:
                problem = f"it has not moved for {int(now - time)} s"
            checks.append(Check(f"thread {name}", not problem, problem))
        return checks

    def ready(self) -> list[Check]:
        """Whether a push that comes now would be carried out."""
        found = {"listening": self._listening, "repository": self._repository, "garden": self._garden}
        return [Check(name, not problem, problem) for name, problem in found.items()]
