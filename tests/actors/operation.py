"""An operation on a Shoot: when one is due, and what gardenlet writes to the status while it lasts.

After gardener/gardener pkg/gardenlet/controller/shoot/shoot/reconciler.go: observedGeneration is written when an
operation starts; on success every condition that is not False becomes Progressing, until care has looked again.
"""

from __future__ import annotations

from typing import Any

from tests.actors import conditions
from tests.actors.outcome import Failed

Shoot = dict[str, Any]


def is_processing(shoot: Shoot) -> bool:
    return _last(shoot).get("state") == "Processing"


def is_due(shoot: Shoot) -> bool:
    """Never reconciled, or generation moved, or the last operation ended in Error."""
    status = shoot.get("status", {})
    moved = shoot["metadata"]["generation"] != status.get("observedGeneration")
    return moved or _last(shoot).get("state") in (None, "Error")


def started(shoot: Shoot, now: str) -> dict[str, Any]:
    """Status when an operation starts."""
    namespace, name = shoot["metadata"]["namespace"], shoot["metadata"]["name"]
    created = _last(shoot).get("state") == "Succeeded" or _last(shoot).get("type") == "Reconcile"
    kind = "Reconcile" if created else "Create"
    return {
        "observedGeneration": shoot["metadata"]["generation"],
        "technicalID": f"shoot--{namespace.removeprefix('garden-')}--{name}",
        "lastOperation": _operation(kind, "Processing", 0, f"{kind} of Shoot cluster initialized.", now),
    }


def continued(shoot: Shoot, progress: int, now: str) -> dict[str, Any]:
    """Status while an operation lasts."""
    return {"lastOperation": _operation(_kind(shoot), "Processing", progress, "Waiting for tasks.", now)}


def succeeded(shoot: Shoot, as_started: Shoot, now: str) -> dict[str, Any]:
    """Status when an operation on the Shoot `as_started` has succeeded."""
    return {
        "lastOperation": _operation(_kind(shoot), "Succeeded", 100, "Shoot cluster has been reconciled.", now),
        "lastErrors": None,
        "hibernated": is_hibernated(as_started),
        "conditions": conditions.progressing(shoot["status"].get("conditions", []), now),
    }


def failed(shoot: Shoot, outcome: Failed, now: str) -> dict[str, Any]:
    """Status when an operation has ended in `Error` or `Failed`."""
    progress = _last(shoot)["progress"]
    error = {"description": outcome.message, "codes": list(outcome.codes), "lastUpdateTime": now}
    return {
        "lastOperation": _operation(_kind(shoot), outcome.state, progress, outcome.message, now),
        "lastErrors": [error],
    }


def is_hibernated(shoot: Shoot) -> bool:
    """Whether its spec says so."""
    return bool(shoot["spec"].get("hibernation", {}).get("enabled"))


def summary(status: dict[str, Any]) -> str:
    """An operation in two words, such as `Reconcile Processing`."""
    return f"{status['lastOperation']['type']} {status['lastOperation']['state']}"


def _last(shoot: Shoot) -> dict[str, Any]:
    operation: dict[str, Any] = shoot.get("status", {}).get("lastOperation") or {}
    return operation


def _kind(shoot: Shoot) -> str:
    return str(_last(shoot)["type"])


def _operation(kind: str, state: str, progress: int, description: str, now: str) -> dict[str, Any]:
    return {
        "type": kind,
        "state": state,
        "progress": progress,
        "description": description,
        "lastUpdateTime": now,
    }
