"""Manifests of one shape, drawn at random, with keyed lists in keyed lists and lists that are one value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from gitops.manifest import Element, Path, is_prefix
from gitops.ownership.field_set import FieldSet, declared_fields
from gitops.ownership.lists import KeyedList, ListKeys, keyed
from gitops.ownership.merge import ABSENT, lookup

LISTS: ListKeys = {
    ("spec", "extensions"): KeyedList("type"),
    ("spec", "pools"): KeyedList("name", defined_by=("machine", "type")),
    ("spec", "pools", "volumes"): KeyedList("name", defined_by=("size",)),
}

_SCALARS = st.sampled_from(["x", "y", 1, 2, 1.5, True, False, ""])
_LEAVES = _SCALARS | st.lists(_SCALARS, max_size=2)
_CONFIG = st.fixed_dictionaries({}, optional={"a": _LEAVES, "b": _LEAVES})


def _named(key: str, fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    names = st.sampled_from(["red", "green", "blue"])
    element = st.fixed_dictionaries({key: names}, optional=fields)
    return st.lists(element, max_size=3, unique_by=lambda element: element[key])


_VOLUMES = _named("name", {"size": _SCALARS, "type": _SCALARS})
_POOLS = _named(
    "name",
    {
        "machine": st.fixed_dictionaries({}, optional={"type": _SCALARS, "image": _CONFIG}),
        "labels": _CONFIG,
        "volumes": _VOLUMES,
    },
)
_EXTENSIONS = _named("type", {"disabled": st.booleans(), "providerConfig": _CONFIG})
_SPEC = st.fixed_dictionaries(
    {}, optional={"region": _SCALARS, "dns": _CONFIG, "zones": _LEAVES, "extensions": _EXTENSIONS, "pools": _POOLS}
)
MANIFESTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"metadata": st.fixed_dictionaries({}, optional={"labels": _CONFIG}), "spec": _SPEC}
)
"""Each is what git declares, what it declared before, or what is live: maps and lists are at the same places in all."""


def fields(manifest: dict[str, Any]) -> FieldSet:
    """The paths that a manifest declares."""
    return frozenset(path for path, _ in declared_fields(manifest, LISTS))


def leaves(value: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every leaf with its bytes, those in elements of keyed lists included."""
    if isinstance(value, dict) and value:
        for key in value:
            yield from leaves(value[key], (*at, key))
    elif isinstance(value, list) and value and (rule := keyed(LISTS, at)):
        for element in value:
            yield from leaves(element, (*at, Element(rule.key, str(element[rule.key]))))
    else:
        yield at, json.dumps(value)


def related(path: Path, others: FieldSet) -> bool:
    """Whether a path is one of the others, above one or below one."""
    return any(is_prefix(path, other) or is_prefix(other, path) for other in others)


def defined(before: FieldSet) -> list[Path]:
    """Elements whose defining field is in the set: they were declared whole."""
    return [
        path[: depth + 1]
        for path in before
        for depth, step in enumerate(path)
        if isinstance(step, Element)
        and (rule := keyed(LISTS, path[:depth])) is not None
        and rule.defined_by
        and path[depth + 1 :][: len(rule.defined_by)] == rule.defined_by
    ]


def names(manifest: dict[str, Any], at: Path) -> list[str]:
    """The names of a keyed list's elements, in their order; none where there is no such list."""
    values = lookup(manifest, at)
    rule = keyed(LISTS, at)
    if values is ABSENT or rule is None:
        return []
    return [str(value[rule.key]) for value in values]
