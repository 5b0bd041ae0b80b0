"""Whole runs over Shoots in memory, told to an observer as the pipeline tells them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from gitops.desired.compose import Desired
from gitops.errors import GitopsError, Violation
from gitops.kube.cluster import Cluster
from gitops.manifest import Manifest, Target
from gitops.observer import Observer, Observers, Run
from gitops.plan.observed import NO_REGISTRATIONS, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, make_plan
from gitops.record.record import Record, record_document
from gitops.record.store import Stored, tells_news
from gitops.rollout.rollout import Rollout, RunOutcome, not_begun
from tests.report.plans import DIGEST
from tests.report.rollouts import SUCCEEDED, Landscape, desired_of, operation, overlay_of

WORKING = (operation("Processing", 50), SUCCEEDED)
BROKEN = (operation("Failed", 50, "the machines are gone"),)
SIZES = {"canary": 1, "fleet": 2}


class _BrokenOffError(Exception):
    pass


class _BreaksOff(Observers):
    """Breaks a run off when it has moved for the second time."""

    def __init__(self, observer: Observer) -> None:
        super().__init__(observer)
        self._moves = 0

    def began(self, run: Run, desired: Desired) -> None:
        super().began(run, desired)
        self.last = run

    def moved(self, run: Run, rollout: Rollout) -> None:
        super().moved(run, rollout)
        self._moves += 1
        if self._moves == 3:
            raise _BrokenOffError


class Runs:
    """Runs of one overlay, one after the other, each on what the one before it left.

    Attributes:
        desired: what is declared.
        landscape: the Shoots; those that are named drift until they are written, and then go through statuses.
        before: what the garden remembers of earlier runs.
    """

    def __init__(
        self,
        drifted: Mapping[Target, Sequence[Manifest]] | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        soak: timedelta = timedelta(0),
    ) -> None:
        sizes = sizes or SIZES
        self.desired = desired_of(overlay_of(list(sizes), soak=soak, at_once=50), sizes)
        self.landscape = Landscape(self.desired, drifted or {})
        self.before: Stored | None = None
        self._number = 0

    def began(self, observer: Observer, trigger: str = "push") -> Run:
        """A run begins."""
        self._number += 1
        overlay = self.desired.overlay.name
        run = Run(f"{self._number:032x}", overlay, self.desired.revision, trigger, self.landscape.now())
        observer.began(run, self.desired)
        return run

    def fail(self, observer: Observer, error: GitopsError) -> None:
        """A run that cannot look at the world."""
        observer.failed(self.began(observer), error)

    def push(self, revision: str) -> None:
        """Git moves on to another commit, which declares the same."""
        self.desired = replace(self.desired, revision=revision)

    def suspended(self, observer: Observer) -> None:
        """A run of an overlay that is suspended."""
        run = self.began(observer)
        observer.remembered(run, self.before)
        result = not_begun(self.desired, RunOutcome.WAITING, "the overlay is suspended by ada")
        observer.ended(run, Record(run.overlay, run.revision, "", run.trigger, result, run.started, run.started))

    def break_off(self, observer: Observer, error: GitopsError) -> None:
        """A run that cannot go on in the midst of its rollout."""
        broken = _BreaksOff(observer)
        with suppress(_BrokenOffError):
            self.run(broken)
        observer.failed(broken.last, error)

    def run(
        self,
        observer: Observer,
        *,
        problems: tuple[Violation, ...] = (),
        stop_after: int | None = None,
        repeat: int = 1,
        garden: Cluster | None = None,
    ) -> Record | None:
        """One run to its end.

        Args:
            observer: is told.
            problems: why the plan is refused.
            stop_after: the run is ended after so many moves.
            repeat: how often each move is told.
            garden: where whoever is told may write.

        Returns:
            The record; None of a run that was refused.
        """
        run = self.began(observer)
        observer.remembered(run, self.before)
        looked = Unobserved("nothing is declared inside it")
        seen = {
            target: Observed(shoot, self.landscape.now(), looked) for target, shoot in self.landscape.shoots.items()
        }
        planned = Planned(make_plan(self.desired, seen, NO_REGISTRATIONS).plan, problems)
        observer.planned(run, planned, Outlook(self.desired, seen, NO_REGISTRATIONS))
        try:
            planned.require_permission()
        except GitopsError as error:
            observer.failed(run, error)
            return None
        if garden is not None:
            observer.held(run, garden)
        rollout = self.landscape.rollout()
        moves = 0

        def moved(rollout: Rollout) -> None:
            nonlocal moves
            moves += 1
            for _ in range(repeat):
                observer.moved(run, rollout)
            if moves == stop_after:
                rollout.stop(RunOutcome.WAITING, "the deadline of this run has come")

        self.landscape.run(rollout, moved)
        record = Record(
            run.overlay, run.revision, DIGEST, run.trigger, rollout.result(), run.started, self.landscape.now()
        )
        if tells_news(record, self.before):
            document = json.loads(json.dumps(record_document(record)))
            self.before = Stored(document, (document,))
            observer.recorded(run, record)
        observer.ended(run, record)
        return record
