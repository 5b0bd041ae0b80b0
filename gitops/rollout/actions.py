"""What the state machine asks the outside world to do, and what it is told back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gitops.errors import GitopsError
from gitops.manifest import Manifest, Target
from gitops.plan.observed import Inside, ObservedRegistrations
from gitops.rollout.registrations_step import CreateRegistration, PatchRegistration
from gitops.rollout.step import Write


@dataclass(frozen=True)
class ObserveShoots:
    """Read these Shoots in the garden."""

    targets: tuple[Target, ...]


@dataclass(frozen=True)
class ObserveInside:
    """Read what one shoot holds; what differs is applied as a dry run."""

    target: Target
    shoot: Manifest
    """The live Shoot, whose record says what of ours may be left inside."""


@dataclass(frozen=True)
class WriteTo:
    """Carry out one write for one shoot."""

    target: Target
    write: Write
    shoot: Manifest | None
    """The live Shoot; None when it is being created."""


@dataclass(frozen=True)
class ObserveRegistrations:
    """Read the registrations of extensions, and how they fare on the seeds."""


@dataclass(frozen=True)
class WriteRegistrations:
    """Write registrations, one after the other; the first failure ends it."""

    writes: tuple[CreateRegistration | PatchRegistration, ...]


Action = ObserveShoots | ObserveInside | WriteTo | ObserveRegistrations | WriteRegistrations


@dataclass(frozen=True)
class ShootsObserved:
    """The Shoots as the garden has them."""

    shoots: Mapping[Target, Manifest | None]
    """None for those that the garden does not have."""
    server_time: datetime


@dataclass(frozen=True)
class ShootsUnobserved:
    """The garden could not be read."""

    targets: tuple[Target, ...]
    error: GitopsError


@dataclass(frozen=True)
class InsideObserved:
    """What one shoot holds, or why that is not known."""

    target: Target
    inside: Inside | GitopsError


@dataclass(frozen=True)
class Written:
    """A write is done, whole."""

    target: Target
    writes: int
    """How many objects were written."""
    shoot: Manifest | None
    """The Shoot as the garden has it now, where it was the Shoot that was written."""


@dataclass(frozen=True)
class NotWritten:
    """A write failed; some of its objects may have been written."""

    target: Target
    writes: int
    error: GitopsError


@dataclass(frozen=True)
class RegistrationsObserved:
    """The registrations as the servers have them."""

    observed: ObservedRegistrations


@dataclass(frozen=True)
class RegistrationsUnobserved:
    """They could not be read."""

    error: GitopsError


@dataclass(frozen=True)
class RegistrationsWritten:
    """Registrations were written: all, or those before one that failed."""

    writes: int
    error: GitopsError | None


RegistrationsEvent = RegistrationsObserved | RegistrationsUnobserved | RegistrationsWritten
ShootEvent = ShootsObserved | ShootsUnobserved | InsideObserved | Written | NotWritten
Event = ShootEvent | RegistrationsEvent
