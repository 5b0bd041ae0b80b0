"""One look into the repository, and one run of one overlay. Nothing that goes wrong here ends the process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta

from gitops.clock import Clock
from gitops.control.revision import Chosen
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import overlay_names
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError, InvalidInput, SourceError
from gitops.observer import Observer, Observers, Run
from gitops.pipeline import reconcile
from gitops.record.record import Record
from gitops.rollout.rollout import RunOutcome
from gitops.serve.dispatch import OVERTAKEN, Dispatch
from gitops.serve.display import Display
from gitops.serve.health import Health
from gitops.serve.interrupt import Interrupt, InterruptibleClock
from gitops.source.repository import Commit
from gitops.trigger.queue import Work
from gitops.world import Pace, World

log = logging.getLogger(__name__)

OpenCommit = Callable[[], AbstractContextManager[Commit]]
"""The repository at the revision that git holds now."""
OpenWorld = Callable[[Desired, Clock], AbstractContextManager[World]]
"""The world of an overlay, on this clock unless it has one of its own."""

Choose = Callable[[World, Desired], Chosen]
"""What is meant, given what git says: somebody may have gone back from it."""
NotComposed = Callable[[str, str, InvalidInput, str], None]
"""Told of an overlay at a revision that is invalid, and what triggered the run: none begins that observers hear of."""


@dataclass(frozen=True)
class Runner:
    """Does what Dispatch says is due."""

    dispatch: Dispatch
    commit: OpenCommit
    world: OpenWorld
    clock: Clock
    health: Health
    display: Display
    choose: Choose
    observers: Observer = field(default_factory=Observer)
    """Who else is told of runs."""
    poll: timedelta = timedelta(seconds=5)
    deadline: timedelta | None = None
    not_composed: NotComposed | None = None

    def look(self) -> bool:
        """Look into the repository, if that is due; whether it was."""
        work = self.dispatch.take_look(self.clock.now())
        if work is None:
            return False
        try:
            with self.commit() as commit:
                overlays, head = overlay_names(commit), commit.revision
        except Exception as error:  # noqa: BLE001 - whatever it is, the next look may fare better
            self.health.repository(error)
            self.display.unread(error)
            wait = self.dispatch.look_failed(work, self.clock.now())
            _log_failure(f"nothing of the repository can be run, next try in {wait.total_seconds():.0f} s", error)
            return True
        self.health.repository(None)
        missing = self.dispatch.looked(work, overlays, head, self.clock.now())
        self.display.found(self.dispatch.wanted(overlays), self.dispatch.next_scheduled)
        for name in missing:
            log.warning("there is no overlay %s at %s", name, head[:12], extra={"overlay": name, "revision": head})
        log.info("%s: %d overlays at %s", work.trigger.word, len(overlays), head[:12], extra={"revision": head})
        return True

    def run(self) -> bool:
        """Run an overlay, if one is due; whether one was."""
        due = self.dispatch.take_run(self.clock.now())
        if due is None:
            return False
        work, interrupt = due
        attempt = _Attempt()
        try:
            record = self._reconcile(work, interrupt, attempt)
        except Exception as error:  # noqa: BLE001 - whatever it is, the process goes on
            self._note_failure(work, error)
            self._tell_failure(work, error, attempt)
            return True
        if record.result.outcome is RunOutcome.FAILED:
            self._again_later(work, record.result.message)
        else:
            self.dispatch.run_ended(work)
        return True

    def _reconcile(self, work: Work, interrupt: Interrupt, attempt: _Attempt) -> Record:
        """One run, with everything read afresh."""
        head, desired = self._composed(work, attempt)
        clock = InterruptibleClock(self.clock, interrupt, self.health.beat)
        pace = Pace(self.poll, self.deadline, stopping=interrupt.reason, overtaken=lambda: self._overtaken(head))
        with self.world(desired, clock) as opened, self.display.counted(opened) as world:
            chosen = self.choose(world, desired)
            if chosen.hold is not None:
                log.warning("%s", chosen.hold, extra={"overlay": work.key, "revision": chosen.desired.revision})
            shown = self.display.observer(chosen, world.clock.now)
            attempt.told = Observers(self.health, shown, self.observers)
            return reconcile(
                world,
                chosen.desired,
                trigger=work.trigger.word,
                pace=pace,
                observer=Observers(attempt, attempt.told),
                control=chosen.control,
            )

    def _composed(self, work: Work, attempt: _Attempt) -> tuple[str, Desired]:
        """The commit that git holds now, and what it declares."""
        with self.commit() as commit:
            attempt.revision = commit.revision
            self.health.repository(None)
            self.dispatch.found_head(work, commit.revision)
            self.display.reads(work.key, commit.revision, commit.headline)
            try:
                return commit.revision, compose_whole(commit, work.key, self.clock.now())
            except InvalidInput as error:
                if self.not_composed is not None:
                    self.not_composed(work.key, commit.revision, error, work.trigger.word)
                raise

    def _overtaken(self, head: str) -> str:
        """Why a run that began with this commit is of no use any more; empty where it is."""
        with self.commit() as commit:
            return "" if commit.revision == head else OVERTAKEN

    def _note_failure(self, work: Work, error: Exception) -> None:
        """Another try only helps where the world may change; what git declares stays wrong until it is pushed again."""
        if isinstance(error, SourceError):
            self.health.repository(error)
        if isinstance(error, GitopsError):
            self.health.failed_with(error)
        if isinstance(error, InvalidInput):
            self.dispatch.run_ended(work)
            _log_failure(f"{work.key} is invalid and stays as it is", error, overlay=work.key)
            return
        wait = self.dispatch.run_failed(work, self.clock.now())
        _log_failure(f"{work.key} failed, next try in {wait.total_seconds():.0f} s", error, overlay=work.key)

    def _tell_failure(self, work: Work, error: Exception, attempt: _Attempt) -> None:
        """Whoever watches hears of it too, unless the run itself has told them; the text of a bug is for the log."""
        known = error if isinstance(error, GitopsError) else GitopsError(f"{type(error).__name__}: a bug; see the log")
        if attempt.run is None:
            self.display.not_begun(work.key, attempt.revision, work.trigger, known)
        elif not attempt.over:
            attempt.told.failed(attempt.run, known)

    def _again_later(self, work: Work, message: str) -> None:
        wait = self.dispatch.run_failed(work, self.clock.now())
        fields = {"overlay": work.key}
        log.error("%s failed, next try in %.0f s: %s", work.key, wait.total_seconds(), message, extra=fields)


class _Attempt(Observer):
    """How far one try at a run came.

    Attributes:
        revision: the commit; empty while even that is not known.
        run: what observers were told has begun; None before.
        told: those observers.
        over: whether they were told of its end.
    """

    def __init__(self) -> None:
        self.revision = ""
        self.run: Run | None = None
        self.told: Observer = Observer()
        self.over = False

    def began(self, run: Run, desired: Desired) -> None:
        """It is under way."""
        del desired
        self.run = run

    def ended(self, run: Run, record: Record) -> None:
        """It came to its end."""
        del run, record
        self.over = True

    def failed(self, run: Run, error: GitopsError) -> None:
        """It could not go on."""
        del run, error
        self.over = True


def _log_failure(what: str, error: Exception, **fields: str) -> None:
    """A bug shows its traceback, anything else its sentence."""
    bug = None if isinstance(error, GitopsError) else error
    log.error("%s: %s", what, error if bug is None else type(error).__name__, exc_info=bug, extra=fields)
