"""What the pipeline remembers on an object of the garden: an annotation, written in the patch that it speaks of.

It holds paths and never values. Many lists of Gardener's objects are one value to an API server, so managed fields
cannot tell whose an element is; this can.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import jsonpatch

from gitops.errors import Refused
from gitops.manifest import Manifest, Path, get, ref_of
from gitops.ownership.field_set import FieldSet, declared_fields, from_fields_v1, to_fields_v1
from gitops.ownership.lists import ListKeys

RECORD_ANNOTATION = "shoot-gitops/owned"
_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
_R = TypeVar("_R")


@dataclass(frozen=True)
class FieldRecord:
    """Which overlay owns which fields of an object."""

    overlay: str
    fields: FieldSet
    """What the overlay declared when it wrote last."""

    def stored(self) -> dict[str, Any]:
        """What the annotation says, as JSON."""
        return {"overlay": self.overlay, "fields": to_fields_v1(self.fields)}

    def text(self) -> str:
        """The annotation's value: compact JSON with stable order."""
        return json.dumps(self.stored(), separators=(",", ":"))


def field_record(stored: dict[str, Any]) -> FieldRecord:
    """The record that an annotation holds.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it holds none.
    """
    return FieldRecord(str(stored["overlay"]), from_fields_v1(stored["fields"]))


def read_annotation(manifest: Manifest, read: Callable[[dict[str, Any]], _R]) -> _R | None:
    """The record on a live object; None when the pipeline never wrote it.

    Args:
        manifest: the live object.
        read: makes a record of the annotation's JSON.

    Raises:
        Refused: there is one and it cannot be read, so that it is unknown which fields are ours.
    """
    text = get(manifest, "metadata", "annotations", RECORD_ANNOTATION)
    if text is None:
        return None
    try:
        return read(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(
            f"{ref_of('', manifest)}: the annotation {RECORD_ANNOTATION} cannot be read ({error}), so it is unknown "
            "which fields are ours; remove the annotation to start over: nothing is then taken away"
        ) from error


def with_record(manifest: Manifest, record: FieldRecord) -> Manifest:
    """The same object with the record in its annotation."""
    return annotated(manifest, {RECORD_ANNOTATION: record.text()})


def annotated(manifest: Manifest, annotations: dict[str, str]) -> Manifest:
    """The same object with further annotations."""
    changed = copy.deepcopy(manifest)
    changed["metadata"]["annotations"] = {**(changed["metadata"].get("annotations") or {}), **annotations}
    return changed


def owned_fields(declared: Manifest, lists: ListKeys) -> dict[Path, Any]:
    """The fields of a declared object that the pipeline owns: all but those that name it."""
    return {path: value for path, value in declared_fields(declared, lists) if path not in _IDENTITY}


def without_identity(declared: Manifest) -> Manifest:
    """A declared object without the fields that name it."""
    metadata = {key: value for key, value in declared["metadata"].items() if key not in {"name", "namespace"}}
    parts = {key: value for key, value in declared.items() if key not in {"apiVersion", "kind", "metadata"}}
    return {
        **({"metadata": metadata} if metadata else {}),
        **{key: part for key, part in parts.items() if part not in (None, {}, [])},
    }


def guarded_patch(live: Manifest, merged: Manifest) -> list[dict[str, Any]]:
    """The JSON patch that turns the live object into the merged one, guarded by the version it was computed from.

    The guard is a `replace` of resourceVersion, which a server answers with 409 when it is stale; a failing
    `test` would be an unspecific 422.
    """
    guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}
    return [guard, *jsonpatch.make_patch(live, merged).patch]
