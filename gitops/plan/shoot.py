"""The change of one Shoot object in the garden."""

from __future__ import annotations

from gitops.desired.compose import DesiredShoot
from gitops.gardener.shoot_cost import Effect, rolled_pools, total_effect
from gitops.gardener.shoot_fields import SHOOT_LISTS
from gitops.gardener.shoot_merge import ShootMerge, Terms, merge_shoot, missing_for_creation
from gitops.gardener.succession import lost
from gitops.manifest import GARDEN, Manifest, Ref, get, ref_of
from gitops.ownership.field_record import owned_fields
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


def terms_of(desired: DesiredShoot, overlay: str) -> Terms:
    """On what terms an overlay writes a Shoot."""
    ignored = ignored_by(desired.ignored, "Shoot")
    return Terms(overlay, declared_kinds(desired), ignored, desired.vectors, desired.moves)


def merge_of(desired: DesiredShoot, live: Manifest, overlay: str) -> ShootMerge:
    """What the live Shoot becomes.

    Raises:
        Refused: the record on the live Shoot cannot be read.
    """
    return merge_shoot(desired.shoot, live, terms_of(desired, overlay))


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
    fields = tuple(field_change("Shoot", difference, live) for difference in outcome.differences)
    if not outcome.writes:
        return Change(ref, Action.UNCHANGED, fields)
    return Change(ref, Action.CONFIGURED, fields, _cost(outcome), _reason(outcome))


def shoot_notes(desired: DesiredShoot, live: Manifest | None) -> tuple[str, ...]:
    """What a person should know before extensions are switched off: what goes with them, and what stays behind."""
    entries = {entry["type"]: entry for entry in get(live, "spec", "extensions") or [] if not entry.get("disabled")}
    off = [e["type"] for e in get(desired.shoot, "spec", "extensions") or [] if e.get("disabled") is True]
    notes = [
        f"disabling {type_} takes along what it installed in the shoot: its CRDs, and with a CRD every object of that "
        "kind, whoever made it; this overlay's own policies are applied again in the same wave"
        for type_ in off
        if type_ in entries
    ]
    left = [lost(move.old, get(entries[move.old], "providerConfig")) for move in desired.moves if move.old in entries]
    return (*notes, *(sentence for sentences in left for sentence in sentences))


def _creation(desired: DesiredShoot, ref: Ref) -> Change:
    if lacking := missing_for_creation(desired.shoot):
        reason = (
            f"the garden has no such Shoot, and what git declares is too little to create it: {', '.join(lacking)} "
            "missing; correct the name, or declare the whole Shoot"
        )
        return Change(ref, Action.SKIPPED, reason=reason)
    fields = tuple(
        FieldChange(path, ABSENT, masked("Shoot", path, value), manager="")
        for path, value in owned_fields(desired.shoot, SHOOT_LISTS).items()
    )
    return Change(ref, Action.CREATED, fields, Cost.NONE, "a new shoot is created")


def field_change(kind: str, difference: Difference, live: Manifest) -> FieldChange:
    """A difference of a live object as a plan shows it."""
    writer = writer_of(live, difference.path)
    return FieldChange(
        difference.path,
        masked(kind, difference.path, difference.live),
        masked(kind, difference.path, difference.desired),
        manager=writer.manager if writer else "",
        since=writer.time if writer else "",
        ignored=difference.kept,
    )


def _cost(outcome: ShootMerge) -> Cost:
    effect = total_effect(outcome.differences)
    return _COSTS[max(effect, Effect.CONTROL_PLANE) if outcome.rolls else effect]


def _reason(outcome: ShootMerge) -> str:
    reasons = []
    written = [difference for difference in outcome.differences if not difference.kept]
    if outcome.rolls:
        reasons.append(f"rolls image vector of {', '.join(outcome.rolls)}{_when(outcome)}")
    elif not written:
        reasons.append("records what is owned here; no field changes")
    if _cost(outcome) is Cost.NODE_ROLL:
        pools = rolled_pools(outcome.differences)
        reasons.append(f"replaces the machines of {_named_pools(pools)}")
    if outcome.changes_spec and outcome.confined:
        reasons.append("rolls out only in the shoot's maintenance window (spec.maintenance.confineSpecUpdateRollout)")
    if outcome.previous_overlay not in {"", outcome.record.overlay}:
        reasons.append(f"takes over from overlay {outcome.previous_overlay}")
    return "; ".join(reasons)


def _when(outcome: ShootMerge) -> str:
    """How a new image vector comes to the shoot, where nothing else is written that brings it."""
    if outcome.triggers:
        return " by one reconcile"
    if outcome.changes_spec:
        return " with the change of the spec"
    if outcome.confined:
        return " in the shoot's maintenance window (spec.maintenance.confineSpecUpdateRollout)"
    if get(outcome.live, "status", "lastOperation", "state") == "Failed":
        return ", once its last operation, which Failed, has been retried by a person"
    return " when it is reconciled next"


def _named_pools(pools: tuple[str, ...] | None) -> str:
    if pools is None:
        return "every worker pool"
    return f"worker pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}"
