"""A whole rollout: waves one after the other, soak between them, and the outcome.

No I/O and no clock, so that rollouts over thousands of shoots run in tests on virtual time, and always the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from gitops.desired.compose import Desired
from gitops.desired.overlay import Wave
from gitops.errors import Forbidden, GitopsError, Suspended
from gitops.manifest import Target
from gitops.plan.observed import NO_REGISTRATIONS, Observed, ObservedRegistrations
from gitops.rollout.actions import (
    Action,
    Event,
    NotWritten,
    RegistrationsEvent,
    RegistrationsWritten,
    ShootsObserved,
    ShootsUnobserved,
    Written,
)
from gitops.rollout.admission import waiting_text
from gitops.rollout.registrations_run import RegistrationsResult, RegistrationsRun
from gitops.rollout.step import Settled, ShootOutcome, next_step
from gitops.rollout.track import Phase, Track
from gitops.rollout.wave import FRESH, Rules, WaveRun


class WaveOutcome(Enum):
    """Where a run left one wave."""

    PASSED = "Passed"
    WAITING = "Waiting"
    STOPPED = "Stopped"
    NOT_STARTED = "NotStarted"


class RunOutcome(Enum):
    """How a run ended."""

    CONVERGED = "Converged"
    WAITING = "Waiting"
    """Not converged yet, and nothing is wrong."""
    STOPPED = "Stopped"
    """A gate failed: some shoot, perhaps one of those that the wave allows, is not as it should be."""
    FAILED = "Failed"
    """The run itself could not go on."""


@dataclass(frozen=True)
class ShootResult:
    """Where a run left one shoot."""

    shoot: Target
    outcome: ShootOutcome
    writes: int
    message: str


@dataclass(frozen=True)
class WaveResult:
    """Where a run left one wave."""

    name: str
    outcome: WaveOutcome
    shoots: tuple[ShootResult, ...]


@dataclass(frozen=True)
class Result:
    """What a run did."""

    outcome: RunOutcome
    message: str
    """Why it ended as it did; empty when it converged."""
    waves: tuple[WaveResult, ...]
    registrations: RegistrationsResult | None = None
    """What came before all waves; None where no registration is declared."""
    resumes: datetime | None = None
    """When a window opens that shoots wait for; None where none does, or somebody must do something first."""

    @property
    def writes(self) -> int:
        """Objects written."""
        before = self.registrations.writes if self.registrations else 0
        return before + sum(shoot.writes for wave in self.waves for shoot in wave.shoots)


def garden_wave_outcome(result: RegistrationsResult) -> WaveOutcome:
    """What the outcome of the registrations is for the wave that they are."""
    outcomes = {
        ShootOutcome.CONVERGED: WaveOutcome.PASSED,
        ShootOutcome.FAILED: WaveOutcome.STOPPED,
        ShootOutcome.NOT_STARTED: WaveOutcome.NOT_STARTED,
    }
    return outcomes.get(result.outcome, WaveOutcome.WAITING)


class Rollout:
    """Says what to do next, given what happened and what time it is."""

    def __init__(
        self,
        desired: Desired,
        observed: Mapping[Target, Observed],
        rules: Rules,
        now: datetime,
        registrations: ObservedRegistrations = NO_REGISTRATIONS,
    ) -> None:
        self._desired = desired
        self._observed = observed
        self._rules = rules
        self._begun = now
        self._before = RegistrationsRun(desired, registrations, rules, now) if desired.registrations else None
        self._waves_begun = self._before is None
        self._waves = list(desired.overlay.waves)
        self._passed: list[WaveRun] = []
        self._present = self._open(self._waves[0], now)
        self._soaking_until: datetime | None = None
        self._garden_silent_since: datetime | None = None
        self._ending: tuple[RunOutcome, str] | None = None

    @property
    def over(self) -> bool:
        """Whether the run has ended and nothing is under way."""
        return self._ending is not None and self._under_way.over

    @property
    def ending(self) -> tuple[RunOutcome, str] | None:
        """How and why the run ends; None while it goes on."""
        return self._ending

    @property
    def wave(self) -> Wave:
        """The present wave."""
        return self._present.wave

    @property
    def registrations(self) -> RegistrationsResult | None:
        """What comes before all waves, as far as it has come; None where no registration is declared."""
        return self._before.result() if self._before else None

    @property
    def waves_begun(self) -> bool:
        """Whether the registrations are done with, and the present wave is one of shoots."""
        return self._waves_begun

    @property
    def soaking_until(self) -> datetime | None:
        """Until when the present wave must stay as it is; None while it does not soak."""
        return self._soaking_until

    @property
    def tracks(self) -> Mapping[Target, Track]:
        """The shoots of the present wave."""
        return self._present.tracks

    def stop(self, outcome: RunOutcome, reason: str) -> None:
        """End the run: write nothing more, let what is under way end by itself."""
        if self._ending is None:
            self._ending = (outcome, reason)
            self._present.stop(reason)
            if self._before is not None:
                self._before.stop()

    def actions(self, now: datetime) -> list[Action]:
        """What to do now; each action is answered by one event."""
        if self._before is not None and not self._waves_begun:
            actions = self._before.actions(now)
            if self._before.failed:
                outcome = RunOutcome.FAILED if self._before.unreadable else RunOutcome.STOPPED
                self.stop(outcome, f"garden: {self._before.failed}")
            if not self._before.passed:
                return actions
            self._waves_begun = True
            self._present = self._open(self._waves[0], now)
        return self._wave_actions(now)

    def _wave_actions(self, now: datetime) -> list[Action]:
        actions: list[Action] = []
        while self._ending is None and not actions:
            if self._soaking_until is not None and now < self._soaking_until:
                return []
            actions = self._present.actions(now)
            if self._present.stopped:
                self.stop(RunOutcome.STOPPED, self._present.stopped)
            if not self._present.over:
                break
            self._next_wave(now)
        return actions

    def wake_at(self) -> datetime | None:
        """When to ask again if nothing happens; None when only an event can change anything."""
        if self._before is not None and not self._waves_begun:
            return self._before.wake_at()
        return self._soaking_until or self._present.wake_at()

    def handle(self, event: Event, now: datetime) -> None:
        """Take note of what happened."""
        error = event.error if isinstance(event, NotWritten | RegistrationsWritten) else None
        if isinstance(error, Suspended) and error.shoot is None:
            self.stop(RunOutcome.WAITING, str(error))
        if isinstance(event, RegistrationsEvent):
            if self._before is not None:
                self._before.handle(event, now)
            return
        self._present.handle(event, now)
        if isinstance(event, ShootsObserved | Written):
            self._garden_silent_since = None
        if isinstance(event, ShootsUnobserved):
            self._garden_is_silent(event.error, now)

    def result(self) -> Result:
        """What the run did, so far or in the end."""
        outcome, message = self._ending or (RunOutcome.WAITING, "the run is still going on")
        runs = [*self._passed, *([self._present] if self._waves_begun else [])]
        waves = [self._wave_result(run) for run in runs[: len(self._waves)]]
        waves += [_not_started(self._desired, wave) for wave in self._waves[len(waves) :]]
        openings = [held.until for _, held in self._present.held if held.until is not None] if self.over else []
        resumes = min(openings, default=None) if outcome is RunOutcome.WAITING else None
        return Result(outcome, message, tuple(waves), self.registrations, resumes)

    @property
    def _under_way(self) -> WaveRun | RegistrationsRun:
        """What the run is at."""
        return self._present if self._before is None or self._waves_begun else self._before

    def _open(self, wave: Wave, now: datetime) -> WaveRun:
        shoots = [s for s in self._desired.shoots.values() if s.wave == wave.name]
        tracks = (Track(shoot, self._observed[shoot.target], self._begun) for shoot in shoots)
        fresh = now - self._begun <= FRESH
        return WaveRun(wave, tracks if fresh else (track.again(now) for track in tracks), self._rules)

    def _next_wave(self, now: datetime) -> None:
        """The present wave is settled: soak, look at it once more, and go on."""
        if self._ending is not None:
            return
        if self._present.held:
            self._ending = self._final()
            return
        if self._soaking_until is None and (until := self._soak_end(now)) is not None:
            self._soaking_until = until
            return
        if self._soaking_until is not None:
            self._soaking_until = None
            again = (track.again(now) for track in self._present.tracks.values())
            self._present = WaveRun(self._present.wave, again, self._rules)
            return
        self._passed.append(self._present)
        if len(self._passed) == len(self._waves):
            self._ending = self._final()
            return
        self._present = self._open(self._waves[len(self._passed)], now)

    def _soak_end(self, now: datetime) -> datetime | None:
        """Until when the present wave must stay as it is; None when there is nothing to wait for."""
        soak = self._present.wave.soak
        if not soak or not self._later_work():
            return None
        ends = [t.current_since + soak for t in self._present.tracks.values() if t.current_since is not None]
        end = max(ends, default=now)
        return end if end > now else None

    def _later_work(self) -> bool:
        later = {wave.name for wave in self._waves[len(self._passed) + 1 :]}
        return any(
            not isinstance(next_step(shoot, self._rules.overlay, self._observed[target], self._rules.prune), Settled)
            for target, shoot in self._desired.shoots.items()
            if shoot.wave in later
        )

    def _garden_is_silent(self, error: GitopsError, now: datetime) -> None:
        since = self._garden_silent_since = self._garden_silent_since or now
        patience = self._rules.overlay.gate.quarantine_after
        if isinstance(error, Forbidden) or now - since >= patience:
            self.stop(RunOutcome.FAILED, f"the garden cannot be read any more: {error}")

    def _final(self) -> tuple[RunOutcome, str]:
        runs = dict.fromkeys([*self._passed, self._present])
        tracks = [track for run in runs for track in run.tracks.values()]
        ending, reasons = RunOutcome.CONVERGED, []
        if held := self._present.held:
            digest = "" if self.result().writes else self._rules.digest
            waiting = waiting_text(held, self._rules.overlay.name, digest)
            ending, reasons = RunOutcome.WAITING, [f"wave {self._present.wave.name}: {waiting}"]
        for outcome, worse in (
            (ShootOutcome.FAILED, RunOutcome.STOPPED),
            (ShootOutcome.QUARANTINED, RunOutcome.WAITING),
            (ShootOutcome.DEFERRED, RunOutcome.WAITING),
        ):
            if named := [f"{track.target}: {track.message}" for track in tracks if track.outcome is outcome]:
                return worse, "; ".join([*named, *reasons])
        return ending, "; ".join(reasons)

    def _wave_result(self, run: WaveRun) -> WaveResult:
        stopped = self._ending is not None and self._ending[0] is RunOutcome.STOPPED
        unfinished = WaveOutcome.STOPPED if stopped else WaveOutcome.WAITING
        outcome = WaveOutcome.PASSED if run in self._passed else unfinished
        return WaveResult(run.wave.name, outcome, tuple(map(_shoot_result, run.tracks.values())))


def not_begun(desired: Desired, outcome: RunOutcome, message: str) -> Result:
    """The result of a run that ends before its first look."""
    return Result(outcome, message, tuple(_not_started(desired, wave) for wave in desired.overlay.waves))


def _not_started(desired: Desired, wave: Wave) -> WaveResult:
    shoots = (shoot.target for shoot in desired.shoots.values() if shoot.wave == wave.name)
    results = tuple(ShootResult(target, ShootOutcome.NOT_STARTED, 0, "") for target in shoots)
    return WaveResult(wave.name, WaveOutcome.NOT_STARTED, results)


def _shoot_result(track: Track) -> ShootResult:
    """Of a shoot that was under way when the run ended, only that it waits is known."""
    unfinished = track.started and track.phase is not Phase.SETTLED
    return ShootResult(track.target, ShootOutcome.WAITING if unfinished else track.outcome, track.writes, track.message)
