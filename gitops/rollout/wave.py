"""One wave on its way: which of its shoots may move, and when the wave has had enough failures.

No I/O and no clock: it is told what happened and what time it is, and says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from gitops.control.control import NOTHING_ASKED, Control
from gitops.desired.overlay import Overlay, Wave
from gitops.errors import Conflict, Suspended, Throttled, Unreachable
from gitops.manifest import Manifest, Target
from gitops.plan.planning import Prune
from gitops.rollout.actions import (
    Action,
    InsideObserved,
    NotWritten,
    ObserveInside,
    ObserveShoots,
    ShootEvent,
    ShootsObserved,
    ShootsUnobserved,
    WriteTo,
    Written,
)
from gitops.rollout.admission import Admission, Held, HeldBy
from gitops.rollout.step import (
    Await,
    LookInside,
    Settled,
    ShootOutcome,
    Unanswered,
    Where,
    Write,
    next_step,
    subject,
)
from gitops.rollout.timers import Timers, pause
from gitops.rollout.track import Phase, Track

FRESH = timedelta(seconds=30)
"""A shoot that was looked at longer ago is looked at again before it is written."""
CONFLICTS = 5
"""After so many refused writes in a row the next attempt waits for the next look."""
REWRITES = 3
"""What was written so often and did not last is a failure: a run must not fight with somebody for ever."""


@dataclass(frozen=True)
class Rules:
    """What holds for a whole run."""

    overlay: Overlay
    prune: Prune
    poll: timedelta
    """Between two looks at something that is being waited for."""
    control: Control = NOTHING_ASKED
    """What people asked when the run began."""
    revision: str = ""
    """The commit that is rolled out."""
    digest: str = ""
    """Of the plan that the run began with."""
    begun: frozenset[Target] = frozenset()
    """Shoots that earlier runs have begun with the same, and not come to an end with."""

    @cached_property
    def admission(self) -> Admission:
        """Whether a shoot may be written."""
        return Admission(self.overlay, self.control, self.revision, self.begun)


class WaveRun:
    """The shoots of one wave."""

    def __init__(self, wave: Wave, tracks: Iterable[Track], rules: Rules) -> None:
        self.wave = wave
        self.tracks: dict[Target, Track] = {}
        self._rules = rules
        self._queued: dict[Target, None] = {}
        self._without_room: dict[Target, None] = {}
        self._being_read: set[Target] = set()
        self._timers = Timers()
        self._in_flight = self._busy = self._settled = 0
        self._failures: list[Track] = []
        self._stopping = ""
        for track in tracks:
            self._put(track)
        self._limit = wave.max_concurrent.of(len(self.tracks))

    @property
    def held(self) -> list[tuple[Target, Held]]:
        """Shoots that this run will not write, so that no later wave may begin; suspended ones are out of its way."""
        tracks = self.tracks.values()
        return [(t.target, t.held) for t in tracks if t.held is not None and t.held.by is not HeldBy.SUSPENSION]

    @property
    def stopped(self) -> str:
        """Why nothing more is written; empty while the wave goes on."""
        return self._stopping

    @property
    def over(self) -> bool:
        """Whether nothing is under way and nothing will be."""
        under_way = self._busy or self._being_read
        return not under_way and (bool(self._stopping) or self._settled == len(self.tracks))

    def stop(self, reason: str) -> None:
        """Write nothing more; what is under way ends by itself."""
        self._stopping = self._stopping or reason

    def actions(self, now: datetime) -> list[Action]:
        """What to do now; each action is answered by one event."""
        actions = [] if self.stopped else self._due(now)
        while not self.stopped and (track := self._next()) is not None:
            if action := self._move(track, now):
                actions.append(action)
        return actions

    def wake_at(self) -> datetime | None:
        """When to ask again if nothing happens; None when only an event can change anything."""
        return None if self._stopping else self._timers.earliest(self.tracks)

    def handle(self, event: ShootEvent, now: datetime) -> None:
        """Take note of what happened."""
        match event:
            case ShootsObserved(shoots, server_time):
                for track in self._read(shoots):
                    self._saw_shoot(track, shoots[track.target], server_time, now)
            case ShootsUnobserved(targets, error):
                for track in self._read(targets):
                    self._wait(track, Await(Where.GARDEN, f"the garden cannot be read: {error}"), now)
            case InsideObserved(target, inside):
                self._put(replace(self.tracks[target].with_inside(inside, now), phase=Phase.QUEUED))
            case Written():
                self._wrote(event, now)
            case NotWritten():
                self._not_wrote(event, now)

    def _put(self, track: Track) -> None:
        """Replace a shoot's track, and keep account of who is where."""
        for held, sign in ((self.tracks.get(track.target), -1), (track, 1)):
            if held is not None:
                self._in_flight += sign * (held.started and held.phase is not Phase.SETTLED)
                self._busy += sign * (held.phase is Phase.BUSY)
                self._settled += sign * (held.phase is Phase.SETTLED)
        self.tracks[track.target] = track
        if track.phase is Phase.QUEUED:
            self._queued[track.target] = None
        elif track.phase is Phase.WAITING:
            self._timers.set_for(track)

    def _next(self) -> Track | None:
        """The next shoot that may move: one that was looked at, or one that waited for the room there is now."""
        has_room = self._in_flight < self._limit
        queue = self._queued or (self._without_room if has_room else {})
        for target in queue:
            del queue[target]
            return self.tracks[target]
        return None

    def _move(self, track: Track, now: datetime) -> Action | None:
        """Bring one shoot as far as it can come without an answer from outside."""
        if suspended := self._rules.admission.suspended(track.target):
            self._put(track.hold(suspended, now))
            return None
        match next_step(track.desired, self._rules.overlay, track.observed, self._rules.prune):
            case Settled() as settled:
                self._settle(track, settled, now)
            case LookInside():
                return self._look_inside(track)
            case step:
                if held := self._held(track, step, now):
                    self._put(track.hold(held, now))
                    return None
                started = track if track.started else self._start(track, now)
                return self._take(started, step, now) if started else None
        return None

    def _held(self, track: Track, step: Write | Await | Unanswered, now: datetime) -> Held | None:
        """Why the shoot must not be written; an old look at it cannot tell whether what is pending is approved."""
        if isinstance(step, Await | Unanswered):
            return None
        held = self._rules.admission.held(track.desired, track.observed, step, now, begun=track.writes > 0)
        stale = not track.started and now - track.observed_at > FRESH
        return None if held and held.by is HeldBy.APPROVAL and stale else held

    def _start(self, track: Track, now: datetime) -> Track | None:
        """Let a shoot in that has something to do, if the wave has room; an old look at it is renewed first."""
        if self._in_flight >= self._limit:
            self._without_room[track.target] = None
            return None
        started = replace(track, started=True)
        if now - track.observed_at <= FRESH:
            return started
        self._put(replace(started, phase=Phase.WAITING, where=Where.GARDEN, look_at=now))
        return None

    def _take(self, track: Track, step: Write | Await | Unanswered, now: datetime) -> Action | None:
        match step:
            case Await():
                self._wait(track, step, now)
            case Unanswered():
                self._wait_for_answer(track, step, now)
            case write:
                return self._write(track, write, now)
        return None

    def _write(self, track: Track, write: Write, now: datetime) -> Action | None:
        what = subject(write)
        if track.written.count(what) >= REWRITES:
            message = (
                f"written {REWRITES} times and still not as declared: {what}. Somebody else changes it back, or the "
                "server stores it in other words"
            )
            self._settle(track, Settled(ShootOutcome.FAILED, message), now)
            return None
        self._put(replace(track, phase=Phase.BUSY, writing=what, unanswered_since=None, current_since=None))
        return WriteTo(track.target, write, track.observed.shoot)

    def _look_inside(self, track: Track) -> Action:
        if track.observed.shoot is None:
            raise ValueError(f"{track.target} does not exist and cannot be looked into")
        self._put(replace(track, phase=Phase.BUSY))
        return ObserveInside(track.target, track.observed.shoot)

    def _wait(self, track: Track, step: Await, now: datetime, unanswered_since: datetime | None = None) -> None:
        self._put(
            replace(
                track,
                phase=Phase.WAITING,
                where=step.where,
                look_at=now + self._rules.poll,
                give_up_at=track.give_up_at or now + self._rules.overlay.gate.timeout,
                current_since=None,
                unanswered_since=unanswered_since,
                message=step.message,
                hint=step.hint,
            )
        )

    def _wait_for_answer(self, track: Track, step: Unanswered, now: datetime) -> None:
        since = track.unanswered_since or now
        if now - since >= self._rules.overlay.gate.quarantine_after:
            message = f"not answering since {since:%H:%M:%S}: {step.message}"
            self._put(track.settle(ShootOutcome.QUARANTINED, message, now))
            return
        # The garden may tell why: it was hibernated or deleted meanwhile, or Gardener is at work on it.
        self._wait(track, Await(Where.GARDEN, step.message), now, unanswered_since=since)
        self._put(replace(self.tracks[track.target], look_at=now + pause(self._rules.poll, step.retry_after)))

    def _settle(self, track: Track, step: Settled, now: datetime) -> None:
        settled = track.settle(step.outcome, step.message, now)
        self._put(settled)
        if step.outcome is ShootOutcome.FAILED:
            self._failures.append(settled)
        if len(self._failures) > self.wave.max_failures:
            named = "; ".join(f"{failure.target}: {failure.message}" for failure in self._failures)
            self.stop(f"wave {self.wave.name}: {named}")

    def _due(self, now: datetime) -> list[Action]:
        """Looks whose time has come; shoots whose gate did not open in time fail."""
        actions: list[Action] = []
        garden = False
        for target in self._timers.pop_due(self.tracks, now):
            track = self.tracks[target]
            if track.give_up_at is not None and track.give_up_at <= now:
                self._settle(track, self._given_up(track), now)
            elif track.where is Where.GARDEN:
                garden = True
            else:
                actions.append(self._look_inside(track))
        return actions + self._look_at_garden(now) if garden else actions

    def _given_up(self, track: Track) -> Settled:
        hint = f". {track.hint}" if track.hint else ""
        timeout = self._rules.overlay.gate.timeout
        return Settled(ShootOutcome.FAILED, f"still waiting after {timeout}: {track.message}{hint}")

    def _look_at_garden(self, now: datetime) -> list[Action]:
        """One look at the garden for all shoots that are due, or would be soon."""
        soon = now + self._rules.poll / 2
        targets = tuple(
            track.target
            for track in self.tracks.values()
            if track.phase is Phase.WAITING
            and track.where is Where.GARDEN
            and (track.look_at is None or track.look_at <= soon)
            and track.target not in self._being_read
        )
        self._being_read |= set(targets)
        return [ObserveShoots(targets)] if targets else []

    def _read(self, targets: Iterable[Target]) -> list[Track]:
        """The shoots among these that the answer still matters to."""
        self._being_read -= set(targets)
        return [self.tracks[target] for target in targets if self.tracks[target].phase is not Phase.SETTLED]

    def _saw_shoot(self, track: Track, shoot: Manifest | None, server_time: datetime, now: datetime) -> None:
        if shoot is None and track.observed.shoot is not None:
            self._settle(track, Settled(ShootOutcome.FAILED, "the Shoot was deleted during the run"), now)
        else:
            self._put(replace(track.with_shoot(shoot, server_time, now), phase=Phase.QUEUED))

    def _wrote(self, event: Written, now: datetime) -> None:
        track = self.tracks[event.target]
        shoot = track.observed.shoot if event.shoot is None else event.shoot
        seen = track.with_shoot(shoot, track.observed.server_time, now)
        written = (*track.written, track.writing)
        seen = replace(seen, writes=track.writes + event.writes, written=written, conflicts=0, give_up_at=None)
        self._put(replace(seen, phase=Phase.QUEUED))

    def _not_wrote(self, event: NotWritten, now: datetime) -> None:
        track = self.tracks[event.target]
        track = replace(track, writes=track.writes + event.writes)
        match event.error:
            case Suspended(shoot=shoot) as error if shoot is not None:
                self._put(track.hold(Held(HeldBy.SUSPENSION, str(error)), now))
            case Suspended():
                self._wait(track, Await(Where.GARDEN, str(event.error)), now)
            case Conflict() if track.conflicts < CONFLICTS:
                again = replace(track, phase=Phase.WAITING, where=Where.GARDEN, look_at=now)
                self._put(replace(again, conflicts=track.conflicts + 1))
            case Conflict() | Unreachable() | Throttled():
                # Whether an unanswered write was done shows at the next look; it is not repeated blindly.
                asked = event.error.retry_after if isinstance(event.error, Throttled) else None
                self._wait(track, Await(Where.GARDEN, str(event.error)), now)
                self._put(replace(self.tracks[event.target], look_at=now + pause(self._rules.poll, asked)))
            case error:
                self._settle(track, Settled(ShootOutcome.FAILED, str(error)), now)
