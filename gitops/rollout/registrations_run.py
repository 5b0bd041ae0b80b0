"""The garden wave on its way: registrations are written once, then every seed must have caught up.

No I/O and no clock: it is told what happened and what time it is, and says what to do next.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from gitops.desired.compose import Desired
from gitops.errors import Conflict, Forbidden, GitopsError, Suspended, Throttled, Unreachable
from gitops.gardener.installation_gate import SeedVerdict
from gitops.plan.observed import ObservedRegistrations
from gitops.rollout.actions import (
    Action,
    ObserveRegistrations,
    RegistrationsEvent,
    RegistrationsObserved,
    RegistrationsUnobserved,
    RegistrationsWritten,
    WriteRegistrations,
)
from gitops.rollout.registrations_step import WriteAll, registrations_step, seed_verdicts
from gitops.rollout.step import Await, Settled, ShootOutcome
from gitops.rollout.timers import pause
from gitops.rollout.wave import CONFLICTS, Rules


class _Phase(Enum):
    DECIDING = "deciding"
    BUSY = "busy"
    WAITING = "waiting"
    SETTLED = "settled"


@dataclass(frozen=True)
class RegistrationsResult:
    """Where a run left the registrations."""

    outcome: ShootOutcome
    writes: int
    message: str
    seeds: tuple[SeedVerdict, ...]
    """How each extension fared, seed by seed, when it was looked at last."""


class RegistrationsRun:
    """The registrations of one overlay."""

    def __init__(self, desired: Desired, observed: ObservedRegistrations, rules: Rules, now: datetime) -> None:
        self._desired = desired
        self._observed = observed
        self._rules = rules
        self._phase = _Phase.DECIDING
        self._outcome = ShootOutcome.NOT_STARTED
        self._message = ""
        self._writes = self._conflicts = 0
        self._look_at: datetime | None = None
        self._give_up_at: datetime | None = None
        self._silent_since: datetime | None = None
        self._stopping = False
        self._judge(now)

    @property
    def passed(self) -> bool:
        """Whether the waves may begin."""
        return self._outcome is ShootOutcome.CONVERGED

    @property
    def failed(self) -> str:
        """Why no wave may begin; empty while that is open."""
        return self._message if self._outcome is ShootOutcome.FAILED else ""

    @property
    def unreadable(self) -> bool:
        """Whether it failed because nobody could look, which says nothing about the extensions."""
        return bool(self.failed) and self._silent_since is not None

    @property
    def over(self) -> bool:
        """Whether nothing is under way and nothing will be."""
        return self._phase is _Phase.SETTLED or (self._stopping and self._phase is not _Phase.BUSY)

    def stop(self) -> None:
        """Write nothing more; what is under way ends by itself."""
        self._stopping = True

    def actions(self, now: datetime) -> list[Action]:
        """What to do now; each action is answered by one event."""
        if self._stopping:
            return []
        if self._phase is _Phase.WAITING:
            return self._due(now)
        return self._decide(now) if self._phase is _Phase.DECIDING else []

    def wake_at(self) -> datetime | None:
        """When to ask again if nothing happens; None when only an event can change anything."""
        times = (self._look_at, self._give_up_at) if self._phase is _Phase.WAITING and not self._stopping else ()
        return min((time for time in times if time is not None), default=None)

    def handle(self, event: RegistrationsEvent, now: datetime) -> None:
        """Take note of what happened."""
        match event:
            case RegistrationsObserved(observed):
                self._observed, self._silent_since = observed, None
                self._phase = _Phase.DECIDING
                self._judge(now)
            case RegistrationsUnobserved(error):
                self._unanswered(error, now)
            case RegistrationsWritten(writes, error):
                self._writes += writes
                self._wrote(error, now)

    def result(self) -> RegistrationsResult:
        """What was done, so far or in the end."""
        under_way = self._outcome is ShootOutcome.NOT_STARTED and (self._writes or self._message)
        outcome = ShootOutcome.WAITING if under_way else self._outcome
        return RegistrationsResult(outcome, self._writes, self._message, self._seeds)

    def _judge(self, now: datetime) -> None:
        self._seeds = seed_verdicts(self._desired, self._observed, self._observed.server_time or now)

    def _decide(self, now: datetime) -> list[Action]:
        match registrations_step(self._desired, self._observed, self._observed.server_time or now):
            case WriteAll(writes):
                self._phase, self._give_up_at = _Phase.BUSY, None
                return [WriteRegistrations(writes)]
            case Await(message=message):
                self._wait(message, now)
            case Settled(outcome, message):
                self._settle(outcome, message)
        return []

    def _due(self, now: datetime) -> list[Action]:
        if self._give_up_at is not None and self._give_up_at <= now:
            timeout = self._rules.overlay.gate.timeout
            self._settle(ShootOutcome.FAILED, f"still waiting after {timeout}: {self._message}")
        elif self._look_at is not None and self._look_at <= now:
            self._phase = _Phase.BUSY
            return [ObserveRegistrations()]
        return []

    def _wait(self, message: str, now: datetime) -> None:
        self._phase, self._message = _Phase.WAITING, message
        self._look_at = now + self._rules.poll
        self._give_up_at = self._give_up_at or now + self._rules.overlay.gate.timeout

    def _settle(self, outcome: ShootOutcome, message: str) -> None:
        self._phase, self._outcome, self._message = _Phase.SETTLED, outcome, message

    def _unanswered(self, error: GitopsError, now: datetime) -> None:
        since = self._silent_since = self._silent_since or now
        if isinstance(error, Forbidden) or now - since >= self._rules.overlay.gate.quarantine_after:
            self._settle(ShootOutcome.FAILED, f"the registrations cannot be read any more: {error}")
        else:
            self._wait(f"the registrations cannot be read: {error}", now)

    def _wrote(self, error: GitopsError | None, now: datetime) -> None:
        match error:
            case None:
                self._conflicts = 0
                # Others see the write a moment later than we do, such as the admission of Shoots.
                self._wait("what was written is to be looked at", now)
            case Conflict() if self._conflicts < CONFLICTS:
                self._conflicts += 1
                self._wait("an object changed while it was to be written", now)
                self._look_at = now
            case Suspended():
                self._wait(str(error), now)
            case Conflict() | Unreachable() | Throttled():
                # Whether an unanswered write was done shows at the next look; it is not repeated blindly.
                self._wait(str(error), now)
                asked = error.retry_after if isinstance(error, Throttled) else None
                self._look_at = now + pause(self._rules.poll, asked)
            case _:
                self._settle(ShootOutcome.FAILED, str(error))
