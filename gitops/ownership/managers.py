"""Who wrote a field and when, as the server remembers it in `metadata.managedFields` (pure).

A manager's fields are a tree (structured-merge-diff fieldpath/serialize.go): `f:<name>` steps into a map,
`k:{"<key>":<value>,…}` into a list with keys, `v:<value>` names an element of a list that is a set, `i:<n>` an index,
and `.` stands for the node itself. An empty node is a leaf: the manager owns all that is below, as in atomic lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gitops.manifest import Element, Manifest, Path, Step, get
from gitops.ownership.lists import names

Operation = Literal["Apply", "Update"]
"""Server-side apply, or any other write."""


@dataclass(frozen=True)
class Writer:
    """The last manager to write a value."""

    manager: str
    time: str
    """RFC 3339 by the server's clock; empty where the server kept none."""
    operation: Operation


def writer_of(manifest: Manifest, path: Path) -> Writer | None:
    """Who wrote the value at a path, or made it be absent; None when nobody claims it.

    Where nobody owns the path itself, the owner of the nearest atomic list or map around it is meant. Among several
    owners it is the one who wrote last.
    """
    best: tuple[int, str] = (-1, "")
    writer = None
    for entry in _entries(manifest):
        depth = _owned_depth(entry.get("fieldsV1") or {}, path)
        rank = (depth, entry.get("time") or "")
        if depth >= 0 and rank >= best:
            best = rank
            writer = Writer(entry.get("manager") or "", entry.get("time") or "", entry.get("operation", "Update"))
    return writer


def owned_paths(manifest: Manifest, manager: str, operation: Operation) -> frozenset[Path]:
    """The leaves that a manager owns by an operation.

    A set, and a list with a compound key, count as one value: a Path has no step into them.
    """
    return frozenset(
        path
        for entry in _entries(manifest)
        if entry.get("manager") == manager and entry.get("operation") == operation
        for path in _leaves(entry.get("fieldsV1") or {}, ())
        if path
    )


def _entries(manifest: Manifest) -> list[dict[str, Any]]:
    return get(manifest, "metadata", "managedFields") or []


def _owned_depth(tree: Mapping[str, Any], path: Path) -> int:
    """How far down a path its owned node is: its length when owned exactly or in part, -1 when not at all."""
    if not path:
        return 0
    depths = []
    for name, below in tree.items():
        if _matches(name, path[0]):
            depths.append(0 if not below else _owned_depth(below, path[1:]))
    deepest = max(depths, default=-1)
    return deepest + 1 if deepest >= 0 else -1


def _matches(name: str, step: Step) -> bool:
    kind, _, rest = name.partition(":")
    if isinstance(step, Element):
        return kind == "k" and names(step, json.loads(rest))
    return kind == "f" and rest == step


def _leaves(tree: Mapping[str, Any], at: Path) -> Iterator[Path]:
    below = {name: subtree for name, subtree in tree.items() if name != "."}
    if not below:
        yield at
    for name, subtree in below.items():
        step = _step(name)
        if step is None:
            yield at
        else:
            yield from _leaves(subtree, (*at, step))


def _step(name: str) -> Step | None:
    """None for what a Path cannot step into."""
    kind, _, rest = name.partition(":")
    if kind == "f":
        return rest
    if kind == "k":
        key = json.loads(rest)
        if len(key) == 1:
            (field, value), *_ = key.items()
            return Element(field, str(value))
    return None
