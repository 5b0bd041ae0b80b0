"""One run's plan: desired and observed in, changes in waves out, and what forbids the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby

from gitops.desired.compose import Desired, DesiredShoot
from gitops.desired.overlay import Overlay
from gitops.errors import GitopsError, Refused, Violation
from gitops.gardener.shoot_record import read_record
from gitops.manifest import Manifest, Target
from gitops.plan.changes import Action, Change, Plan, ShootPlan, WavePlan
from gitops.plan.inside import foreign_claim, plan_inside
from gitops.plan.node_work import node_notes
from gitops.plan.observed import NO_REGISTRATIONS, Inside, Kind, Observed, ObservedRegistrations, Unobserved
from gitops.plan.policies import foresee_policies, review_policies
from gitops.plan.policy_scene import policy_scene
from gitops.plan.registrations import plan_registrations
from gitops.plan.shoot import declared_kinds, shoot_after, shoot_change, shoot_notes


class Prune(Enum):
    """Whether a run may take away what is declared no longer."""

    ALLOWED = "allowed"
    WITHHELD = "withheld"


def pruning(desired: Desired) -> Prune:
    """An overlay that declares nothing inside any shoot looks the same as one that failed to render."""
    return Prune.ALLOWED if any(shoot.objects for shoot in desired.shoots.values()) else Prune.WITHHELD


@dataclass(frozen=True)
class Planned:
    """A plan, and why it must not be carried out."""

    plan: Plan
    problems: tuple[Violation, ...]
    """Empty when the run may go ahead."""

    def require_permission(self) -> None:
        """Stop here unless the plan may be carried out.

        Raises:
            Refused: with every problem, said once where many shoots have it.
        """
        if self.problems:
            raise Refused("\n".join(_said_once(self.problems)))


def kinds_inside(desired: DesiredShoot, live: Manifest | None) -> tuple[Kind, ...]:
    """Which kinds must be read inside a shoot: those declared, and those of which something of ours may be left.

    Raises:
        Refused: what the pipeline wrote on the Shoot earlier cannot be read.
    """
    record = read_record(live) if live is not None else None
    return tuple(sorted(declared_kinds(desired) | (record.kinds if record else frozenset())))


def make_plan(
    desired: Desired,
    observed: Mapping[Target, Observed],
    registrations: ObservedRegistrations = NO_REGISTRATIONS,
) -> Planned:
    """The plan of one run.

    Args:
        desired: what git declares.
        observed: every shoot of it.
        registrations: those of the garden, where any is declared or needed.

    Raises:
        Refused: what the pipeline wrote on a Shoot or a registration earlier cannot be read.
    """
    overlay = desired.overlay
    before = plan_registrations(desired, registrations)
    plans: dict[Target, ShootPlan] = {}
    problems: list[Violation] = [*before.problems]
    for target, shoot in desired.shoots.items():
        plans[target], found = plan_shoot(shoot, overlay, observed[target])
        problems += found
    if pruning(desired) is Prune.WITHHELD:
        plans = {target: _without_prunes(plan) for target, plan in plans.items()}
    waves = tuple(
        WavePlan(wave.name, tuple(plans[t] for t, shoot in desired.shoots.items() if shoot.wave == wave.name))
        for wave in overlay.waves
    )
    warnings = (*(str(warning) for warning in desired.warnings), *before.warnings)
    plan = Plan(overlay.name, desired.revision, waves, warnings, before.changes)
    return Planned(plan, (*problems, *_over_budget(plan, overlay)))


def plan_shoot(desired: DesiredShoot, overlay: Overlay, observed: Observed) -> tuple[ShootPlan, tuple[Violation, ...]]:
    """What happens to one shoot, and why the run must not write.

    Raises:
        Refused: what the pipeline wrote on the Shoot earlier cannot be read.
    """
    change = shoot_change(desired, observed.shoot, overlay.name)
    problems = _shoot_problems(desired, overlay, observed)
    notes = shoot_notes(desired, observed.shoot)
    if isinstance(observed.inside, Inside):
        notes += node_notes(overlay.prerequisites, observed.inside, observed.server_time)
    if change.action is Action.SKIPPED:
        return ShootPlan(desired.target, (change, *_unknown(desired, "the shoot does not exist"))), problems
    if not kinds_inside(desired, observed.shoot):
        return ShootPlan(desired.target, (change,), notes), problems
    if not isinstance(observed.inside, Inside):
        why = observed.inside.reason if isinstance(observed.inside, Unobserved) else _told(observed.inside)
        notes = (*notes, *foresee_policies(desired, overlay, shoot_after(desired, observed.shoot, overlay.name)))
        return ShootPlan(desired.target, (change, *_unknown(desired, why)), notes), problems
    scene = policy_scene(desired, overlay, observed.inside, shoot_after(desired, observed.shoot, overlay.name))
    inside = plan_inside(desired, overlay, observed.inside, scene)
    said, found = review_policies(desired, observed.inside, scene, inside.changes)
    return ShootPlan(desired.target, (change, *inside.changes), (*notes, *said)), (*problems, *inside.problems, *found)


def _said_once(problems: Iterable[Violation]) -> Iterator[str]:
    def saying(problem: Violation) -> tuple[str, int, str, str]:
        return (problem.file, problem.line, problem.rule, problem.message)

    for _, alike in groupby(sorted(problems, key=saying), key=saying):
        first, *others = alike
        yield str(first) + (f" (and {len(others)} more like it)" if others else "")


def _shoot_problems(desired: DesiredShoot, overlay: Overlay, observed: Observed) -> tuple[Violation, ...]:
    if observed.shoot is None:
        return ()
    claim = foreign_claim(observed.shoot, overlay)
    if not claim:
        return ()
    ref, origin = next((r, o) for r, o in desired.origins.items() if r.kind == "Shoot")
    return (Violation(origin.file, origin.line, str(ref), "foreign-owner", claim),)


def _unknown(desired: DesiredShoot, why: str) -> tuple[Change, ...]:
    return tuple(Change(ref, Action.DEFERRED, reason=why) for ref in sorted(desired.objects))


def _told(error: GitopsError) -> str:
    return f"{type(error).__name__.lower()}: {error}"


def _without_prunes(plan: ShootPlan) -> ShootPlan:
    reason = (
        "declared no longer, but kept: the overlay declares no object inside any shoot, which may be a mistake; "
        "delete it by hand if it is not"
    )
    changes = tuple(
        replace(change, action=Action.SKIPPED, reason=reason) if change.action is Action.PRUNED else change
        for change in plan.changes
    )
    return replace(plan, changes=changes)


def _over_budget(plan: Plan, overlay: Overlay) -> tuple[Violation, ...]:
    pruned = sum(change.action is Action.PRUNED for change in plan.changes())
    if pruned <= overlay.max_deletions:
        return ()
    message = (
        f"the plan deletes {pruned} objects and the budget is {overlay.max_deletions}: "
        "raise spec.prune.maxDeletions if that is meant"
    )
    return (Violation(overlay.file, 0, f"Overlay {overlay.name}", "deletion-budget", message),)
