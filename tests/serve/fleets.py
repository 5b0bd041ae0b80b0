"""Runs over made-up fleets, told to an observer as a real run tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gitops.control.control import Suspension
from gitops.desired.compose import Desired
from gitops.errors import GitopsError, Rejected
from gitops.manifest import Manifest, Target
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.observed import NO_REGISTRATIONS, Inside, NodeWork, Observed
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, make_plan
from gitops.record.record import Record
from gitops.report.control import Controlled
from gitops.rollout.rollout import Rollout, RunOutcome, not_begun
from tests.report.plans import REVISION
from tests.report.rollouts import NOON, SUCCEEDED, Landscape, desired_of, operation, overlay_of

WORKING = [operation("Processing", progress, f"Deploying worker pools ({progress}%)") for progress in (5, 42, 90)]
CONVERGING: Sequence[Manifest] = (*WORKING, SUCCEEDED)


class StoppedClock:
    """A clock that stands where it is put."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def patience(self, until: datetime) -> None:
        """Nobody waits."""


class BrokenOffError(Exception):
    """The process ends in the midst of a run."""


class Fleet:
    """One overlay of shoots that are all as declared, but for those that drifted."""

    def __init__(
        self,
        name: str,
        sizes: Mapping[str, int],
        drifted: Callable[[Target, int], bool] = lambda _, __: True,
        *,
        statuses: Sequence[Manifest] = CONVERGING,
        **how: Any,
    ) -> None:
        desired = desired_of(overlay_of(list(sizes), name=name, **how), sizes)
        self.desired = labelled(desired, {})
        chosen = [target for number, target in enumerate(self.desired.shoots) if drifted(target, number)]
        self.landscape = Landscape(self.desired, dict.fromkeys(chosen, statuses))
        self.run = Run(f"run-of-{name}", name, REVISION, "push", NOON)

    def label(self, labels: Mapping[str, str]) -> None:
        """Declare further labels on every shoot."""
        self.desired = labelled(self.desired, labels)

    def refuse(self, target: Target, message: str) -> None:
        """Let the garden refuse to write a shoot."""
        self.landscape.refusals[target] = Rejected(message, status=422)

    def outlook(self) -> Outlook:
        """What a run observes."""
        return Outlook(self.desired, self.landscape.observed(), NO_REGISTRATIONS)

    def plan(self, observer: Observer, planned: Planned | None = None, outlook: Outlook | None = None) -> Planned:
        """A run begins and draws its plan."""
        outlook = outlook or self.outlook()
        planned = planned or make_plan(self.desired, outlook.shoots)
        observer.began(self.run, self.desired)
        observer.planned(self.run, planned, outlook)
        return planned

    def rollout(self, observer: Observer, turns: int | None = None) -> Record:
        """A whole run; after so many turns it is broken off.

        Raises:
            BrokenOffError: it was.
        """
        planned = self.plan(observer)
        left = turns

        def moved(rollout: Rollout) -> None:
            nonlocal left
            observer.moved(self.run, rollout)
            if left is not None:
                left -= 1
                if left <= 0:
                    raise BrokenOffError

        rollout = self.landscape.rollout()
        self.landscape.run(rollout, moved)
        record = Record(
            self.run.overlay,
            self.run.revision,
            digest(planned.plan),
            self.run.trigger,
            rollout.result(),
            self.run.started,
            self.landscape.now(),
        )
        observer.ended(self.run, record)
        return record

    def suspended(self, observer: Observer, message: str) -> None:
        """A run of an overlay that is suspended."""
        result, run = not_begun(self.desired, RunOutcome.WAITING, message), self.run
        observer.began(run, self.desired)
        observer.ended(run, Record(run.overlay, run.revision, "", run.trigger, result, run.started, run.started))

    @contextmanager
    def under_way(self, observer: Observer, turns: int) -> Iterator[None]:
        """A run that stands still after so many turns."""
        try:
            self.rollout(observer, turns)
        except BrokenOffError:
            yield
        else:
            raise AssertionError("the run has ended already")

    def fail(self, observer: Observer, message: str) -> None:
        """A run that cannot even look."""
        observer.began(self.run, self.desired)
        observer.failed(self.run, GitopsError(message))


def suspended(overlay: str, by: str = "ada") -> Controlled:
    """Somebody wants nothing to be written."""
    return Controlled(overlay, "", Suspension(by, NOON), None, {})


def labelled(desired: Desired, labels: Mapping[str, str]) -> Desired:
    """The same with labels on every Shoot: its wave, and these."""
    shoots = {
        target: replace(shoot, shoot=_labelled(shoot.shoot, {"wave": shoot.wave, **labels}))
        for target, shoot in desired.shoots.items()
    }
    return replace(desired, shoots=shoots)


def _labelled(shoot: Manifest, labels: Mapping[str, str]) -> Manifest:
    metadata = {**shoot["metadata"], "labels": {**shoot["metadata"].get("labels", {}), **labels}}
    return {**shoot, "metadata": metadata}


def looked_into(observed: Observed, inside: Inside, work: NodeWork) -> Observed:
    """A shoot that somebody looked into."""
    return replace(observed, inside=replace(inside, node_work=work))
