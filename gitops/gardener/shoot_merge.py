"""What one Shoot becomes: the declared fields over the live object, and the one guarded patch that does it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import jsonpatch

from gitops.gardener.shoot_fields import SHOOT_LISTS, shoot_rules
from gitops.gardener.shoot_record import RECORD_ANNOTATION, ShootRecord, read_record, unseen_before
from gitops.manifest import Manifest, Path, get
from gitops.ownership.field_set import FieldSet, declared_fields
from gitops.ownership.merge import ABSENT, Difference, lookup, merge

_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


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

    @property
    def writes(self) -> bool:
        """Whether there is anything to write."""
        return self.widened or any(not difference.kept for difference in self.differences)

    @property
    def changes_spec(self) -> bool:
        """Whether Gardener has something to do afterwards."""
        return any(d.path[0] == "spec" and not d.kept for d in self.differences)


def owned_fields(declared: Manifest) -> dict[Path, Any]:
    """The fields of a declared Shoot that the pipeline owns: all but those that name it."""
    return {p: v for p, v in declared_fields(declared, SHOOT_LISTS) if p not in _IDENTITY}


def merge_shoot(
    declared: Manifest,
    live: Manifest,
    *,
    overlay: str,
    kinds: frozenset[tuple[str, str]],
    ignored: Callable[[Path], str],
) -> ShootMerge:
    """Merge what git declares into a live Shoot.

    Args:
        declared: the Shoot as the overlay composes it; partial is fine.
        live: the Shoot as the garden has it.
        overlay: who owns the fields.
        kinds: apiVersion and kind of what the overlay declares inside the shoot.
        ignored: why the overlay leaves a path alone, or empty.

    Raises:
        Refused: the live record cannot be read.
    """
    before = read_record(live) or ShootRecord("", frozenset(), frozenset(), None)
    outcome = merge(_without_identity(declared), before.fields, live, shoot_rules(declared, ignored))
    left = _left_entries(before.fields, frozenset(owned_fields(declared)), ignored)
    merged, differences = _switch_off_left_entries(outcome.merged, outcome.differences, live, left)
    record = replace(before, overlay=overlay, fields=_owned(declared, ignored), kinds=before.kinds | kinds)
    return ShootMerge(live, merged, differences, record, record != before, before.overlay)


def patch_of(outcome: ShootMerge, server_time: datetime) -> list[dict[str, Any]]:
    """The JSON patch that turns the live Shoot into the merged one, guarded by the version it was computed from.

    The guard is a `replace` of resourceVersion, which a server answers with 409 when it is stale; a failing
    `test` would be an unspecific 422.

    Args:
        outcome: the merge to write.
        server_time: when the live object was read, by the garden's clock.
    """
    record = outcome.record
    if outcome.changes_spec:
        record = replace(record, changed_at=unseen_before(outcome.live, server_time))
    merged = with_record(outcome.merged, record)
    guard = {
        "op": "replace",
        "path": "/metadata/resourceVersion",
        "value": outcome.live["metadata"]["resourceVersion"],
    }
    return [guard, *jsonpatch.make_patch(outcome.live, merged).patch]


def new_shoot(
    declared: Manifest,
    *,
    overlay: str,
    kinds: frozenset[tuple[str, str]],
    ignored: Callable[[Path], str] = lambda _: "",
) -> Manifest:
    """A declared Shoot ready to be created, with its record; ignored fields get their first value from git.

    Args:
        declared: the Shoot as the overlay composes it.
        overlay: who owns the fields.
        kinds: apiVersion and kind of what the overlay declares inside the shoot.
        ignored: why the overlay leaves a path alone from then on, or empty.
    """
    record = ShootRecord(overlay, _owned(declared, ignored), kinds, None)
    return with_record(declared, record)


def with_record(shoot: Manifest, record: ShootRecord) -> Manifest:
    """The same Shoot with the record in its annotation."""
    recorded = copy.deepcopy(shoot)
    annotations = recorded["metadata"].get("annotations") or {}
    recorded["metadata"]["annotations"] = {**annotations, RECORD_ANNOTATION: record.text()}
    return recorded


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
    return frozenset(path for path in owned_fields(declared) if not ignored(path))


def _without_identity(declared: Manifest) -> Manifest:
    metadata = {k: v for k, v in declared["metadata"].items() if k not in {"name", "namespace"}}
    parts = {"metadata": metadata, "spec": declared.get("spec")}
    return {key: part for key, part in parts.items() if part}


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
