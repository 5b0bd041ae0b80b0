"""What the pipeline remembers on a Shoot: an annotation, written in the same patch as what it speaks of.

It holds paths and never values. A Shoot's extensions are an atomic list to an API server, so managed fields cannot
tell whose an entry is; this can.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gitops.errors import Refused
from gitops.manifest import Manifest, get, shoot_target
from gitops.ownership.field_set import FieldSet, from_fields_v1, to_fields_v1

RECORD_ANNOTATION = "shoot-gitops/owned"


@dataclass(frozen=True)
class ShootRecord:
    """Which overlay owns which fields of a Shoot, and which kinds of objects inside it."""

    overlay: str
    fields: FieldSet
    """What the overlay declared when it wrote last."""
    kinds: frozenset[tuple[str, str]]
    """apiVersion and kind of what the overlay may hold inside the shoot; widened before anything is applied there, so
    that what a killed run left behind is found."""
    changed_at: datetime | None
    """No operation that ended before this, by the garden's clock, has seen our last change of the spec; None when
    no spec was ever changed."""

    def text(self) -> str:
        """The annotation's value: compact JSON with stable order."""
        stored = {
            "overlay": self.overlay,
            "fields": to_fields_v1(self.fields),
            "kinds": sorted(self.kinds),
            **({"changedAt": timestamp(self.changed_at)} if self.changed_at else {}),
        }
        return json.dumps(stored, separators=(",", ":"))


def read_record(shoot: Manifest) -> ShootRecord | None:
    """The record on a live Shoot; None when the pipeline never wrote it.

    Raises:
        Refused: there is one and it cannot be read, so that it is unknown which fields are ours.
    """
    text = get(shoot, "metadata", "annotations", RECORD_ANNOTATION)
    if text is None:
        return None
    try:
        stored = json.loads(text)
        return ShootRecord(
            overlay=str(stored["overlay"]),
            fields=from_fields_v1(stored["fields"]),
            kinds=frozenset((str(version), str(kind)) for version, kind in stored["kinds"]),
            changed_at=parse_timestamp(stored["changedAt"]) if "changedAt" in stored else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(
            f"Shoot {shoot_target(shoot)}: the annotation {RECORD_ANNOTATION} cannot be read ({error}), so it is "
            "unknown which fields are ours; remove the annotation to start over: nothing is then taken away"
        ) from error


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
