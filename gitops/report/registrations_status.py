"""How the registrations stand that come before all waves, seed by seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.gardener.installation_gate import SeedVerdict
from gitops.plan.changes import Action, Plan
from gitops.plan.document import GARDEN_WAVE
from gitops.plan.outlook import Outlook
from gitops.record.record import seed_document
from gitops.report.record_text import places_text
from gitops.report.standing import Standing, settled_standing
from gitops.report.words import counted, printable
from gitops.rollout.registrations_step import WriteAll, registrations_step, seed_verdicts
from gitops.rollout.step import Settled


@dataclass(frozen=True)
class RegistrationsStatus:
    """All of an overlay's registrations, and the extensions that they bring."""

    in_sync: bool
    """Whether a run would write none of them."""
    standing: Standing
    message: str
    seeds: tuple[SeedVerdict, ...]
    last_outcome: str | None
    """What the last run made of them; None when it did not know any."""


def registrations_status(
    outlook: Outlook, plan: Plan, last: Mapping[str, Any] | None, now: datetime
) -> RegistrationsStatus | None:
    """How they stand; None where the overlay declares none.

    Args:
        outlook: what was observed.
        plan: drawn from it.
        last: the last record, by contract; None when the overlay never ran.
        now: what time it is, where the garden did not say.
    """
    desired, observed = outlook.desired, outlook.registrations
    if not desired.registrations:
        return None
    time = observed.server_time or now
    step = registrations_step(desired, observed, time)
    match step:
        case WriteAll(writes):
            standing, message = Standing.PENDING, f"{counted(len(writes), 'registration')} to be written"
        case Settled(outcome, message):
            standing = settled_standing(outcome)
        case _:
            standing, message = Standing.IN_PROGRESS, step.message
    return RegistrationsStatus(
        all(change.action is Action.UNCHANGED for change in plan.garden),
        standing,
        message,
        seed_verdicts(desired, observed, time),
        next(_last_outcomes(last), None),
    )


def registrations_document(status: RegistrationsStatus) -> dict[str, Any]:
    """For scripts, in the words of a shoot's status."""
    return {
        "inSync": status.in_sync,
        "verdict": status.standing.value,
        "message": status.message,
        "lastOutcome": status.last_outcome,
        "seeds": [seed_document(found) for found in status.seeds],
    }


def registrations_lines(status: RegistrationsStatus) -> list[str]:
    """For people: one sentence, and a line for each place where an extension is not well."""
    closed = [found for found in status.seeds if not found.verdict.open]
    because = f": {printable(status.message)}" if status.message and not closed else ""
    lines = [f"Registrations {status.standing.value}, {places_text(status.seeds)}{because}."]
    for found in closed:
        where = f"{found.extension} on {found.seed}" if found.seed else found.extension
        lines.append(f"    {printable(where)}: {printable(found.verdict.message)}")
    return lines


def _last_outcomes(last: Mapping[str, Any] | None) -> Iterator[str]:
    for wave in (last or {}).get("waves") or []:
        if wave["name"] == GARDEN_WAVE:
            yield from (shoot["outcome"] for shoot in wave["shoots"] if shoot["shoot"] is None)
