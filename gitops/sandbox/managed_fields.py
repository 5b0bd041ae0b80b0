"""Who owns which field: metadata.managedFields, on plain writes and on server-side apply.

Semantics follow structured-merge-diff merge/update.go and apimachinery pkg/util/managedfields. An object is
compared in the version it is written in; sets are not converted between versions.
"""

from dataclasses import dataclass
from typing import Any

from gitops.sandbox import fieldsets
from gitops.sandbox.fieldsets import FieldSet, difference, intersection, union
from gitops.sandbox.last_applied import renewed, taken_over
from gitops.sandbox.schema import Schema
from gitops.sandbox.typed import (
    TypedError,
    check,
    compare,
    equal,
    merge,
    remove,
    to_field_set,
    with_named_parents,
)
from gitops.sandbox.wire import ApiError, Manifest, bad_request

_UNOWNED: FieldSet = fieldsets.decode(
    {
        "f:apiVersion": {},
        "f:kind": {},
        "f:metadata": {
            ".": {},
            **{
                f"f:{name}": {}
                for name in (
                    "name",
                    "namespace",
                    "creationTimestamp",
                    "selfLink",
                    "uid",
                    "generation",
                    "managedFields",
                    "resourceVersion",
                )
            },
        },
    }
)


@dataclass(frozen=True)
class Writer:
    """Who writes: one entry of managedFields."""

    manager: str
    """The field manager's name."""
    operation: str
    """Apply or Update."""
    api_version: str
    """The version the fields are written in."""
    subresource: str = ""
    """e.g. status; empty for the object itself."""


@dataclass(frozen=True)
class Authorship:
    """A write: by whom, when, and on what kind of object."""

    writer: Writer
    """Whose entry the write goes to."""
    schema: Schema
    """Of the whole object."""
    now: str
    """RFC 3339."""


@dataclass(frozen=True)
class Entry:
    """What a writer owns, and since when."""

    fields: FieldSet
    """The owned set."""
    time: str
    """RFC 3339, of its last change."""


Managers = dict[Writer, Entry]


def read(manifest: Manifest) -> Managers:
    """Return the owners that an object's metadata names."""
    found: Managers = {}
    for raw in manifest.get("metadata", {}).get("managedFields") or ():
        writer = Writer(
            raw.get("manager", ""),
            raw.get("operation", ""),
            raw.get("apiVersion", ""),
            raw.get("subresource", ""),
        )
        found[writer] = Entry(fieldsets.decode(raw.get("fieldsV1") or {}), raw.get("time", ""))
    return found


def written(managers: Managers) -> list[Manifest]:
    """Return managedFields in the server's order: Apply first, then by time, then by name."""
    entries = []
    for writer, entry in sorted(managers.items(), key=lambda item: _order(*item)):
        raw: Manifest = {
            "manager": writer.manager,
            "operation": writer.operation,
            "apiVersion": writer.api_version,
            "time": entry.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fieldsets.encode(entry.fields),
        }
        if writer.subresource:
            raw["subresource"] = writer.subresource
        entries.append(raw)
    return entries


def _order(writer: Writer, entry: Entry) -> tuple[str, str, str, str, str]:
    return writer.operation, entry.time, writer.manager, writer.api_version, writer.subresource


def before(live: Manifest, new: Manifest, subresource: str) -> Managers:
    """Return the owners a write starts from: a client may replace or reset them on the object itself."""
    sent = new.get("metadata", {}).get("managedFields")
    if subresource or not sent:
        return read(live)
    if sent == [{}]:
        return {}
    return read(new) or read(live)


def update(live: Manifest, new: Manifest, managers: Managers, by: Authorship) -> Managers:
    """Return the owners after a plain write: its writer takes over whatever it changes.

    For a new object `live` holds what is there without anybody writing it: the parts that Go always prints.
    """
    try:
        changes = compare(_bare(live), _bare(new), by.schema)
    except TypedError:
        return managers  # validation will say what is wrong with it
    changed = union(changes.modified, changes.added)
    own = managers.get(by.writer)
    rest = _without(managers, changed, changes.removed)
    taken = difference(changed, _UNOWNED)
    kept = rest.pop(by.writer, None)
    if taken:
        rest[by.writer] = Entry(union(kept.fields if kept else {}, taken), by.now)
    elif kept:
        rest[by.writer] = Entry(kept.fields, own.time if own else by.now)
    return rest


def _without(managers: Managers, changed: FieldSet, removed: FieldSet) -> Managers:
    left = {}
    for writer, entry in managers.items():
        fields = difference(difference(entry.fields, changed), removed)
        if fields:
            left[writer] = Entry(fields, entry.time)
    return left


def apply(
    live: Manifest, config: Manifest, managers: Managers, by: Authorship, *, force: bool
) -> tuple[Manifest, Managers]:
    """Return the object and its owners after a server-side apply.

    Raises:
        ApiError: 409 with every conflicting field where another owner's value would change and force is off;
            500 where the configuration does not fit the schema, as the real server answers.
    """
    if "managedFields" in config.get("metadata", {}):
        raise bad_request("metadata.managedFields must be nil")
    problems = list(check(config, by.schema))
    if problems:
        raise _untypable(config, problems)
    live_bare, config_bare = _bare(live), _bare(config)
    merged = merge(live_bare, config_bare, by.schema)
    last = managers.get(by.writer)
    named = to_field_set(config_bare, by.schema)
    ours = difference(named, _UNOWNED)
    after: Managers = {**managers, by.writer: Entry(named, by.now)}
    merged = _pruned(merged, after, last.fields if last else {}, by.schema)
    changes = compare(live_bare, merged, by.schema)
    changed = union(changes.modified, changes.added)
    others = {other: entry for other, entry in after.items() if other != by.writer}
    if not force:
        _refuse_conflicts(others, difference(changed, taken_over(live, by.schema, by.writer.manager)))
    left = _without(others, changed, changes.removed)
    if ours:
        same = last is not None and equal(last.fields, ours) and equal(merged, live_bare)
        left[by.writer] = Entry(ours, last.time if same and last else by.now)
    renewed(merged, config, by.writer.manager)
    return merged, left


def _untypable(config: Manifest, problems: list[str]) -> ApiError:
    metadata, (group, _, version) = config.get("metadata", {}), config["apiVersion"].rpartition("/")
    named = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    subject = f"{named}; {group}/{version}, Kind={config['kind']}"
    problems = sorted(problems)
    text = problems[0] if len(problems) == 1 else "errors:\n" + "\n".join(f"  {text}" for text in problems)
    return ApiError(500, "", f"failed to create typed patch object ({subject}): {text}")


def _pruned(merged: Manifest, managers: Managers, last: FieldSet, schema: Schema) -> Manifest:
    """Cut what the applier named last time and nobody names now."""
    if not last:
        return merged
    full_last = with_named_parents(last, schema)
    pruned = remove(merged, full_last, schema) or {}
    managed: FieldSet = {}
    for entry in managers.values():
        managed = union(managed, with_named_parents(entry.fields, schema))
    everything = with_named_parents(to_field_set(merged, schema), schema)
    kept = union(with_named_parents(to_field_set(pruned, schema), schema), managed)
    pruned = remove(merged, difference(everything, kept), schema) or {}
    left = with_named_parents(to_field_set(pruned, schema), schema)
    cut = intersection(difference(everything, left), full_last)
    return remove(merged, cut, schema) or {}


def _refuse_conflicts(others: Managers, changed: FieldSet) -> None:
    found: list[tuple[str, str]] = []
    for writer, entry in others.items():
        using = f" using {writer.api_version}" if writer.operation == "Update" else ""
        resource = f' with subresource "{writer.subresource}"' if writer.subresource else ""
        found += [
            (f'conflict with "{writer.manager}"{resource}{using}', path)
            for path in fieldsets.paths(intersection(entry.fields, changed))
        ]
    if not found:
        return
    found.sort()
    causes = [{"reason": "FieldManagerConflict", "message": text, "field": path} for text, path in found]
    raise ApiError(409, "Conflict", _conflict_text(found), {"causes": causes})


def _conflict_text(found: list[tuple[str, str]]) -> str:
    if len(found) == 1:
        return f"Apply failed with 1 conflict: {found[0][0]}: {found[0][1]}"
    lines = [f"Apply failed with {len(found)} conflicts: "]
    text = lines[0]
    blocks: dict[str, list[str]] = {}
    for message, path in found:
        blocks.setdefault(message, []).append(path)
    text += "\n".join(
        f"{message.replace('conflict with', 'conflicts with', 1)}:\n" + "\n".join(f"- {path}" for path in where)
        for message, where in blocks.items()
    )
    return text


def _bare(manifest: Manifest) -> Manifest:
    """Return an object without its managedFields, which own nothing."""
    metadata: Any = manifest.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return manifest
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**manifest, "metadata": rest}
