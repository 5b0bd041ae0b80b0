"""Three-way merge of owned fields: declared now, declared last time, live.

Every field that was never declared stays byte for byte.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gitops.manifest import Element, Manifest, Path, Step, is_prefix
from gitops.ownership.field_set import FieldSet, declared_fields
from gitops.ownership.lists import ListKeys, child, index_of, keyed


@dataclass(frozen=True)
class Absence:
    """Stands for the value of a field that is not there; null is a value."""


ABSENT = Absence()


@dataclass(frozen=True)
class Difference:
    """One owned field whose live value is not the declared one."""

    path: Path
    live: Any
    """`ABSENT` where the live object lacks the field."""
    desired: Any
    """`ABSENT` where the field is declared no longer and goes away."""
    kept: str = ""
    """Why the live value stays all the same; empty when it is replaced."""


@dataclass(frozen=True)
class MergeRules:
    """What a kind's fields mean, for a merge that knows no kinds."""

    lists: ListKeys
    """Lists whose elements have owners of their own."""
    same: Callable[[Path, Any, Any], bool]
    """Whether the live value at a path (maybe `ABSENT`) already means what is declared."""
    keep: Callable[[Path, Any, Any], str]
    """Why a live value that differs must stay, or empty: path, live, declared (`ABSENT` for a removal)."""


@dataclass(frozen=True)
class Merge:
    """The outcome: the object to be, and what differs from the live one."""

    merged: Manifest
    differences: tuple[Difference, ...]
    """In the order of declaration, removals last; kept ones are among them."""


def lookup(value: Any, path: Path) -> Any:
    """The value at a path, or `ABSENT`."""
    try:
        for step in path:
            value = child(value, step)
    except KeyError:
        return ABSENT
    return value


def merge(declared: Manifest, owned_before: FieldSet, live: Manifest, rules: MergeRules) -> Merge:
    """What `live` becomes when exactly the declared fields are set and formerly declared ones go away.

    Where nothing changes, which is the rule, `merged` is the live object itself and no copy.
    """
    fields = dict(declared_fields(declared, rules.lists))
    differences = [
        Difference(path, current, value, rules.keep(path, current, value))
        for path, value in fields.items()
        if not rules.same(path, current := lookup(live, path), value)
    ]
    written = [difference for difference in differences if not difference.kept]
    stale = stale_fields(fields, owned_before, rules.lists)
    merged = copy.deepcopy(live) if written or stale else live
    for difference in written:
        _set(merged, difference.path, difference.desired)
    held = frozenset(path[:depth] for path in ((), *fields) for depth in range(len(path) + 1))
    for path in stale:
        differences += _retire(merged, live, path, rules, held)
    return Merge(merged, tuple(differences))


def with_fields(manifest: Manifest, fields: Mapping[Path, Any]) -> Manifest:
    """The same manifest with these fields set."""
    changed = copy.deepcopy(manifest)
    for path, value in fields.items():
        _set(changed, path, value)
    return changed


def stale_fields(declared: Mapping[Path, Any], before: FieldSet, lists: ListKeys) -> tuple[Path, ...]:
    """What goes away, elements' keys last: an element whole, where its defining field was ours.

    What was declared below a map that is declared empty now goes away as well; the map stays.
    """
    stale: set[Path] = set()
    for path in before - declared.keys():
        if any(is_prefix(path, field) or (is_prefix(field, path) and declared[field] != {}) for field in declared):
            continue
        stale.add(_element_defined_at(path, before, declared, lists) or path)
    return tuple(sorted(stale, key=lambda path: (_names_element(path), [str(step) for step in path])))


def _retire(merged: Manifest, live: Manifest, path: Path, rules: MergeRules, held: FieldSet) -> list[Difference]:
    """Take away one field that is declared no longer; an element that others hold fields in keeps its key.

    Args:
        merged: changed in place.
        live: where the values come from.
        path: what goes away.
        rules: may keep it.
        held: every declared path and those above it, which stay although nothing may be left in them.
    """
    if _names_element(path):
        path = path[:-1]
        if not _is_bare(lookup(merged, path), path[-1]):
            return []
    if lookup(merged, path) is ABSENT:
        return []
    current = lookup(live, path)
    kept = rules.keep(path, current, ABSENT)
    if not kept:
        _remove(merged, path, held)
    return [Difference(path, current, ABSENT, kept)]


def _names_element(path: Path) -> bool:
    """Whether the path is the very field that names an element, such as `/spec/extensions/[type=x]/type`."""
    return len(path) > 1 and isinstance(path[-2], Element) and path[-1] in path[-2].fields


def _is_bare(value: Any, step: Step) -> bool:
    """Whether nothing is left of an element but its key."""
    return isinstance(step, Element) and value == step.fields


def _element_defined_at(path: Path, before: FieldSet, declared: Collection[Path], lists: ListKeys) -> Path | None:
    for depth, step in enumerate(path):
        if not isinstance(step, Element):
            continue
        element = path[: depth + 1]
        rule = keyed(lists, path[:depth])
        if rule is None or not rule.defined_by or any(is_prefix(element, field) for field in declared):
            continue
        if any(is_prefix((*element, *rule.defined_by), field) for field in before):
            return element
    return None


def _set(manifest: Manifest, path: Path, value: Any) -> None:
    node: Any = manifest
    for step, following in pairwise(path):
        node = _descend(node, step, [] if isinstance(following, Element) else {})
    node[path[-1]] = copy.deepcopy(value)


def _descend(node: Any, step: Any, empty: Any) -> Any:
    if isinstance(step, Element):
        index = index_of(node, step)
        if index is None:
            node.append(step.fields)
            index = len(node) - 1
        return node[index]
    if not isinstance(node.get(step), type(empty)):
        node[step] = empty
    return node[step]


def _remove(manifest: Manifest, path: Path, held: FieldSet) -> None:
    """Take a field away, then what only held it: empty maps and lists, and bare elements."""
    while path not in held:
        _drop(lookup(manifest, path[:-1]), path[-1])
        path = path[:-1]
        holder = lookup(manifest, path)
        if holder not in ({}, []) and not (path and _is_bare(holder, path[-1])):
            return


def _drop(holder: Any, step: Step) -> None:
    del holder[index_of(holder, step) if isinstance(step, Element) else step]
