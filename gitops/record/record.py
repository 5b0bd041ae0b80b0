"""One run as a value, and as JSON by contract with scripts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.gardener.shoot_record import timestamp
from gitops.plan.document import API_VERSION
from gitops.rollout.rollout import Result


@dataclass(frozen=True)
class Record:
    """What one run did."""

    overlay: str
    revision: str
    """The commit, 40 hex digits."""
    digest: str
    """Of the plan that the run began with."""
    trigger: str
    """What started the run: `command`, `push` or `schedule`."""
    result: Result
    started: datetime
    finished: datetime


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
            {
                "name": wave.name,
                "outcome": wave.outcome.value,
                "shoots": [
                    {
                        "shoot": shoot.shoot,
                        "outcome": shoot.outcome.value,
                        "writes": shoot.writes,
                        "message": shoot.message,
                    }
                    for shoot in wave.shoots
                ],
            }
            for wave in record.result.waves
        ],
    }


def outcomes(document: dict[str, Any]) -> tuple[Any, ...]:
    """What of a record must differ for it to tell anything new: not when, and not how many writes."""
    shoots = tuple((shoot["shoot"], shoot["outcome"]) for wave in document["waves"] for shoot in wave["shoots"])
    waves = tuple((wave["name"], wave["outcome"]) for wave in document["waves"])
    return (document["revision"], document["outcome"], waves, shoots)
