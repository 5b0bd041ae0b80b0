"""Where every shoot of an overlay stands, from the last record and what is observed now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitops.desired.compose import Desired
from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.plan.changes import Action, Plan, ShootPlan
from gitops.plan.document import API_VERSION
from gitops.plan.observed import Observed
from gitops.report.control import Controlled, control_document
from gitops.report.next_step import step_of
from gitops.report.registrations_status import RegistrationsStatus, registrations_document
from gitops.report.standing import Standing, settled_standing
from gitops.report.words import counted
from gitops.rollout.step import (
    ApplyObjects,
    Await,
    CreateShoot,
    LookInside,
    PatchShoot,
    PrepareNodes,
    PruneObjects,
    Settled,
    ShootOutcome,
    Step,
    Unanswered,
    Write,
)


@dataclass(frozen=True)
class ShootStatus:
    """One shoot now."""

    shoot: Target
    wave: str
    in_sync: bool | None
    """Whether a run would write nothing; None where that cannot be known now."""
    standing: Standing
    message: str
    last_outcome: str | None
    """What the last run made of it, such as `Converged`; None when no run is known or it did not know the shoot."""


@dataclass(frozen=True)
class OverlayStatus:
    """One overlay now."""

    overlay: str
    revision: str
    """The commit that was looked at, 40 hex digits."""
    shoots: tuple[ShootStatus, ...]
    """In the order of the waves."""
    last: Mapping[str, Any] | None
    """The last record, by contract; None when there is none."""
    control: Controlled | None = None
    """What people ask, and what shoots wait for; None where nobody looked."""
    registrations: RegistrationsStatus | None = None
    """What comes before all waves; None where none is declared, or nobody looked."""


def overlay_status(
    desired: Desired, observed: Mapping[Target, Observed], plan: Plan, last: Mapping[str, Any] | None
) -> OverlayStatus:
    """Where every shoot stands. Nothing is asked of any server.

    Args:
        desired: what git declares.
        observed: every shoot of it.
        plan: drawn from the two.
        last: the last record, by contract; None when the overlay never ran.
    """
    outcomes = _last_outcomes(last) if last is not None else _NO_OUTCOMES
    shoots = tuple(
        _shoot_status(shoot, wave.name, step_of(desired, observed, shoot), outcomes)
        for wave in plan.waves
        for shoot in wave.shoots
    )
    return OverlayStatus(plan.overlay, plan.revision, shoots, last)


def shoot_status(
    desired: Desired, observed: Mapping[Target, Observed], plan: ShootPlan, last: Mapping[str, Any] | None
) -> ShootStatus:
    """Where one shoot stands; the arguments are those of `overlay_status`, but for its own part of the plan."""
    outcomes = _last_outcomes(last) if last is not None else _NO_OUTCOMES
    return _shoot_status(plan, desired.shoots[plan.shoot].wave, step_of(desired, observed, plan), outcomes)


def status_document(status: OverlayStatus) -> dict[str, Any]:
    """The answer of `status -o json`."""
    last = status.last
    keys = ("revision", "digest", "outcome", "message", "started", "finished")
    return {
        "apiVersion": API_VERSION,
        "kind": "Status",
        "overlay": status.overlay,
        "revision": status.revision,
        "lastRun": None if last is None else {key: last.get(key) for key in keys},
        **({} if status.control is None else {"control": control_document(status.control)}),
        **({} if status.registrations is None else {"registrations": registrations_document(status.registrations)}),
        "shoots": [
            {
                "shoot": shoot.shoot,
                "wave": shoot.wave,
                "inSync": shoot.in_sync,
                "verdict": shoot.standing.value,
                "message": shoot.message,
                "lastOutcome": shoot.last_outcome,
                **({} if status.control is None else {"next": _next_document(shoot, status.control)}),
            }
            for shoot in status.shoots
        ],
    }


def next_action(status: ShootStatus, control: Controlled | None = None) -> str:
    """What the next run does about a shoot by itself.

    Args:
        status: how it is now.
        control: what people ask; None where nobody looked.
    """
    if control is not None and control.suspension is not None:
        return f"nothing: the overlay is suspended {control.suspension}"
    if control is not None and (held := control.held.get(status.shoot)):
        return f"nothing: {held.message}"
    words = {
        Standing.CURRENT: "nothing: it is as declared, and every gate is open",
        Standing.PENDING: status.message,
        Standing.IN_PROGRESS: f"wait: {status.message}",
        Standing.FAILED: f"nothing more until this is mended: {status.message}",
        Standing.DEFERRED: f"go on without it: {status.message}",
        Standing.UNKNOWN: f"look at it again: {status.message}",
    }
    return words[status.standing]


def _next_document(shoot: ShootStatus, control: Controlled) -> dict[str, Any]:
    """What the next run does, from when on where that depends on time, and what somebody types for it to do more."""
    held = control.held.get(shoot.shoot)
    until = held.until if held is not None and control.suspension is None else None
    return {
        "message": next_action(shoot, control),
        "at": timestamp(until) if until is not None else None,
        "command": control.command(shoot.shoot) or None,
    }


@dataclass(frozen=True)
class _Outcomes:
    """Outcomes of the last run."""

    shoots: Mapping[Target, str]
    abridged: frozenset[str]
    """Waves of whose shoots the record, which has a limit, holds those only that are not converged."""

    def of(self, shoot: Target, wave: str) -> str | None:
        unlisted = ShootOutcome.CONVERGED.value if wave in self.abridged else None
        return self.shoots.get(shoot, unlisted)


_NO_OUTCOMES = _Outcomes({}, frozenset())


def _last_outcomes(record: Mapping[str, Any]) -> _Outcomes:
    waves = record.get("waves") or []
    shoots = {shoot["shoot"]: shoot["outcome"] for wave in waves for shoot in wave["shoots"]}
    return _Outcomes(shoots, frozenset(wave["name"] for wave in waves if wave.get("abridged")))


def _shoot_status(plan: ShootPlan, wave: str, step: Step, outcomes: _Outcomes) -> ShootStatus:
    standing, message = _standing(step)
    if standing is Standing.UNKNOWN and not message:
        message = next(_reasons(plan), "")
    return ShootStatus(plan.shoot, wave, _in_sync(plan), standing, message, outcomes.of(plan.shoot, wave))


def _in_sync(plan: ShootPlan) -> bool | None:
    actions = {change.action for change in plan.changes}
    if actions <= {Action.UNCHANGED}:
        return True
    return None if actions <= {Action.UNCHANGED, Action.DEFERRED} else False


def _reasons(plan: ShootPlan) -> Iterator[str]:
    return (change.reason for change in plan.changes if change.reason)


def _standing(step: Step) -> tuple[Standing, str]:
    match step:
        case Settled(outcome, message):
            return settled_standing(outcome), message
        case Await(message=message):
            return Standing.IN_PROGRESS, message
        case Unanswered(message):
            return Standing.UNKNOWN, message
        case LookInside():
            return Standing.UNKNOWN, ""
        case write:
            return Standing.PENDING, _announced(write)


def _announced(write: Write) -> str:
    match write:
        case CreateShoot():
            return "the Shoot is to be created"
        case PatchShoot():
            return "the Shoot is to be patched"
        case ApplyObjects(manifests=manifests):
            return f"{counted(len(manifests), 'object')} to be applied"
        case PrepareNodes(about):
            return f"its nodes come first: {about}"
        case PruneObjects(manifests):
            return f"{counted(len(manifests), 'object')} to be pruned"
