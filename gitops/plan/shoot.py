"""The change of one Shoot object in the garden."""

from __future__ import annotations

from gitops.desired.compose import DesiredShoot
from gitops.gardener.shoot_cost import Effect, rolled_pools, total_effect
from gitops.gardener.shoot_merge import ShootMerge, merge_shoot, missing_for_creation, owned_fields
from gitops.manifest import GARDEN, Manifest, Ref, get, ref_of
from gitops.ownership.managers import writer_of
from gitops.ownership.merge import ABSENT, Difference
from gitops.plan.changes import Action, Change, Cost, FieldChange
from gitops.plan.ignoring import ignored_by
from gitops.plan.masking import masked
from gitops.plan.observed import Kind

_COSTS = {Effect.NOTHING: Cost.NONE, Effect.CONTROL_PLANE: Cost.CONTROL_PLANE, Effect.NODE_ROLL: Cost.NODE_ROLL}


def declared_kinds(desired: DesiredShoot) -> frozenset[Kind]:
    """ApiVersion and kind of everything declared inside a shoot."""
    return frozenset((ref.api_version, ref.kind) for ref in desired.objects)


def merge_of(desired: DesiredShoot, live: Manifest, overlay: str) -> ShootMerge:
    """What the live Shoot becomes.

    Raises:
        Refused: the record on the live Shoot cannot be read.
    """
    return merge_shoot(
        desired.shoot,
        live,
        overlay=overlay,
        kinds=declared_kinds(desired),
        ignored=ignored_by(desired.ignored, "Shoot"),
    )


def shoot_after(desired: DesiredShoot, live: Manifest | None, overlay: str) -> Manifest:
    """The Shoot as it will be, declared or not.

    Raises:
        Refused: the record on the live Shoot cannot be read.
    """
    return desired.shoot if live is None else merge_of(desired, live, overlay).merged


def shoot_change(desired: DesiredShoot, live: Manifest | None, overlay: str) -> Change:
    """What happens to the Shoot object itself.

    Raises:
        Refused: the record on the live Shoot cannot be read.
    """
    ref = ref_of(GARDEN, desired.shoot)
    if live is None:
        return _creation(desired, ref)
    outcome = merge_of(desired, live, overlay)
    fields = tuple(_field(difference, live) for difference in outcome.differences)
    if not outcome.writes:
        return Change(ref, Action.UNCHANGED, fields)
    return Change(ref, Action.CONFIGURED, fields, _cost(outcome.differences), _reason(outcome))


def _creation(desired: DesiredShoot, ref: Ref) -> Change:
    if lacking := missing_for_creation(desired.shoot):
        reason = (
            f"the garden has no such Shoot, and what git declares is too little to create it: {', '.join(lacking)} "
            "missing; correct the name, or declare the whole Shoot"
        )
        return Change(ref, Action.SKIPPED, reason=reason)
    fields = tuple(
        FieldChange(path, ABSENT, masked("Shoot", path, value), manager="")
        for path, value in owned_fields(desired.shoot).items()
    )
    return Change(ref, Action.CREATED, fields, Cost.NONE, "a new shoot is created")


def _field(difference: Difference, live: Manifest) -> FieldChange:
    writer = writer_of(live, difference.path)
    return FieldChange(
        difference.path,
        masked("Shoot", difference.path, difference.live),
        masked("Shoot", difference.path, difference.desired),
        manager=writer.manager if writer else "",
        since=writer.time if writer else "",
        ignored=difference.kept,
    )


def _cost(differences: tuple[Difference, ...]) -> Cost:
    return _COSTS[total_effect(differences)]


def _reason(outcome: ShootMerge) -> str:
    reasons = []
    written = [difference for difference in outcome.differences if not difference.kept]
    if not written:
        reasons.append("records what is owned here; no field changes")
    elif _cost(outcome.differences) is Cost.NODE_ROLL:
        pools = rolled_pools(outcome.differences)
        reasons.append(f"replaces the machines of {_named_pools(pools)}")
    if outcome.changes_spec and get(outcome.live, "spec", "maintenance", "confineSpecUpdateRollout"):
        reasons.append("rolls out only in the shoot's maintenance window (spec.maintenance.confineSpecUpdateRollout)")
    if outcome.previous_overlay not in {"", outcome.record.overlay}:
        reasons.append(f"takes over from overlay {outcome.previous_overlay}")
    return "; ".join(reasons)


def _named_pools(pools: tuple[str, ...] | None) -> str:
    if pools is None:
        return "every worker pool"
    return f"worker pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}"
