"""One look into the repository, and one run of one overlay. Nothing that goes wrong here ends the process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from gitops.clock import Clock
from gitops.control.revision import Chosen
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import overlay_names
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError, InvalidInput, SourceError, told
from gitops.observer import Observer, Observers
from gitops.pipeline import reconcile
from gitops.record.record import Record
from gitops.rollout.rollout import RunOutcome
from gitops.serve.dispatch import OVERTAKEN, Dispatch
from gitops.serve.display import Display
from gitops.serve.health import Health
from gitops.serve.interrupt import Interrupt, InterruptibleClock
from gitops.source.repository import Commit
from gitops.trigger.queue import Trigger, Work
from gitops.world import Pace, World

log = logging.getLogger(__name__)

OpenCommit = Callable[[], AbstractContextManager[Commit]]
"""The repository at the revision that git holds now."""
OpenWorld = Callable[[Desired, Clock], AbstractContextManager[World]]
"""The world of an overlay, on this clock unless it has one of its own."""

Choose = Callable[[World, Desired], Chosen]
"""What is meant, given what git says: somebody may have gone back from it."""
NotBegun = Callable[[str, str, GitopsError, str], None]
"""Told of an overlay, the commit that git holds, why no run of it begins that observers hear of, and the trigger.

The commit is empty where git could not be read.
"""
_LASTING = timedelta(minutes=2)
"""Between two looks that fail: by then the repository has not been read for minutes, which others should know."""


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
    not_begun: NotBegun = lambda *_: None

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
            wait = self.dispatch.look_failed(work, self.clock.now())
            _log_failure(f"nothing of the repository can be run, next try in {wait.total_seconds():.0f} s", error)
            self._tell_of_look(told(error), work.trigger, lasting=wait >= _LASTING)
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
        try:
            record = self._reconcile(work, interrupt)
        except Exception as error:  # noqa: BLE001 - whatever it is, the process goes on
            self._note_failure(work, error)
            return True
        if record.result.outcome is RunOutcome.FAILED:
            self._again_later(work, record.result.message)
        else:
            self.dispatch.run_ended(work, record.result.resumes)
        return True

    def _reconcile(self, work: Work, interrupt: Interrupt) -> Record:
        """One run, with everything read afresh."""
        with self._before_it_begins(work):
            head, desired = self._composed(work)
        clock = InterruptibleClock(self.clock, interrupt, self.health.beat)
        pace = Pace(self.poll, self.deadline, stopping=interrupt.reason, overtaken=lambda: self._overtaken(head))
        with ExitStack() as opened:
            with self._before_it_begins(work, head):
                world = opened.enter_context(self.world(desired, clock))
                world = opened.enter_context(self.display.counted(world))
                chosen = self.choose(world, desired)
            if chosen.hold is not None:
                log.warning("%s", chosen.hold, extra={"overlay": work.key, "revision": chosen.desired.revision})
            shown = self.display.observer(chosen, world.clock.now)
            return reconcile(
                world,
                chosen.desired,
                trigger=work.trigger.word,
                pace=pace,
                observer=Observers(self.health, shown, self.observers),
                control=chosen.control,
            )

    def _composed(self, work: Work) -> tuple[str, Desired]:
        """The commit that git holds now, and what it declares."""
        with self.commit() as commit:
            self.health.repository(None)
            self.dispatch.found_head(work, commit.revision)
            self.display.reads(work.key, commit.revision, commit.headline)
            return commit.revision, compose_whole(commit, work.key, self.clock.now())

    @contextmanager
    def _before_it_begins(self, work: Work, head: str = "") -> Iterator[None]:
        """Tell of what keeps a run from beginning in the block; of whatever comes later, the run itself tells."""
        try:
            yield
        except Exception as error:
            known = told(error)
            revision = head or known.revision
            self.display.not_begun(work.key, revision, work.trigger, known)
            self.not_begun(work.key, revision, known, work.trigger.word)
            raise

    def _tell_of_look(self, error: GitopsError, trigger: Trigger, *, lasting: bool) -> None:
        """A commit that is not trusted may not say which overlays it declares; we know those of the last look."""
        overlays = self.dispatch.overlays
        self.display.unread(overlays, error)
        for overlay in overlays if error.revision or lasting else ():
            self.not_begun(overlay, error.revision, error, trigger.word)

    def _overtaken(self, head: str) -> str:
        """Why a run that began with this commit is of no use any more; empty where it is.

        Who finds a newer one asks for its run, as nobody else may.
        """
        with self.commit() as commit:
            if commit.revision == head:
                return ""
        self.dispatch.pushed(self.clock.now())
        return OVERTAKEN

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

    def _again_later(self, work: Work, message: str) -> None:
        wait = self.dispatch.run_failed(work, self.clock.now())
        fields = {"overlay": work.key}
        log.error("%s failed, next try in %.0f s: %s", work.key, wait.total_seconds(), message, extra=fields)


def _log_failure(what: str, error: Exception, **fields: str) -> None:
    """A bug shows its traceback, anything else its sentence."""
    bug = None if isinstance(error, GitopsError) else error
    log.error("%s: %s", what, error if bug is None else type(error).__name__, exc_info=bug, extra=fields)
