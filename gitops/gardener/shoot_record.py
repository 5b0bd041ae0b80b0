"""What the pipeline remembers on a Shoot, in the annotation of `gitops.ownership.field_record`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gitops.manifest import Manifest, get
from gitops.ownership.field_record import FieldRecord, field_record, read_annotation


@dataclass(frozen=True)
class ShootRecord(FieldRecord):
    """Which overlay owns which fields of a Shoot, and which kinds of objects inside it."""

    kinds: frozenset[tuple[str, str]]
    """apiVersion and kind of what the overlay may hold inside the shoot; widened before anything is applied there, so
    that what a killed run left behind is found."""
    changed_at: datetime | None
    """No operation that ended before this, by the garden's clock, has seen our last change; None when there was
    none that a window could hold back."""
    vectors: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Name and digest of each image vector that the shoot was rolled with, or is to be by its next reconcile."""

    def stored(self) -> dict[str, Any]:
        """What the annotation says, as JSON."""
        return {
            **super().stored(),
            "kinds": sorted(self.kinds),
            **({"changedAt": timestamp(self.changed_at)} if self.changed_at else {}),
            **({"vectors": dict(sorted(self.vectors))} if self.vectors else {}),
        }


def read_record(shoot: Manifest) -> ShootRecord | None:
    """The record on a live Shoot; None when the pipeline never wrote it.

    Raises:
        Refused: there is one and it cannot be read, so that it is unknown which fields are ours.
    """
    return read_annotation(shoot, _shoot_record)


def has_vectors(shoot: Manifest) -> bool:
    """Whether the pipeline ever rolled image vectors on a live Shoot.

    Raises:
        Refused: what it wrote there cannot be read.
    """
    record = read_record(shoot)
    return record is not None and bool(record.vectors)


def _shoot_record(stored: dict[str, Any]) -> ShootRecord:
    own = field_record(stored)
    return ShootRecord(
        overlay=own.overlay,
        fields=own.fields,
        kinds=frozenset((str(version), str(kind)) for version, kind in stored["kinds"]),
        changed_at=parse_timestamp(stored["changedAt"]) if "changedAt" in stored else None,
        vectors=frozenset((str(name), str(digest)) for name, digest in stored.get("vectors", {}).items()),
    )


def unseen_before(shoot: Manifest, server_time: datetime) -> datetime:
    """The `changed_at` of a spec change written over this observation of the Shoot.

    Timestamps have a resolution of one second, so an operation that ended in the very second of the observation
    must not count as one that came after the change.
    """
    last = get(shoot, "status", "lastOperation", "lastUpdateTime")
    ended = parse_timestamp(last) + timedelta(seconds=1) if last else server_time
    return max(server_time, ended)


def parse_timestamp(text: str) -> datetime:
    """An RFC 3339 time as API servers write it, with its zone."""
    return datetime.fromisoformat(text)


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with whole seconds, as API servers write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
