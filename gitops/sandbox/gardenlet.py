"""The pretend gardenlet: operations on Shoots, and what they do inside the shoots.

Follows gardener pkg/gardenlet/controller/shoot: observedGeneration is written when an operation starts,
together with Processing; on success every condition that is not False becomes Progressing, and the care
loop makes it True later. With confineSpecUpdateRollout a spec change waits for the maintenance window.
Deleted, hibernated and failing Shoots are played, too; migration, rotation and real infrastructure are not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gitops.sandbox import nodes
from gitops.sandbox.clock import Clock, stamp
from gitops.sandbox.faults import Faults, OperationFault
from gitops.sandbox.shoots import CONDITIONS
from gitops.sandbox.wire import Manifest


@dataclass(frozen=True)
class Pace:
    """How long things take, in landscape seconds."""

    reaction: float = 2.0
    """From a change to the start of its operation."""
    operation: float = 120.0
    """From the start of an operation to its end; extensions change after two thirds of it."""
    care: float = 40.0
    """From the end of an operation until the conditions are True again."""
    agents: float = 3.0
    """From a change of a policy to a node's answer, up to twice that."""


class Garden(Protocol):
    """What the gardenlet does to the landscape."""

    def shoot(self, name: str) -> Manifest | None:
        """Return a Shoot by `<namespace>/<name>`, or None where there is none."""

    def patch_shoot(self, name: str, patch: Manifest, subresource: str = "") -> None:
        """Merge a patch into a Shoot, or into its status."""

    def address(self, name: str) -> str:
        """Return the URL of a shoot's API."""

    def enter_shoot(self, name: str, shoot: Manifest, extensions: Iterable[str]) -> None:
        """Make a shoot's API look as its spec asks: nodes, and the CRDs of enabled extensions."""

    def leave_shoot(self, name: str) -> None:
        """Take a shoot's API away."""


_STEP = "Waiting until the extension resources are ready"


class Gardenlet:
    """The one gardenlet of a landscape."""

    def __init__(self, garden: Garden, clock: Clock, faults: Faults, pace: Pace) -> None:
        self._garden, self._clock, self._faults, self._pace = garden, clock, faults, pace
        self._busy: set[str] = set()
        self._rolled_out: dict[str, Manifest] = {}
        self._windows: set[str] = set()

    def adopt(self, name: str, shoot: Manifest) -> None:
        """Know a Shoot as it was before the landscape began to move."""
        self._rolled_out[name] = shoot["spec"]

    def notice(self, name: str, shoot: Manifest) -> None:
        """Look at a Shoot that has been written."""
        if name in self._busy:
            return
        if self._is_due(shoot):
            self._busy.add(name)
            self._clock.call_later(self._pace.reaction, lambda: self._start(name))
        elif self._waits_for_window(name, shoot):
            self._windows.add(name)
            begin = shoot["spec"]["maintenance"]["timeWindow"]["begin"]
            wait = until_window(begin, self._clock.now())
            self._clock.call_later(wait, lambda: self._maintain(name))

    def _is_due(self, shoot: Manifest) -> bool:
        if shoot["metadata"].get("deletionTimestamp"):
            return True
        return bool(shoot["metadata"]["generation"] != shoot.get("status", {}).get("observedGeneration"))

    def _waits_for_window(self, name: str, shoot: Manifest) -> bool:
        is_confined = (shoot["spec"].get("maintenance") or {}).get("confineSpecUpdateRollout")
        is_new = shoot["spec"] != self._rolled_out.get(name)
        return bool(is_confined and is_new and name not in self._windows)

    def _maintain(self, name: str) -> None:
        self._windows.discard(name)
        if name not in self._busy and self._garden.shoot(name) is not None:
            self._busy.add(name)
            self._start(name)

    def _start(self, name: str) -> None:
        shoot = self._garden.shoot(name)
        if shoot is None:
            self._busy.discard(name)
            return
        kind = self._kind(shoot)
        status: Manifest = {
            "observedGeneration": shoot["metadata"]["generation"],
            "lastOperation": self._operation(kind, "Processing", 0, f"{kind} of Shoot cluster initialized."),
            "gardener": {"id": "sandbox", "name": "gardenlet-sandbox", "version": "v1.149.3"},
            "technicalID": nodes.technical_id(shoot),
            "uid": shoot["metadata"]["uid"],
        }
        self._garden.patch_shoot(name, {"status": status}, "status")
        metadata: Manifest = {"annotations": {"shoot.gardener.cloud/tasks": None}}
        if kind != "Delete" and "gardener" not in (shoot["metadata"].get("finalizers") or ()):
            metadata["finalizers"] = [*(shoot["metadata"].get("finalizers") or ()), "gardener"]
        self._garden.patch_shoot(name, {"metadata": metadata})
        third = self._pace.operation / 3
        fault = self._faults.operation(name)
        self._clock.call_later(2 * third, lambda: self._proceed(name, kind, fault))

    def _kind(self, shoot: Manifest) -> str:
        if shoot["metadata"].get("deletionTimestamp"):
            return "Delete"
        last = shoot.get("status", {}).get("lastOperation")
        if last is None or (last["type"] == "Create" and last["state"] != "Succeeded"):
            return "Create"
        return "Reconcile"

    def _operation(self, kind: str, state: str, progress: int, description: str) -> Manifest:
        return {
            "type": kind,
            "state": state,
            "progress": progress,
            "description": description,
            "lastUpdateTime": stamp(self._clock.now()),
        }

    def _proceed(self, name: str, kind: str, fault: OperationFault | None) -> None:
        shoot = self._garden.shoot(name)
        if shoot is None:
            self._busy.discard(name)
            return
        operation = self._operation(kind, "Processing", 66, _STEP)
        self._garden.patch_shoot(name, {"status": {"lastOperation": operation}}, "status")
        if fault is None and kind != "Delete":
            self._garden.enter_shoot(name, shoot, enabled_extensions(shoot))
        if fault is None or fault.state != "Never":
            self._clock.call_later(self._pace.operation / 3, lambda: self._finish(name, kind, shoot, fault))

    def _finish(self, name: str, kind: str, begun: Manifest, fault: OperationFault | None) -> None:
        self._busy.discard(name)
        shoot = self._garden.shoot(name)
        if shoot is None:
            return
        if fault is not None:
            self._fail(name, kind, fault)
        elif kind == "Delete":
            self._garden.leave_shoot(name)
            left = [item for item in shoot["metadata"].get("finalizers") or () if item != "gardener"]
            self._garden.patch_shoot(name, {"metadata": {"finalizers": left}})
            return
        else:
            self._succeed(name, kind, begun)
        shoot = self._garden.shoot(name)
        if shoot is not None and (fault is None or fault.state == "Error"):
            self.notice(name, shoot)

    def _succeed(self, name: str, kind: str, begun: Manifest) -> None:
        self._rolled_out[name] = begun["spec"]
        is_hibernated = bool((begun["spec"].get("hibernation") or {}).get("enabled"))
        now = stamp(self._clock.now())
        description = f"Shoot cluster has been successfully {'created' if kind == 'Create' else 'reconciled'}."
        status = {
            "lastOperation": self._operation(kind, "Succeeded", 100, description),
            "lastErrors": None,
            "hibernated": is_hibernated,
            "conditions": conditions(begun, "Progressing", now),
            "advertisedAddresses": [{"name": "external", "url": self._garden.address(name)}],
        }
        self._garden.patch_shoot(name, {"status": status}, "status")
        self._clock.call_later(self._pace.care, lambda: self._care(name, begun["metadata"]["uid"]))

    def _fail(self, name: str, kind: str, fault: OperationFault) -> None:
        error = {
            "description": fault.description,
            "codes": list(fault.codes),
            "lastUpdateTime": stamp(self._clock.now()),
        }
        status = {
            "lastOperation": self._operation(kind, fault.state, 66, fault.description),
            "lastErrors": [error],
        }
        self._garden.patch_shoot(name, {"status": status}, "status")
        if fault.state == "Error":
            self._busy.add(name)
            self._clock.call_later(self._pace.operation, lambda: self._start(name))

    def _care(self, name: str, uid: str) -> None:
        shoot = self._garden.shoot(name)
        if shoot is None or shoot["metadata"]["uid"] != uid or name in self._busy:
            return
        now = stamp(self._clock.now())
        reason = "ConditionNotChecked" if shoot.get("status", {}).get("hibernated") else ""
        patch = {"status": {"conditions": conditions(shoot, "True", now, reason)}}
        self._garden.patch_shoot(name, patch, "status")
        self._garden.patch_shoot(name, {"metadata": {"labels": {"shoot.gardener.cloud/status": "healthy"}}})


def enabled_extensions(shoot: Manifest) -> list[str]:
    """Return the extension types a Shoot switches on."""
    listed = shoot["spec"].get("extensions") or ()
    return [item["type"] for item in listed if not item.get("disabled")]


def conditions(shoot: Manifest, status: str, now: str, reason: str = "") -> list[Manifest]:
    """Return a Shoot's conditions, all with one status; a transition keeps the time of the last one."""
    has_workers = bool(shoot["spec"]["provider"].get("workers"))
    before = {item["type"]: item for item in shoot.get("status", {}).get("conditions") or ()}
    found = []
    for kind in CONDITIONS:
        if kind == "EveryNodeReady" and not has_workers:
            continue
        old = before.get(kind)
        same = old is not None and old["status"] == status
        found.append(
            {
                "type": kind,
                "status": status,
                "reason": reason or f"{kind}{'Processing' if status == 'Progressing' else 'Checked'}",
                "message": f"the sandbox says: {status}",
                "lastTransitionTime": old["lastTransitionTime"] if same and old else now,
                "lastUpdateTime": now,
            }
        )
    return found


def until_window(begin: str, now: datetime) -> float:
    """Return the seconds until a maintenance window opens, given as 220000+0100."""
    offset = timedelta(hours=int(begin[7:9]), minutes=int(begin[9:11])) * (-1 if begin[6] == "-" else 1)
    hour, minute = int(begin[:2]), int(begin[2:4])
    local = now + offset
    opens = local.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if opens <= local:
        opens += timedelta(days=1)
    return (opens - local).total_seconds()
