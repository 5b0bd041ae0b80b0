"""Values seen through their schema: what server-side apply needs to compare, merge and cut them.

Semantics follow structured-merge-diff typed/{tofieldset,compare,merge,remove}.go. A value without a declared
type is deduced: maps merge key by key, lists are atomic.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gitops.sandbox.fieldsets import MEMBER, FieldSet, key_element, spelled, union, value_element
from gitops.sandbox.schema import ANYTHING, Schema

_ABSENT: Any = object()


class TypedError(Exception):
    """A value does not fit its schema; the text is the server's."""


@dataclass
class Comparison:
    """What differs between two values, leaf by leaf."""

    added: FieldSet = field(default_factory=dict)
    """Only in the newer value."""
    modified: FieldSet = field(default_factory=dict)
    """In both, with different values."""
    removed: FieldSet = field(default_factory=dict)
    """Only in the older value."""


def equal(left: Any, right: Any) -> bool:
    """Compare JSON values; unlike Python's own comparison, true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def check(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Yield what structured-merge-diff says about a value that its schema does not allow."""
    if value is None or (not schema.type and not schema.is_scalar):
        return
    if schema.is_scalar:
        yield from _check_scalar(value, schema, path)
    elif schema.type == "array":
        yield from _check_list(value, schema, path)
    elif not isinstance(value, dict):
        yield f"{path}: expected map, got &{{{_go(value)}}}"
    else:
        for name, item in value.items():
            known = schema.field(name)
            if known is None:
                yield f"{path}.{name}: field not declared in schema"
            else:
                yield from check(item, known, f"{path}.{name}")


def _check_list(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected list, got &{{{_go(value)}}}"
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        try:
            key = element(schema, item, index)
        except TypedError as problem:
            yield f"{path}: {problem}"
            continue
        below = path + spelled(key)
        if key in seen:
            yield f"{path}: duplicate entries for key {spelled(key)}"
        seen.add(key)
        yield from check(item, schema.items, below)


def _check_scalar(value: Any, schema: Schema, path: str) -> Iterator[str]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if schema.type == "string" and not isinstance(value, str):
        yield f"{path}: expected string, got &value.valueUnstructured{{Value:{_go_literal(value)}}}"
    elif schema.type in {"integer", "number"} and not number:
        yield f"{path}: expected numeric (int or float), got {_go_type(value)}"
    elif schema.type == "boolean" and not isinstance(value, bool):
        yield f"{path}: expected boolean, got &{{{_go(value)}}}"


def _go(value: Any) -> str:
    """Print a value as Go's %v does."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_go(item)}" for key, item in sorted(value.items())) + "]"
    if isinstance(value, list):
        return f"[{' '.join(_go(item) for item in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _go_literal(value: Any) -> str:
    """Print a value as Go's %#v does."""
    if isinstance(value, dict):
        items = (f'"{key}":{_go_literal(item)}' for key, item in sorted(value.items()))
        return f"{_go_type(value)}{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"{_go_type(value)}{{{', '.join(_go_literal(item) for item in value)}}}"
    return f'"{value}"' if isinstance(value, str) else _go(value)


def _go_type(value: Any) -> str:
    """Name a value's type as Go's %T does."""
    names = {bool: "bool", str: "string", float: "float64", dict: "map[string]interface {}"}
    return names.get(type(value), "[]interface {}" if isinstance(value, list) else "int64")


def element(schema: Schema, item: Any, index: int) -> str:
    """Return the path element of a list item; raises TypedError where it cannot have keys."""
    if schema.list_kind == "set":
        return value_element(item)
    if schema.list_kind == "atomic":
        return f"i:{index}"
    if not isinstance(item, dict):
        raise TypedError("associative list with keys may not have non-map elements")
    keys: dict[str, Any] = {}
    for key in schema.list_keys:
        declared = schema.items.properties.get(key)
        if key in item:
            keys[key] = item[key]
        elif declared is not None and "default" in declared.raw:
            keys[key] = declared.raw["default"]
    return key_element(keys)


def _is_map(schema: Schema, value: Any) -> bool:
    return isinstance(value, dict) and not schema.is_scalar and not schema.is_atomic_map and schema.type != "array"


def _is_keyed(schema: Schema, value: Any) -> bool:
    return isinstance(value, list) and schema.type == "array" and schema.list_kind != "atomic"


def _below(schema: Schema, name: str) -> Schema:
    return schema.field(name) or ANYTHING


def to_field_set(value: Any, schema: Schema) -> FieldSet:
    """Return the set of fields a value mentions: what its applier will own."""
    if _is_map(schema, value):
        fields: FieldSet = {}
        for name, item in value.items():
            below = to_field_set(item, _below(schema, name))
            undeclared = name not in schema.properties
            if item is None or item == {} or undeclared:
                below = {MEMBER: {}, **below}
            if below:
                fields[f"f:{name}"] = below
        return fields
    if _is_keyed(schema, value):
        return {
            element(schema, item, index): {MEMBER: {}, **to_field_set(item, schema.items)}
            for index, item in enumerate(value)
        }
    if value is None and (schema.type == "object" and not schema.is_atomic_map):
        return {}
    if value is None and schema.type == "array" and schema.list_kind != "atomic":
        return {}
    return {MEMBER: {}}


def compare(old: Any, new: Any, schema: Schema) -> Comparison:
    """Return what changed from one value to another."""
    found = Comparison()
    _compare(old, new, schema, (), found)
    return found


def _compare(old: Any, new: Any, schema: Schema, path: tuple[str, ...], found: Comparison) -> None:
    seen = [value for value in (old, new) if value is not _ABSENT and value is not None]
    maps = bool(seen) and all(_is_map(schema, value) for value in seen) and any(seen)
    lists = bool(seen) and all(_is_keyed(schema, value) for value in seen) and any(seen)
    if maps:
        before, after = _or_empty(old, {}), _or_empty(new, {})
        for name in {**before, **after}:
            one, two = before.get(name, _ABSENT), after.get(name, _ABSENT)
            if one == two and repr(one) == repr(two):  # most of an object stays as it is: do not look inside
                continue
            _compare(one, two, _below(schema, name), (*path, f"f:{name}"), found)
    elif lists:
        items = [
            {element(schema, item, index): item for index, item in enumerate(_or_empty(value, []))}
            for value in (old, new)
        ]
        for key in {**items[0], **items[1]}:
            one, two = items[0].get(key, _ABSENT), items[1].get(key, _ABSENT)
            _compare(one, two, schema.items, (*path, key), found)
    elif old is not _ABSENT and new is not _ABSENT:
        if not equal(old, new):
            _insert(found.modified, path)
            _compare_parts(old, new, schema, path, found)
        return
    if old is _ABSENT:
        _insert(found.added, path)
    elif new is _ABSENT:
        _insert(found.removed, path)


def _compare_parts(old: Any, new: Any, schema: Schema, path: tuple[str, ...], found: Comparison) -> None:
    """Go below a map that has become something else, or the other way round."""
    if _is_map(schema, old) and not _is_map(schema, new):
        for name, item in old.items():
            _compare(item, _ABSENT, _below(schema, name), (*path, f"f:{name}"), found)
    elif _is_map(schema, new) and not _is_map(schema, old):
        for name, item in new.items():
            _compare(_ABSENT, item, _below(schema, name), (*path, f"f:{name}"), found)


def _or_empty(value: Any, empty: Any) -> Any:
    return empty if value is _ABSENT or value is None else value


def _insert(fields: FieldSet, path: tuple[str, ...]) -> None:
    if path:
        for step in path:
            fields = fields.setdefault(step, {})
        fields[MEMBER] = {}


def merge(live: Any, applied: Any, schema: Schema) -> Any:
    """Return the live value with an applied one laid over it."""
    if _is_map(schema, applied) and (live is None or _is_map(schema, live)):
        if not applied and not live:
            return applied
        merged = dict(live or {})
        for name, item in applied.items():
            if name in merged:
                merged[name] = merge(merged[name], item, _below(schema, name))
            else:
                merged[name] = merge(None, item, _below(schema, name))
        return merged
    if applied is None and (_is_map(schema, live) or _is_keyed(schema, live)) and live:
        return live
    if _is_keyed(schema, applied) and (live is None or _is_keyed(schema, live)):
        return _merge_keyed(live or [], applied, schema)
    return applied


def _merge_keyed(live: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    """Merge two keyed lists: shared items in the applied order, the others where they stood."""
    theirs = {element(schema, item, index): item for index, item in enumerate(live)}
    ours = {element(schema, item, index): item for index, item in enumerate(applied)}
    merged: list[Any] = []
    waiting, coming = list(theirs), list(ours)
    shared = [key for key in coming if key in theirs]
    while waiting or coming:
        first = waiting[0] if waiting else None
        if first is not None and coming:
            if first == coming[0]:
                merged.append(merge(theirs[first], ours[first], schema.items))
                waiting.pop(0)
                coming.pop(0)
                shared = shared[1:]
                continue
            if first in ours and shared and shared[0] != first:
                waiting.pop(0)
                continue
        if first is not None:
            if first not in ours:
                merged.append(theirs[first])
                waiting.pop(0)
                continue
            if first not in coming:
                waiting.pop(0)
        if coming:
            key = coming.pop(0)
            merged.append(merge(theirs.get(key), ours[key], schema.items))
            if shared and shared[0] == key:
                shared = shared[1:]
    return merged


def remove(value: Any, fields: FieldSet, schema: Schema) -> Any:
    """Return a value without the fields of a set; None where nothing is left of it."""
    if _is_map(schema, value):
        kept = {}
        for name, item in value.items():
            below = fields.get(f"f:{name}", {})
            if MEMBER not in below:
                kept[name] = remove(item, below, _below(schema, name)) if below else item
        return kept or None
    if _is_keyed(schema, value):
        rest = []
        for index, item in enumerate(value):
            below = fields.get(element(schema, item, index), {})
            if MEMBER not in below:
                rest.append(remove(item, below, schema.items) if below else item)
        return rest or None
    return None if _is_container(schema, value) else value


def _is_container(schema: Schema, value: Any) -> bool:
    """Tell an atomic map or list: a subset of it cannot be cut out, so all of it goes."""
    return isinstance(value, dict | list) and not schema.is_scalar


def with_named_parents(fields: FieldSet, schema: Schema) -> FieldSet:
    """Return a set in which every declared field that has members below is a member itself."""
    full: FieldSet = {}
    for key, below in fields.items():
        if key == MEMBER:
            full[key] = below
            continue
        if key.startswith("f:"):
            name = key[2:]
            deeper = with_named_parents(below, _below(schema, name))
            declared = name in schema.properties
            full[key] = union(deeper, {MEMBER: {}}) if declared and deeper else deeper
        else:
            full[key] = with_named_parents(below, schema.items)
    return full
