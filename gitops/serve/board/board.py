"""The board: hears of every run, and hands out what there is to see as values that never change.

The run's thread only notes where its rollout is; a view is made when somebody asks, and the same one is handed to all
who ask within a moment. So neither many readers nor a slow one can hold up a rollout.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.kube.cluster import Cluster
from gitops.manifest import Target, get
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record, record_document
from gitops.record.store import Stored
from gitops.report.control import Controlled
from gitops.report.explain import Explanation
from gitops.report.explaining import explain_begun, explain_left, explain_planned
from gitops.report.standing import Standing
from gitops.rollout.rollout import Rollout
from gitops.rollout.track import Track
from gitops.serve.board.stored import (
    HISTORY,
    MESSAGE,
    garden_now,
    garden_of,
    last_run,
    rules_text,
    waves_of,
    with_news,
)
from gitops.serve.board.views import Commit, OverlayView, PlanNow, RepositoryView, RunNow, once_more
from gitops.serve.progress import Progress, wave_not_started

CONTAINERS = 50_000
"""Containers of one overlay whose place is remembered; of shoots beyond that `gitops verify` tells."""
_SETTLED = frozenset({Standing.CURRENT, Standing.FAILED})
_A_MOMENT = 0.3
"""Seconds for which one view of a run serves all."""


@dataclass
class _Entry:
    """One overlay; changed under the board's lock, and replaced rather than changed wherever a view refers to it."""

    view: OverlayView
    """As it is but for the rollout that is under way."""
    outlook: Outlook | None = None
    """What the run that is under way goes by; it holds secrets, and is let go of when the run ends."""
    progress: Progress | None = None
    """Of the run that is under way; None where none has a rollout."""
    last: Mapping[str, Any] | None = None
    """The last record, by contract."""
    containers: int = 0
    shown: OverlayView | None = None
    shown_at: float = 0.0
    moved: int = 0
    """The version at which the rollout moved last."""

    def run(self, run: Run) -> RunNow | None:
        """The run that is under way, if it is this one."""
        now = self.view.run
        return now if now is not None and now.id == run.id else None


class Board(Observer):
    """What is known of every overlay. Any number of threads may tell it things and ask it."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        containers: int = CONTAINERS,
    ) -> None:
        """Make an empty board.

        Args:
            clock: the runs' own, for what is said of times; None is the machine's.
            monotonic: seconds by which views are shared.
            containers: of how many containers of one overlay the place is remembered.
        """
        self.clock: Clock = clock or SystemClock()
        self._monotonic = monotonic
        self._containers = containers
        self._lock = threading.RLock()
        self._entries: dict[str, _Entry] = {}
        self._version = 0
        self._departed = 0
        """The version at which an overlay was forgotten last."""
        self._repository = RepositoryView(0)
        self._closed = threading.Event()

    # What runs tell.

    def began(self, run: Run, desired: Desired) -> None:
        """A run looks at the world."""
        labels = {target: _labels(shoot.shoot) for target, shoot in desired.shoots.items()}
        rules = {wave.name: rules_text(wave) for wave in desired.overlay.waves}
        now = RunNow(run.id, run.revision, run.trigger, run.started)
        with self._lock:
            entry = self._entry(run.overlay)
            entry.outlook = entry.progress = None
            self._show(entry, run=now, labels=labels, rules=rules)

    def remembered(self, run: Run, before: Stored | None) -> None:
        """It knows how earlier runs ended."""
        self.remember(run.overlay, before)

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """It knows what it would do."""
        plan = PlanNow(planned.plan, digest(planned.plan), self.clock.now(), planned.problems)
        with self._lock:
            entry = self._entry(run.overlay)
            if (now := entry.run(run)) is None:
                return
            entry.outlook, entry.progress, entry.containers = outlook, Progress(), 0
            waves = entry.view.waves or tuple(map(wave_not_started, planned.plan.waves))
            self._show(entry, run=replace(now, planned=True), plan=plan, known={}, waves=waves)

    def waiting(self, run: Run, holder: str) -> None:
        """Another run, which may be dead, holds the lease."""
        self._waits_for(run, holder)

    def held(self, run: Run, garden: Cluster) -> None:
        """It waits no longer."""
        del garden
        self._waits_for(run, "")

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Note where it is."""
        entry = self._entries.get(run.overlay)
        if entry is None or entry.progress is None or entry.run(run) is None:
            return
        if done := entry.progress.moved(rollout):
            self._explain(entry, done)
        with self._lock:
            self._version += 1
            entry.moved = self._version

    def ended(self, run: Run, record: Record) -> None:
        """It came to its end."""
        document = record_document(record)
        entry = self._entry(run.overlay)
        if not record.looked:
            with self._lock:
                self._show(entry, run=None, trouble=None, last=last_run(document))
            return
        self._explain_rest(entry)
        with self._lock:
            before, entry.last, entry.progress = entry.last, document, None
            self._show(
                entry,
                run=None,
                trouble=None,
                last=last_run(document),
                waves=waves_of(document),
                garden=garden_of(document),
                history=with_news(entry.view.history, document, before),
            )

    def failed(self, run: Run, error: GitopsError) -> None:
        """It could not go on."""
        now, message = self.clock.now(), str(error)[:MESSAGE]
        entry = self._entry(run.overlay)
        if entry.run(run) is not None:
            self._explain_rest(entry)
            with self._lock:
                shown = self._view(entry)  # a rollout that was broken off stays as far as it came
                entry.progress = None
                self._show(entry, run=None, waves=tuple(wave.at_rest() for wave in shown.waves), garden=shown.garden)
        with self._lock:
            self._show(entry, trouble=once_more(entry.view.trouble, message, run.revision, now))

    # What the process tells.

    def remember(self, overlay: str, stored: Stored | None) -> None:
        """Begin with what the garden's record says; None where there is none. Later runs know better."""
        with self._lock:
            entry = self._entry(overlay)
            if stored is None or entry.last is not None:
                return
            entry.last = stored.last
            self._show(
                entry,
                last=last_run(stored.last),
                waves=entry.view.waves or waves_of(stored.last),
                garden=entry.view.garden or garden_of(stored.last),
                history=(*entry.view.history, *stored.history)[:HISTORY],
            )

    def failed_before(self, overlay: str, revision: str, error: Exception) -> None:
        """What kept a run from beginning, such as a commit that cannot be composed.

        Args:
            overlay: whose run.
            revision: the commit; empty where not even that is known.
            error: in words for people, without secrets.
        """
        self.failed(Run("", overlay, revision, "", self.clock.now()), GitopsError(str(error)))

    def unread(self, error: GitopsError | None) -> None:
        """The repository could not be read, so that nothing newer can be shown; None once it was."""
        now = self.clock.now()
        with self._lock:
            before = self._repository.trouble
            if error is None and before is None:
                return
            self._version += 1
            trouble = None if error is None else once_more(before, str(error)[:MESSAGE], "", now)
            self._repository = RepositoryView(self._version, trouble)

    def committed(self, overlay: str, revision: str, subject: str, author: str = "") -> None:
        """Say what people call a revision."""
        with self._lock:
            entry = self._entry(overlay)
            commits = {**entry.view.commits, revision: Commit(subject[:500], author[:200])}
            self._show(entry, commits=dict(list(commits.items())[-HISTORY:]))

    def scheduled(self, overlay: str, next_at: datetime | None) -> None:
        """When the schedule starts the next run; None where nothing is scheduled."""
        with self._lock:
            self._show(self._entry(overlay), next_at=next_at)

    def queued(self, overlay: str, triggers: Collection[str]) -> None:
        """What asked for a run that has not begun, such as `push`; empty when nothing waits."""
        with self._lock:
            self._show(self._entry(overlay), queued=tuple(triggers))

    def asked(self, control: Controlled) -> None:
        """What people have asked of an overlay's rollout, and what its shoots wait for."""
        with self._lock:
            self._show(self._entry(control.overlay), control=control)

    def keep(self, overlays: Collection[str]) -> None:
        """Forget every other overlay: git declares it no longer."""
        with self._lock:
            for name in self._entries.keys() - set(overlays):
                del self._entries[name]
                self._version += 1
                self._departed = self._version

    def close(self) -> None:
        """End every stream of events: the process shuts down."""
        self._closed.set()

    # What readers ask.

    @property
    def closed(self) -> bool:
        """Whether streams of events must end."""
        return self._closed.is_set()

    def version(self, overlay: str | None = None) -> int:
        """A number that grows whenever an overlay has changed, or any of them; 0 for one that is not known."""
        with self._lock:
            if overlay is None:
                return self._version
            entry = self._entries.get(overlay)
            return 0 if entry is None else max(entry.view.version, entry.moved)

    def shown_version(self, overlay: str | None = None) -> int:
        """The version of what a page would show now, which may be a moment behind `version`."""
        with self._lock:
            everywhere = self._repository.version
            if overlay is None:
                return max((self._departed, everywhere, *(view.version for view in self.fleet())))
            entry = self._entries.get(overlay)
            return 0 if entry is None else max(self._view(entry).version, everywhere)

    @property
    def repository(self) -> RepositoryView:
        """How it fares with the repository."""
        return self._repository

    def overlay(self, name: str) -> OverlayView | None:
        """One overlay; None where nothing was ever heard of it."""
        with self._lock:
            entry = self._entries.get(name)
            return None if entry is None else self._view(entry)

    def fleet(self) -> tuple[OverlayView, ...]:
        """Every overlay, by name."""
        with self._lock:
            return tuple(self._view(self._entries[name]) for name in sorted(self._entries))

    def explanation(self, overlay: str, shoot: Target) -> Explanation | None:
        """Why a shoot is where it is; None where nobody has looked since this process began."""
        found = self._explained(overlay, shoot)
        view = self.overlay(overlay)
        if found is None or view is None:
            return None
        control = view.control
        if control is not None and found.status.standing in _SETTLED:  # whatever it waited for when the plan was drawn
            control = replace(control, held={})
        return replace(found, control=control)

    def _explained(self, overlay: str, shoot: Target) -> Explanation | None:
        with self._lock:
            entry = self._entries.get(overlay)
            if entry is None:
                return None
            view, outlook, last = entry.view, entry.outlook, entry.last
            at = entry.progress.moment if entry.progress is not None else None
        plan = view.plan.shoots.get(shoot) if view.plan is not None else None
        if shoot in view.known or outlook is None or plan is None:
            return view.known.get(shoot)
        track = at.tracks.get(shoot) if at is not None else None
        if track is None or not track.started:
            return explain_planned(plan, outlook, last)
        return explain_begun(plan, outlook.desired, track)

    def _waits_for(self, run: Run, holder: str) -> None:
        with self._lock:
            entry = self._entry(run.overlay)
            if (now := entry.run(run)) is not None and now.waits_for != holder:
                self._show(entry, run=replace(now, waits_for=holder))

    def _entry(self, name: str) -> _Entry:
        with self._lock:
            if name not in self._entries:
                self._version += 1
                self._entries[name] = _Entry(OverlayView(name, self._version))
            return self._entries[name]

    def _show(self, entry: _Entry, **changes: Any) -> None:
        """Replace parts of a view."""
        self._version += 1
        entry.view = replace(entry.view, version=self._version, **changes)
        entry.shown = None

    def _view(self, entry: _Entry) -> OverlayView:
        """What there is to see now, or was a moment ago."""
        at = entry.progress.moment if entry.progress is not None else None
        if at is None or entry.view.run is None:
            return entry.view
        now = self._monotonic()
        version = max(entry.view.version, entry.moved)
        if entry.shown is None or (entry.shown.version < version and now - entry.shown_at >= _A_MOMENT):
            run = replace(entry.view.run, ending=at.ending)
            garden = garden_now(at.registrations)
            entry.shown = replace(entry.view, version=version, run=run, waves=at.waves(), garden=garden)
            entry.shown_at = now
        return entry.shown

    def _explain(self, entry: _Entry, tracks: Mapping[Target, Track]) -> None:
        """Keep what a rollout has learnt of shoots that it is done with."""
        if entry.outlook is None or entry.view.plan is None:
            return
        desired, plans = entry.outlook.desired, entry.view.plan.shoots
        told = {target: explain_begun(plans[target], desired, track) for target, track in tracks.items()}
        known = {target: self._within_bounds(entry, explanation) for target, explanation in told.items()}
        with self._lock:
            self._show(entry, known={**entry.view.known, **known})

    def _explain_rest(self, entry: _Entry) -> None:
        """The run is over: keep what is known of every other shoot, and let go of what it was learnt from."""
        at = entry.progress.moment if entry.progress is not None else None
        if at is not None:
            self._explain(entry, at.tracks)
        if (outlook := entry.outlook) is None or entry.view.plan is None:
            return
        rest = (plan for target, plan in entry.view.plan.shoots.items() if target not in entry.view.known)
        known = {plan.shoot: self._within_bounds(entry, explain_left(plan, outlook)) for plan in rest}
        with self._lock:
            entry.outlook = None
            self._show(entry, known={**entry.view.known, **known})

    def _within_bounds(self, entry: _Entry, explanation: Explanation) -> Explanation:
        """An explanation without its placement where too much would have to be kept."""
        placement = explanation.placement
        if placement is None or placement.verification is None:
            return explanation
        found = placement.verification
        entry.containers += max(len(found.placed), sum(len(told.assignments) for told in found.told.values()))
        if entry.containers <= self._containers:
            return explanation
        why = "this overlay has more containers than the dashboard remembers; `gitops verify` shows them"
        return replace(explanation, placement=replace(placement, verification=None, unobserved=why, topologies={}))


def _labels(shoot: Mapping[str, Any]) -> Mapping[str, str]:
    return {str(key): str(value) for key, value in (get(shoot, "metadata", "labels") or {}).items()}
