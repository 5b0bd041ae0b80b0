"""What one registration becomes: the declared fields over the live object, and the one guarded patch that does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gitops.gardener.registration_fields import lists_of, registration_rules
from gitops.manifest import Manifest, Path
from gitops.ownership.field_record import (
    FieldRecord,
    field_record,
    guarded_patch,
    owned_fields,
    read_annotation,
    with_record,
    without_identity,
)
from gitops.ownership.merge import Difference, merge


@dataclass(frozen=True)
class RegistrationMerge:
    """A registration as it is, as it becomes, and what differs."""

    live: Manifest
    merged: Manifest
    """With the new record in its annotation where that is to be written."""
    differences: tuple[Difference, ...]
    """Of declared fields; kept ones are among them."""
    writes: bool
    """Whether there is anything to write."""

    def patch(self) -> list[dict[str, Any]]:
        """The guarded JSON patch that turns the live object into the merged one."""
        return guarded_patch(self.live, self.merged)


def read_registration_record(live: Manifest) -> FieldRecord | None:
    """Which overlay owns which fields; None when none ever wrote it.

    Raises:
        Refused: the record cannot be read.
    """
    return read_annotation(live, field_record)


def merge_registration(
    declared: Manifest, live: Manifest, overlay: str, ignored: Callable[[Path], str]
) -> RegistrationMerge:
    """Merge what git declares into a live registration.

    Args:
        declared: as the overlay composes it; partial is fine.
        live: as its API server has it.
        overlay: who owns the fields.
        ignored: why the overlay leaves a path alone, or empty.

    Raises:
        Refused: the record on the live object cannot be read.
    """
    before = read_registration_record(live) or FieldRecord("", frozenset())
    outcome = merge(without_identity(declared), before.fields, live, registration_rules(declared["kind"], ignored))
    record = _record(declared, overlay, ignored)
    writes = record != before or any(not difference.kept for difference in outcome.differences)
    merged = with_record(outcome.merged, record) if writes else live
    return RegistrationMerge(live, merged, outcome.differences, writes)


def new_registration(declared: Manifest, overlay: str, ignored: Callable[[Path], str]) -> Manifest:
    """A declared registration ready to be created, with its record."""
    return with_record(declared, _record(declared, overlay, ignored))


def _record(declared: Manifest, overlay: str, ignored: Callable[[Path], str]) -> FieldRecord:
    fields = owned_fields(declared, lists_of(declared["kind"]))
    return FieldRecord(overlay, frozenset(path for path in fields if not ignored(path)))
