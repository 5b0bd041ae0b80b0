"""One run as a value, and as JSON by contract with scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.gardener.installation_gate import SeedVerdict
from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.plan.document import API_VERSION, GARDEN_WAVE
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import Result, WaveResult, garden_wave_outcome
from gitops.rollout.step import ShootOutcome


@dataclass(frozen=True)
class Record:
    """What one run did."""

    overlay: str
    revision: str
    """The commit, 40 hex digits."""
    digest: str
    """Of the plan that the run began with; empty where it ended before it made one."""
    trigger: str
    """What started the run: `command`, `push` or `schedule`."""
    result: Result
    started: datetime
    finished: datetime

    @property
    def looked(self) -> bool:
        """Whether the run looked at the world; if not, as of a suspended overlay, where shoots are is not known."""
        return bool(self.digest)


def record_document(record: Record) -> dict[str, Any]:
    """The record as `reconcile -o json` prints it."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Record",
        "overlay": record.overlay,
        "revision": record.revision,
        "digest": record.digest,
        "trigger": record.trigger,
        "outcome": record.result.outcome.value,
        "message": record.result.message,
        "writes": record.result.writes,
        "started": timestamp(record.started),
        "finished": timestamp(record.finished),
        "waves": [
            *([_registrations(record.result.registrations)] if record.result.registrations else []),
            *(_wave(wave) for wave in record.result.waves),
        ],
    }


def _wave(wave: WaveResult) -> dict[str, Any]:
    return {
        "name": wave.name,
        "outcome": wave.outcome.value,
        "shoots": [_shoot(shoot.shoot, shoot.outcome, shoot.writes, shoot.message) for shoot in wave.shoots],
    }


def _registrations(result: RegistrationsResult) -> dict[str, Any]:
    """The wave before all others: one entry without a shoot, and how the extensions fare, seed by seed."""
    return {
        "name": GARDEN_WAVE,
        "outcome": garden_wave_outcome(result).value,
        "shoots": [_shoot(None, result.outcome, result.writes, result.message)],
        "seeds": [seed_document(found) for found in result.seeds],
    }


def seed_document(found: SeedVerdict) -> dict[str, Any]:
    """How one extension fares on one seed."""
    return {
        "extension": found.extension,
        "seed": found.seed or None,
        "status": found.verdict.status.value,
        "message": found.verdict.message,
    }


def _shoot(shoot: Target | None, outcome: ShootOutcome, writes: int, message: str) -> dict[str, Any]:
    return {"shoot": shoot, "outcome": outcome.value, "writes": writes, "message": message}


def brief(document: Mapping[str, Any], longest: int) -> dict[str, Any]:
    """A record as a history keeps it.

    Args:
        document: the record, by contract.
        longest: characters of its message.
    """
    keys = ("revision", "digest", "trigger", "outcome", "message", "writes", "started", "finished")
    return {**{key: document[key] for key in keys}, "message": document["message"][:longest]}


def is_news(document: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    """Whether a record tells anything new; one that found everything as the last one left it does not.

    Args:
        document: the record, by contract.
        before: the last one; None where there is none.
    """
    return before is None or document["writes"] > 0 or outcomes(document) != outcomes(before)


def outcomes(document: Mapping[str, Any]) -> tuple[Any, ...]:
    """What of a record must differ for it to tell anything new: not when, and not how many writes."""
    shoots = tuple((shoot["shoot"], shoot["outcome"]) for wave in document["waves"] for shoot in wave["shoots"])
    waves = tuple((wave["name"], wave["outcome"]) for wave in document["waves"])
    return (document["revision"], document["outcome"], waves, shoots)
