"""What a plan is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitops.desired.compose import Desired
from gitops.manifest import Target
from gitops.plan.observed import Observed, ObservedRegistrations


@dataclass(frozen=True)
class Outlook:
    """What is declared, and one observation of the world."""

    desired: Desired
    """With the image vectors that every shoot must have been rolled with."""
    shoots: Mapping[Target, Observed]
    registrations: ObservedRegistrations
