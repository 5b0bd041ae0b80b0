"""Conditions of a Shoot as gardenlet's care controller writes them.

After gardener/gardener pkg/apis/core/v1beta1/types_shoot.go, pkg/gardenlet/controller/shoot/care/health.go and
pkg/utils/gardener/shoot_status.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Condition = dict[str, Any]

NODES_READY = "EveryNodeReady"
_REASONS = {
    "APIServerAvailable": "HealthzRequestSucceeded",
    "ControlPlaneHealthy": "ControlPlaneRunning",
    "ObservabilityComponentsHealthy": "ObservabilityComponentsRunning",
    NODES_READY: "EveryNodeReady",
    "SystemComponentsHealthy": "SystemComponentsRunning",
}


def progressing(present: list[Condition], now: str) -> list[Condition]:
    """After a successful operation: all that are not False wait for care."""
    return [
        condition
        if condition["status"] == "False"
        else _updated(condition, now, "Progressing", condition["reason"], condition["message"])
        for condition in present
    ]


def cared_for(shoot: dict[str, Any], unhealthy: Mapping[str, str], now: str) -> list[Condition]:
    """What care finds: `unhealthy` ones False, the others True."""
    present = {condition["type"]: condition for condition in shoot.get("status", {}).get("conditions", [])}
    found = []
    for name, reason in _REASONS.items():
        if name == NODES_READY and not shoot["spec"]["provider"].get("workers"):
            continue  # workerless
        condition = present.get(name, {"type": name})
        if shoot.get("status", {}).get("hibernated"):
            update = ("True", "ConditionNotChecked", "Shoot cluster has been hibernated.")
        elif name in unhealthy:
            update = ("False", f"{name}Failed", unhealthy[name])
        else:
            update = ("True", reason, "All checks successful.")
        found.append(_updated(condition, now, *update))
    return found


def status_label(shoot: dict[str, Any]) -> str:
    """The value of label `shoot.gardener.cloud/status`."""
    status = shoot.get("status", {})
    if status.get("lastErrors") or any(c["status"] == "False" for c in status.get("conditions", [])):
        return "unhealthy"
    if any(condition["status"] == "Unknown" for condition in status.get("conditions", [])):
        return "unknown"
    if any(condition["status"] == "Progressing" for condition in status.get("conditions", [])):
        return "progressing"
    return "healthy"


def _updated(condition: Condition, now: str, status: str, reason: str, message: str) -> Condition:
    """`lastUpdateTime` moves with any change, `lastTransitionTime` with the status."""
    update = {"status": status, "reason": reason, "message": message}
    if update.items() <= condition.items():
        return condition
    transition = now if condition.get("status") != status else condition["lastTransitionTime"]
    return {"type": condition["type"], **update, "lastUpdateTime": now, "lastTransitionTime": transition}
