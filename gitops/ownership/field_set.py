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
    elif isinstance(manifest, list) and (steps := _steps(manifest, lists, at)) is not None:
        for step, element in zip(steps, manifest, strict=True):
            yield from declared_fields(element, lists, (*at, step))
    elif manifest is not None and at:
        yield at, manifest


def _steps(elements: list[Any], lists: ListKeys, at: Path) -> list[Element] | None:
    """The steps to the elements of a list whose key tells every element from every other; None for one value."""
    if (rule := keyed(lists, at)) is None:
        return None
    steps = [step for element in elements if (step := rule.step(element)) is not None]
    return steps if len(set(steps)) == len(elements) else None


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
        return "k:" + json.dumps(step.fields, separators=(",", ":"))
    return "f:" + step


def _step(name: str) -> Step:
    kind, _, rest = name.partition(":")
    if kind == "f":
        return rest
    if kind == "k":
        parsed = json.loads(rest)
        if isinstance(parsed, dict) and parsed:
            (key, value), *also = ((field, str(text)) for field, text in parsed.items())
            return Element(key, value, tuple(also))
    raise ValueError(f"{name}: neither a field nor an element with a key")
