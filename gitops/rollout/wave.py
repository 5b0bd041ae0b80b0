"""One wave on its way: which of its shoots may move, and when the wave has had enough failures.

No I/O and no clock: it is told what happened and what time it is, and says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitops.desired.overlay import Overlay, Wave
from gitops.errors import Conflict, Throttled, Unreachable
from gitops.manifest import Manifest, Target
from gitops.rollout.actions import (
    Action,
    Event,
    InsideObserved,
    NotWritten,
    ObserveInside,
    ObserveShoots,
    ShootsObserved,
    ShootsUnobserved,
    WriteTo,
    Written,
)
from gitops.rollout.step import (
    Await,
    LookInside,
    Prune,
    Settled,
    ShootOutcome,
    Unanswered,
    Where,
    Write,
    next_step,
)
from gitops.rollout.track import Phase, Track

FRESH = timedelta(seconds=30)
"""A shoot that was looked at longer ago is looked at again before it is written."""
CONFLICTS = 5
"""After so many refused writes in a row the next attempt waits for the next look."""


@dataclass(frozen=True)
class Rules:
    """What holds for a whole run."""

    overlay: Overlay
    prune: Prune
    poll: timedelta
    """Between two looks at something that is being waited for."""


class WaveRun:
    """The shoots of one wave."""

    def __init__(self, wave: Wave, tracks: Iterable[Track], rules: Rules) -> None:
        self.wave = wave
        self.tracks: dict[Target, Track] = {track.target: track for track in tracks}
        self._rules = rules
        self._limit = wave.max_concurrent.of(len(self.tracks)) if self.tracks else 1
        self._reading: set[Target] = set()
        self._stopping = ""

    @property
    def stopped(self) -> str:
        """Why nothing more is written; empty while the wave goes on."""
        return self._stopping

    @property
    def over(self) -> bool:
        """Whether nothing is under way and nothing will be."""
        if self._stopping:
            return not self._reading and all(track.phase is not Phase.BUSY for track in self.tracks.values())
        return all(track.phase is Phase.SETTLED for track in self.tracks.values())

    @property
    def failures(self) -> tuple[Track, ...]:
        """The shoots that failed."""
        return tuple(track for track in self.tracks.values() if track.outcome is ShootOutcome.FAILED)

    def stop(self, reason: str) -> None:
        """Write nothing more; what is under way ends by itself."""
        self._stopping = self._stopping or reason

    def actions(self, now: datetime) -> list[Action]:
        """What to do now; each action is answered by one event."""
        if self._stopping:
            return []
        self._quit_waiting(now)
        moves = [self._move(target, now) for target in list(self.tracks)]
        return [move for move in moves if move is not None] + self._readings(now)

    def wake_at(self) -> datetime | None:
        """When to ask again if nothing happens; None when only an event can change anything."""
        looks = [t.look_at for t in self.tracks.values() if t.phase is Phase.WAITING and t.look_at is not None]
        limits = [t.since + self._rules.overlay.gate.timeout for t in self.tracks.values() if t.since is not None]
        return None if self._stopping else min((*looks, *limits), default=None)

    def handle(self, event: Event, now: datetime) -> None:
        """Take note of what happened."""
        match event:
            case ShootsObserved(shoots, server_time):
                self._reading -= shoots.keys()
                for target, shoot in shoots.items():
                    if self.tracks[target].phase is not Phase.SETTLED:
                        self._saw_shoot(self.tracks[target], shoot, server_time, now)
            case ShootsUnobserved(targets, error):
                self._reading -= set(targets)
                for target in targets:
                    if self.tracks[target].phase is not Phase.SETTLED:
                        self._look_later(target, f"the garden cannot be read: {error}", now)
            case InsideObserved(target, inside):
                self._put(replace(self.tracks[target].with_inside(inside, now), phase=Phase.QUEUED))
            case Written():
                self._wrote(event, now)
            case NotWritten():
                self._not_wrote(event, now)

    def _put(self, track: Track) -> None:
        self.tracks[track.target] = track

    def _move(self, target: Target, now: datetime) -> Action | None:
        """Bring one shoot as far as it can come without an answer from outside."""
        track = self.tracks[target]
        if self._stopping:
            return None
        if track.phase is Phase.WAITING and track.where is Where.SHOOT and _due(track, now):
            return self._look_inside(track)
        if track.phase is not Phase.QUEUED:
            return None
        step = next_step(track.desired, self._rules.overlay, track.observed, self._rules.prune)
        if isinstance(step, Settled):
            self._settle(track, step, now)
            return None
        if isinstance(step, LookInside):
            return self._look_inside(track)
        return self._take(track, step, now) if track.started or self._start(track, now) else None

    def _start(self, track: Track, now: datetime) -> bool:
        """Let a shoot in that has something to do, if the wave has room; an old look at it is renewed first."""
        in_flight = sum(other.started and other.phase is not Phase.SETTLED for other in self.tracks.values())
        if in_flight >= self._limit:
            return False
        fresh = now - track.observed_at <= FRESH
        again = replace(track, started=True, phase=Phase.WAITING, where=Where.GARDEN, look_at=now)
        self._put(replace(track, started=True) if fresh else again)
        return fresh

    def _take(self, track: Track, step: Write | Await | Unanswered, now: datetime) -> Action | None:
        track = self.tracks[track.target]
        match step:
            case Await(where, message, hint):
                self._wait(replace(track, hint=hint), where, message, now)
            case Unanswered():
                self._wait_for_answer(track, step, now)
            case write:
                self._put(replace(track, phase=Phase.BUSY, since=None, unanswered_since=None, current_since=None))
                return WriteTo(track.target, write, track.observed.shoot)
        return None

    def _look_inside(self, track: Track) -> Action | None:
        if track.observed.shoot is None:
            return None
        self._put(replace(track, phase=Phase.BUSY))
        return ObserveInside(track.target, track.observed.shoot)

    def _wait(self, track: Track, where: Where, message: str, now: datetime) -> None:
        self._put(
            replace(
                track,
                phase=Phase.WAITING,
                where=where,
                look_at=now + self._rules.poll,
                since=track.since or now,
                current_since=None,
                unanswered_since=None,
                message=message,
            )
        )

    def _wait_for_answer(self, track: Track, step: Unanswered, now: datetime) -> None:
        since = track.unanswered_since or now
        if now - since >= self._rules.overlay.gate.quarantine_after:
            message = f"not answering since {since:%H:%M:%S}: {step.message}"
            self._put(track.settle(ShootOutcome.QUARANTINED, message, now))
            return
        self._wait(track, Where.SHOOT, step.message, now)
        pause = max(self._rules.poll, timedelta(seconds=step.retry_after or 0))
        self._put(replace(self.tracks[track.target], unanswered_since=since, look_at=now + pause))

    def _settle(self, track: Track, step: Settled, now: datetime) -> None:
        self._put(track.settle(step.outcome, step.message, now))
        if len(self.failures) > self.wave.max_failures:
            named = "; ".join(f"{failure.target}: {failure.message}" for failure in self.failures)
            self.stop(f"wave {self.wave.name}: {named}")

    def _quit_waiting(self, now: datetime) -> None:
        """Fail the shoots whose gate did not open in time."""
        timeout = self._rules.overlay.gate.timeout
        for track in list(self.tracks.values()):
            if track.phase is Phase.WAITING and track.since is not None and now - track.since >= timeout:
                message = f"still waiting after {timeout}: {track.message}" + (f". {track.hint}" if track.hint else "")
                self._settle(track, Settled(ShootOutcome.FAILED, message), now)

    def _readings(self, now: datetime) -> list[Action]:
        """One look at the garden for all shoots that wait for it, once the first of them is due."""
        waiting = [
            track
            for track in self.tracks.values()
            if track.phase is Phase.WAITING and track.where is Where.GARDEN and track.target not in self._reading
        ]
        if self.stopped or not any(_due(track, now) for track in waiting):
            return []
        targets = tuple(track.target for track in waiting)
        self._reading |= set(targets)
        return [ObserveShoots(targets)]

    def _saw_shoot(self, track: Track, shoot: Manifest | None, server_time: datetime, now: datetime) -> None:
        if shoot is None and track.observed.shoot is not None:
            self._settle(track, Settled(ShootOutcome.FAILED, "the Shoot was deleted during the run"), now)
        else:
            self._put(replace(track.with_shoot(shoot, server_time, now), phase=Phase.QUEUED))

    def _look_later(self, target: Target, message: str, now: datetime) -> None:
        self._wait(self.tracks[target], Where.GARDEN, message, now)

    def _wrote(self, event: Written, now: datetime) -> None:
        track = self.tracks[event.target]
        shoot = track.observed.shoot if event.shoot is None else event.shoot
        seen = track.with_shoot(shoot, track.observed.server_time, now)
        self._put(replace(seen, phase=Phase.QUEUED, writes=track.writes + event.writes, conflicts=0, since=None))

    def _not_wrote(self, event: NotWritten, now: datetime) -> None:
        track = self.tracks[event.target]
        track = replace(track, writes=track.writes + event.writes)
        match event.error:
            case Conflict() if track.conflicts < CONFLICTS:
                waiting = replace(track, phase=Phase.WAITING, where=Where.GARDEN, look_at=now)
                self._put(replace(waiting, conflicts=track.conflicts + 1))
            case Conflict() | Unreachable() | Throttled():
                # Whether an unanswered write was done shows at the next look; it is not repeated blindly.
                self._put(track)
                self._look_later(event.target, str(event.error), now)
            case error:
                self._settle(track, Settled(ShootOutcome.FAILED, str(error)), now)


def _due(track: Track, now: datetime) -> bool:
    return track.look_at is not None and track.look_at <= now
