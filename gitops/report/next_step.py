"""What a run would do next about a shoot."""

from __future__ import annotations

from collections.abc import Mapping

from gitops.desired.compose import Desired
from gitops.manifest import Target
from gitops.plan.changes import Action, ShootPlan
from gitops.plan.observed import Observed
from gitops.plan.planning import Prune
from gitops.rollout.step import Step, next_step


def step_of(desired: Desired, observed: Mapping[Target, Observed], plan: ShootPlan) -> Step:
    """The next step. Where the plan withholds every prune, so does this."""
    prunes = any(change.action is Action.PRUNED for change in plan.changes)
    prune = Prune.ALLOWED if prunes else Prune.WITHHELD
    return next_step(desired.shoots[plan.shoot], desired.overlay, observed[plan.shoot], prune)
