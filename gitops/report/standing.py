"""What is said of something now, in one word."""

from __future__ import annotations

from enum import Enum

from gitops.rollout.step import ShootOutcome


class Standing(Enum):
    """What the gates say now, in the words of `gitops.verdict`; and one more."""

    CURRENT = "Current"
    PENDING = "Pending"
    """Something is to be written first; the gates speak after that."""
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    DEFERRED = "Deferred"
    UNKNOWN = "Unknown"
    """It does not answer, or nobody looked."""


_SETTLED = {
    ShootOutcome.CONVERGED: Standing.CURRENT,
    ShootOutcome.DEFERRED: Standing.DEFERRED,
    ShootOutcome.FAILED: Standing.FAILED,
}


def settled_standing(outcome: ShootOutcome) -> Standing:
    """Where something stands that a run would leave at once with this outcome."""
    return _SETTLED.get(outcome, Standing.UNKNOWN)
