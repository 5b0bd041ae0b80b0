"""Sets of paths: the fields that a manifest declares, and their form in an annotation.

The stored form is that of `metadata.managedFields[].fieldsV1` (Kubernetes, structured-merge-diff): `f:<field>` for a
map key, `k:{"<key>":"<value>"}` for an element of a keyed list: who reads managed fields reads it too. Paths only:
values, which may be secret, are never kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from gitops.manifest import Element, Path, Step
from gitops.ownership.lists import ListKeys, keyed

FieldSet: TypeAlias = frozenset[Path]
"""Leaf paths: scalars, lists that are one value, and empty maps."""


def declared_fields(manifest: Any, lists: ListKeys, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf that a manifest declares, with its value; null, and a manifest without fields, declare nothing.

    An element of a keyed list always declares its key.
    """
    if isinstance(manifest, Mapping) and manifest:
        for key, value in manifest.items():
            yield from declared_fields(value, lists, (*at, key))
    elif isinstance(manifest, list) and (rule := keyed(lists, at)) and _all_named(manifest, rule.key):
        for element in manifest:
            yield from declared_fields(element, lists, (*at, Element(rule.key, str(element[rule.key]))))
    elif manifest is not None and at:
        yield at, manifest


def _all_named(elements: list[Any], key: str) -> bool:
    """Whether the key tells every element from every other; otherwise the list is one value."""
    names = [element.get(key) if isinstance(element, Mapping) else None for element in elements]
    return None not in names and len(set(map(str, names))) == len(names)


def to_fields_v1(fields: FieldSet) -> dict[str, Any]:
    """The stored form, with keys in a stable order."""
    root: dict[str, Any] = {}
    for path in sorted(fields, key=lambda path: [str(step) for step in path]):
        node = root
        for step in path:
            node = node.setdefault(_stored(step), {})
    return root


def from_fields_v1(stored: Mapping[str, Any], at: Path = ()) -> FieldSet:
    """The paths of a stored form.

    Raises:
        ValueError: it is not in that form.
    """
    paths: set[Path] = set()
    for name, below in stored.items():
        path = (*at, _step(name))
        if not isinstance(below, Mapping):
            raise ValueError(f"{name}: not a map")  # noqa: TRY004 - the text is malformed, not the caller
        paths |= from_fields_v1(below, path) if below else {path}
    return frozenset(paths)


def _stored(step: Step) -> str:
    if isinstance(step, Element):
        return "k:" + json.dumps({step.key: step.value}, separators=(",", ":"))
    return "f:" + step


def _step(name: str) -> Step:
    kind, _, rest = name.partition(":")
    if kind == "f":
        return rest
    if kind == "k":
        parsed = json.loads(rest)
        if isinstance(parsed, dict) and len(parsed) == 1:
            (key, value), *_ = parsed.items()
            return Element(key, str(value))
    raise ValueError(f"{name}: neither a field nor an element with one key")
