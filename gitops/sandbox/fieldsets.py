"""Sets of fields in the form the API itself uses: fieldsV1.

A set is a nested dict: `{"f:spec": {"f:replicas": {".": {}}}}`. The key `.` says that the path up to here
is a member. (On the wire a member without children is written `{}`: `encode` and `decode` translate.)
Semantics follow structured-merge-diff fieldpath/set.go.
"""

import json
from collections.abc import Iterator
from typing import Any

FieldSet = dict[str, Any]

MEMBER = "."


def decode(fields: FieldSet) -> FieldSet:
    """Return the set that a fieldsV1 document describes."""
    return {key: {} if key == MEMBER else (decode(below) if below else {MEMBER: {}}) for key, below in fields.items()}


def encode(fields: FieldSet) -> FieldSet:
    """Return the fieldsV1 document of a set, in the server's order."""
    return {
        key: {} if key == MEMBER or below == {MEMBER: {}} else encode(below)
        for key, below in sorted(fields.items(), key=lambda item: _order(item[0]))
    }


def _order(element: str) -> tuple[int, str]:
    return ("." + "fkvi").index(element[0]), element


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of either."""
    if not left or not right:
        return left or right
    merged = dict(left)
    for key, below in right.items():
        merged[key] = union(merged[key], below) if key in merged else below
    return merged


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of both."""
    shared: FieldSet = {}
    for key in left.keys() & right.keys():
        below = intersection(left[key], right[key])
        if key == MEMBER or below:
            shared[key] = below
    return shared


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of the left that the right does not have."""
    rest: FieldSet = {}
    for key, below in left.items():
        if key not in right:
            rest[key] = below
        elif key != MEMBER:
            deeper = difference(below, right[key])
            if deeper:
                rest[key] = deeper
    return rest


def subtree(fields: FieldSet, elements: tuple[str, ...]) -> FieldSet:
    """Return the part of a set at and below a path."""
    if not elements:
        return fields
    below = subtree(fields.get(elements[0], {}), elements[1:])
    return {elements[0]: below} if below else {}


def paths(fields: FieldSet) -> Iterator[str]:
    """Yield every member as the server spells it in a conflict: .spec.workers[name="w1"].labels."""
    for key, below in sorted(fields.items(), key=lambda item: _order(item[0])):
        if key == MEMBER:
            yield ""
        else:
            for rest in paths(below):
                yield spelled(key) + rest


def spelled(element: str) -> str:
    """Return a path element as the server spells it in a message: .name, [name="w1"], [="x"], [0]."""
    form, _, value = element.partition(":")
    if form == "f":
        return f".{value}"
    if form == "k":
        return "[" + ",".join(f"{name}={_compact(item)}" for name, item in json.loads(value).items()) + "]"
    return f"[={value}]" if form == "v" else f"[{value}]"


def key_element(keys: dict[str, Any]) -> str:
    """Return the path element of an item in a keyed list."""
    return "k:" + _compact(dict(sorted(keys.items())))


def value_element(value: Any) -> str:
    """Return the path element of an item in a set."""
    return "v:" + _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
