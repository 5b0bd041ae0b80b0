"""Whether an object in a shoot needs a closer look: a cheap test that must never say no when the answer is yes.

An object needs none when all that would be applied is there and is owned by our apply, and nothing else is. A list
that is one value to the server belongs to whoever wrote it last, so ownership tells an edit inside it that its
content alone, filled with the server's defaults, would hide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitops.manifest import Element, Manifest, Path
from gitops.ownership.equality import same, same_quantity
from gitops.ownership.field_set import FieldSet
from gitops.ownership.merge import ABSENT, lookup

_IDENTITY = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
_QUANTITY_HOLDERS = frozenset({"limits", "requests", "capacity", "hard"})


def is_covered(applied: Manifest, live: Manifest, owned: FieldSet) -> bool:
    """Whether applying would change nothing.

    Args:
        applied: the manifest as it would be applied.
        live: the object as the server has it.
        owned: the leaf paths that our field manager owns by apply.
    """
    inner = frozenset(path[:depth] for path in owned for depth in range(len(path)))
    if any(lookup(applied, path) is ABSENT for path in owned):
        return False
    return _covered(_Owned(owned, inner), applied, live, ())


class _Owned:
    """Owned leaf paths, and the paths above them."""

    def __init__(self, leaves: FieldSet, inner: FieldSet) -> None:
        self.leaves = leaves
        self.inner = inner
        self.elements: dict[Path, set[str]] = {}
        for path in leaves | inner:
            if path and isinstance(path[-1], Element):
                self.elements.setdefault(path[:-1], set()).add(path[-1].key)


def _covered(owned: _Owned, applied: Any, live: Any, at: Path) -> bool:
    if at in _IDENTITY:
        return True
    if at in owned.leaves:
        return contains(live, applied, at)
    if at not in owned.inner:
        return False
    if isinstance(applied, Mapping):
        return isinstance(live, Mapping) and all(
            _covered(owned, value, live.get(key, ABSENT), (*at, key)) for key, value in applied.items()
        )
    key, *others = owned.elements[at]  # it is a list with keys, since everything that is owned is applied
    return not others and all(_element_covered(owned, element, live, at, key) for element in applied)


def _element_covered(owned: _Owned, element: Any, live: Any, at: Path, key: str) -> bool:
    name = element.get(key) if isinstance(element, Mapping) else None
    if name is None:
        return False
    step = Element(key, str(name))
    found = lookup(live, (step,))
    if found is ABSENT:
        return False
    return all(
        field == key or _covered(owned, value, found.get(field, ABSENT), (*at, step, field))
        for field, value in element.items()
    )


def contains(live: Any, applied: Any, at: Path = ()) -> bool:
    """Whether the live value has everything of the applied one; it may have more in maps, by the server's defaults."""
    if isinstance(applied, Mapping):
        return isinstance(live, Mapping) and all(
            contains(live.get(key, ABSENT), value, (*at, key)) for key, value in applied.items()
        )
    if isinstance(applied, list):
        return (
            isinstance(live, list)
            and len(live) == len(applied)
            and all(contains(here, there, at) for here, there in zip(live, applied, strict=True))
        )
    if applied is None:
        return live is ABSENT or live is None
    if _QUANTITY_HOLDERS & {step for step in at if isinstance(step, str)}:
        return live is not ABSENT and same_quantity(live, applied)
    return same(live, applied)
