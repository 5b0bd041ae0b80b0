"""How far a rollout has come: noted in the run's thread at no cost, told in any other when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from gitops.manifest import Target
from gitops.plan.changes import WavePlan
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import Rollout, WaveOutcome, WaveResult
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase, Track

UNDER_WAY = "UnderWay"
"""Of a shoot, a wave or a run that somebody works on: the one state that no record has."""
SOAKING = "Soaking"
"""Of a wave all of whose shoots are settled, and that must stay so for a while."""
STATES = (UNDER_WAY, *(outcome.value for outcome in ShootOutcome))
"""What a shoot can be, while a run goes on and after it."""


@dataclass(frozen=True)
class ShootState:
    """One shoot now."""

    shoot: Target
    state: str
    """One of `STATES`."""
    writes: int
    message: str


@dataclass(frozen=True)
class WaveState:
    """One wave now."""

    name: str
    state: str
    """`UNDER_WAY`, `SOAKING`, or a wave's outcome by contract."""
    shoots: tuple[ShootState, ...]
    soaking_until: datetime | None = None
    unlisted: bool = False
    """Whether the record, which has a limit, left out the converged shoots."""

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Shoots by state, only states that occur."""
        found = Counter(shoot.state for shoot in self.shoots)
        return {state: found[state] for state in STATES if found[state]}

    def at_rest(self) -> WaveState:
        """The same once nobody works on it any more."""
        waiting = WaveOutcome.WAITING.value
        shoots = (replace(shoot, state=waiting) if shoot.state == UNDER_WAY else shoot for shoot in self.shoots)
        state = waiting if self.state in {UNDER_WAY, SOAKING} else self.state
        return replace(self, state=state, shoots=tuple(shoots), soaking_until=None)


@dataclass(frozen=True)
class Moment:
    """A rollout at one moment. What it refers to is replaced and never changed, but for `tracks`, which is copied."""

    before: tuple[WaveState, ...]
    """Waves that are done with."""
    wave: str
    """The present one."""
    state: str
    tracks: Mapping[Target, Track]
    """Its shoots; the rollout goes on replacing them."""
    after: tuple[WaveState, ...]
    """Waves whose turn has not come."""
    soaking_until: datetime | None
    ending: str
    """Why the rollout ends; empty while it goes on."""
    registrations: RegistrationsResult | None
    """What comes before all waves; None where no registration is declared."""

    def waves(self) -> tuple[WaveState, ...]:
        """Every wave."""
        shoots = tuple(map(shoot_state, list(self.tracks.values())))
        return (*self.before, WaveState(self.wave, self.state, shoots, self.soaking_until), *self.after)


class Progress:
    """Follows one rollout. It may be told and asked by different threads.

    Attributes:
        moment: where the rollout is; None before it has moved.
    """

    def __init__(self) -> None:
        self.moment: Moment | None = None

    def moved(self, rollout: Rollout) -> Mapping[Target, Track]:
        """Take note of where a rollout is.

        Returns:
            The tracks of a wave that is done with since the last time; empty where none is.
        """
        last, wave = self.moment, rollout.wave.name
        done: Mapping[Target, Track] = {}
        if last is None or last.wave != wave:
            waves = rollout.result().waves
            before = tuple(wave_state(w) for w in waves if w.name != wave and w.outcome is WaveOutcome.PASSED)
            after = tuple(wave_state(w) for w in waves if w.name != wave and w.outcome is WaveOutcome.NOT_STARTED)
            done = last.tracks if last is not None else {}
        else:
            before, after = last.before, last.after
        soaking = rollout.soaking_until
        state = WaveOutcome.NOT_STARTED.value if not rollout.waves_begun else SOAKING if soaking else UNDER_WAY
        ending = rollout.ending[1] if rollout.ending else ""
        registrations = rollout.registrations
        self.moment = Moment(before, wave, state, rollout.tracks, after, soaking, ending, registrations)
        return done


def wave_not_started(wave: WavePlan) -> WaveState:
    """A wave of a plan that no run has begun."""
    state = WaveOutcome.NOT_STARTED.value
    return WaveState(wave.name, state, tuple(ShootState(shoot.shoot, state, 0, "") for shoot in wave.shoots))


def wave_state(wave: WaveResult) -> WaveState:
    """A wave as a run left it."""
    shoots = (ShootState(s.shoot, s.outcome.value, s.writes, s.message) for s in wave.shoots)
    return WaveState(wave.name, wave.outcome.value, tuple(shoots))


def shoot_state(track: Track) -> ShootState:
    """A shoot of the present wave."""
    if track.phase is Phase.SETTLED:
        return ShootState(track.target, track.outcome.value, track.writes, track.message)
    if not track.started:  # once its wave has soaked, it is looked at once more: till then it is what it was
        before = track.outcome is not ShootOutcome.NOT_STARTED
        return ShootState(track.target, track.outcome.value, track.writes, track.message if before else "")
    message = f"writing {track.writing}" if track.phase is Phase.BUSY and track.writing else track.message
    return ShootState(track.target, UNDER_WAY, track.writes, message)
