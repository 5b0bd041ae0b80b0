"""What one Shoot becomes: the declared fields over the live object, and the one guarded patch that does it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gitops.gardener.rolling import Vector, unrolled, vectors_for
from gitops.gardener.shoot_fields import SHOOT_LISTS, shoot_rules
from gitops.gardener.shoot_record import ShootRecord, read_record, unseen_before
from gitops.gardener.succession import Move, inherited
from gitops.manifest import Element, Manifest, Path, get
from gitops.ownership.field_record import annotated, guarded_patch, owned_fields, with_record, without_identity
from gitops.ownership.field_set import FieldSet
from gitops.ownership.merge import ABSENT, Difference, lookup, merge

OPERATION = "gardener.cloud/operation"


@dataclass(frozen=True)
class Terms:
    """On what terms an overlay writes one Shoot."""

    overlay: str
    """Who owns the fields."""
    kinds: frozenset[tuple[str, str]] = frozenset()
    """apiVersion and kind of what the overlay declares inside the shoot."""
    ignored: Callable[[Path], str] = lambda _: ""
    """Why the overlay leaves a path alone, or empty."""
    vectors: tuple[Vector, ...] = ()
    """Every image vector that the overlay declares, whether or not it concerns this shoot."""
    moves: tuple[Move, ...] = ()
    """Extensions that take over from others."""


@dataclass(frozen=True)
class ShootMerge:
    """A Shoot as it is, as it becomes, and what differs."""

    live: Manifest
    merged: Manifest
    """With the new record in its annotation, but for the record's time."""
    differences: tuple[Difference, ...]
    """Of declared fields; kept ones are among them."""
    record: ShootRecord
    widened: bool
    """Whether the record must be written although no declared field differs."""
    previous_overlay: str
    """Which overlay wrote the Shoot last; empty when none did."""
    rolls: tuple[str, ...] = ()
    """Extensions with whose images the shoot has not been reconciled yet."""

    @property
    def writes(self) -> bool:
        """Whether there is anything to write."""
        return self.widened or any(not difference.kept for difference in self.differences)

    @property
    def changes_spec(self) -> bool:
        """Whether Gardener has something to do afterwards."""
        return any(d.path[0] == "spec" and not d.kept for d in self.differences)

    @property
    def confined(self) -> bool:
        """Whether what is written takes effect in the maintenance window only, and nobody may hasten it."""
        return bool(get(self.live, "spec", "maintenance", "confineSpecUpdateRollout"))

    @property
    def triggers(self) -> bool:
        """Whether the patch asks Gardener for a reconcile, as nothing else in it would bring one.

        The annotation must not be combined with a change of the spec: it would stay, and the next write of anybody
        would reconcile once more. A shoot that was never reconciled takes the present images anyway, and so does one
        that wakes up; a Failed one is nobody's to retry but a person's.
        """
        asleep = get(self.live, "spec", "hibernation", "enabled")
        running = get(self.live, "status", "lastOperation", "state") not in {None, "Failed"}
        return bool(self.rolls) and running and not (self.changes_spec or self.confined or asleep)


def merge_shoot(declared: Manifest, live: Manifest, terms: Terms) -> ShootMerge:
    """Merge what git declares into a live Shoot.

    Args:
        declared: the Shoot as the overlay composes it; partial is fine.
        live: the Shoot as the garden has it.
        terms: who declares it, and what else belongs to it.

    Raises:
        Refused: the live record cannot be read.
    """
    before = read_record(live) or ShootRecord("", frozenset(), frozenset(), None)
    outcome = merge(without_identity(declared), before.fields, live, shoot_rules(declared, terms.ignored))
    left = _left_entries(before.fields, frozenset(owned_fields(declared, SHOOT_LISTS)), terms.ignored)
    merged, differences = _switch_off_left_entries(outcome.merged, outcome.differences, live, left)
    differences = (*differences, *_inherit(merged, live, terms.moves))
    vectors = vectors_for(merged, terms.vectors)
    record = replace(
        before,
        overlay=terms.overlay,
        fields=_owned(declared, terms.ignored),
        kinds=before.kinds | terms.kinds,
        vectors=vectors,
    )
    rolls = unrolled(before.vectors, vectors, terms.vectors)
    return ShootMerge(live, merged, differences, record, record != before, before.overlay, rolls)


def patch_of(outcome: ShootMerge, server_time: datetime) -> list[dict[str, Any]]:
    """The guarded JSON patch that turns the live Shoot into the merged one.

    Args:
        outcome: the merge to write.
        server_time: when the live object was read, by the garden's clock.
    """
    record = outcome.record
    if outcome.changes_spec or (outcome.rolls and outcome.confined):
        record = replace(record, changed_at=unseen_before(outcome.live, server_time))
    merged = with_record(outcome.merged, record)
    return guarded_patch(outcome.live, annotated(merged, {OPERATION: "reconcile"}) if outcome.triggers else merged)


def new_shoot(declared: Manifest, terms: Terms) -> Manifest:
    """A declared Shoot ready to be created, with its record; ignored fields get their first value from git."""
    vectors = vectors_for(declared, terms.vectors)
    return with_record(
        declared, ShootRecord(terms.overlay, _owned(declared, terms.ignored), terms.kinds, None, vectors)
    )


def missing_for_creation(declared: Manifest) -> tuple[str, ...]:
    """Which required fields a declared Shoot lacks to be created (gardener pkg/api/core/validation/shoot.go)."""
    required = (
        ("spec", "cloudProfile", "name"),
        ("spec", "region"),
        ("spec", "provider", "type"),
    )
    absent = ["/" + "/".join(path) for path in required if get(declared, *path) is None]
    if get(declared, "spec", "cloudProfileName") is not None:
        absent = [path for path in absent if path != "/spec/cloudProfile/name"]
    return tuple(absent)


def _owned(declared: Manifest, ignored: Callable[[Path], str]) -> FieldSet:
    return frozenset(path for path in owned_fields(declared, SHOOT_LISTS) if not ignored(path))


def _left_entries(before: FieldSet, declared: FieldSet, ignored: Callable[[Path], str]) -> tuple[Path, ...]:
    """Entries of extensions that were declared and are no longer, but for those that may not be switched."""
    left = sorted(_entries(before) - _entries(declared), key=str)
    return tuple(entry for entry in left if not ignored((*entry, "disabled")))


def _entries(fields: FieldSet) -> set[Path]:
    return {path[:3] for path in fields if path[:2] == ("spec", "extensions") and len(path) > 2}


def _switch_off_left_entries(
    merged: Manifest, differences: tuple[Difference, ...], live: Manifest, left: tuple[Path, ...]
) -> tuple[Manifest, tuple[Difference, ...]]:
    """Disable entries that stay because somebody else holds fields in them.

    An entry without `disabled` is an enabled one, so taking only our fields away would leave it on.
    """
    merged = copy.deepcopy(merged) if left else merged
    for at in left:
        entry = lookup(merged, at)
        if entry is ABSENT or entry.get("disabled") is True:
            continue
        switch = (*at, "disabled")
        entry["disabled"] = True
        rest = tuple(difference for difference in differences if difference.path != switch)
        differences = (*rest, Difference(switch, lookup(live, switch), desired=True))
    return merged, differences


def _inherit(merged: Manifest, live: Manifest, moves: Iterable[Move]) -> list[Difference]:
    """Give each new extension what it inherits, in `merged`, when its entry comes into being.

    It is a first value, owned by nobody: from then on it is the business of whoever changes it.
    """
    differences = []
    for move in moves:
        at: Path = ("spec", "extensions", Element("type", move.new))
        entry = lookup(merged, at)
        if entry is ABSENT or "providerConfig" in entry or lookup(live, at) is not ABSENT:
            continue
        old = lookup(merged, ("spec", "extensions", Element("type", move.old), "providerConfig"))
        if config := inherited(move.old, old):
            entry["providerConfig"] = copy.deepcopy(config)
            differences.append(Difference((*at, "providerConfig"), ABSENT, config))
    return differences
