"""The plan as values: fields in changes, changes in shoots, shoots in waves, and a digest over all of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gitops.manifest import Path, Ref, Target


class Action(Enum):
    """What happens to one object."""

    CREATED = "created"
    CONFIGURED = "configured"
    PRUNED = "pruned"
    UNCHANGED = "unchanged"
    DEFERRED = "deferred"
    """Would change, and cannot be reached for a reason that is nobody's fault: hibernated, no CRD yet."""
    SKIPPED = "skipped"
    """Would change, and must not: the reason says why."""


class Cost(Enum):
    """What a change does to a running cluster, cheapest first."""

    NONE = "none"
    PINNING = "re-pinning"
    """Nodes allocate CPUs to all of their containers anew."""
    CONTROL_PLANE = "control plane"
    """Gardener reconciles the control plane; nodes keep running."""
    NODE_ROLL = "node roll"
    """Machines of at least one worker pool are replaced."""


@dataclass(frozen=True)
class FieldChange:
    """One field of one object: what it is and what it would become. Values are already masked."""

    path: Path
    live: Any
    """The live value; `ABSENT` where the field is absent."""
    desired: Any
    """The value to be written; `ABSENT` where the field is to be removed."""
    manager: str
    """The field manager that wrote the live value, by managedFields; empty when nobody claims it."""
    since: str = ""
    """When that manager last wrote, RFC 3339 by the server's clock; empty when unknown."""
    ignored: str = ""
    """Why this difference is left alone; empty when it would be written."""


@dataclass(frozen=True)
class Change:
    """What happens to one object, and why."""

    ref: Ref
    action: Action
    fields: tuple[FieldChange, ...] = ()
    cost: Cost = Cost.NONE
    reason: str = ""
    """A sentence for deferred, skipped and unusual changes; empty where the fields say it all."""


@dataclass(frozen=True)
class ShootPlan:
    """All changes that belong to one shoot: its Shoot in the garden, and the objects inside it."""

    shoot: Target
    changes: tuple[Change, ...]
    """In the order of their writing; unchanged objects are among them."""
    notes: tuple[str, ...] = ()
    """What a person should know before the run, such as nodes that would have no configuration."""


@dataclass(frozen=True)
class WavePlan:
    """One wave: its shoots in the order of their names."""

    name: str
    shoots: tuple[ShootPlan, ...]


@dataclass(frozen=True)
class Plan:
    """What one run would do, from one revision against one observation of the world."""

    overlay: str
    revision: str
    """The commit, 40 hex digits."""
    waves: tuple[WavePlan, ...]
    warnings: tuple[str, ...] = ()
    garden: tuple[Change, ...] = ()
    """What happens once before all waves, to registrations of extensions: the `garden` wave, which has no shoots."""

    def changes(self) -> tuple[Change, ...]:
        """Every change, of registrations and of every shoot, in order."""
        return (*self.garden, *(c for wave in self.waves for shoot in wave.shoots for c in shoot.changes))

    def summary(self) -> dict[str, int]:
        """How many objects each action concerns, every action named."""
        counts = dict.fromkeys((action.value for action in Action), 0)
        for change in self.changes():
            counts[change.action.value] += 1
        return counts

    @property
    def pending(self) -> bool:
        """Whether a run would write anything."""
        return any(change.action in {Action.CREATED, Action.CONFIGURED, Action.PRUNED} for change in self.changes())
