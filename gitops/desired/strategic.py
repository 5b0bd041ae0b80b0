"""Strategic merge, with the meaning kustomize gives it (kyaml yaml/merge2).

Where kustomize drops what a patch says without a word, or leaves a directive in the object, this refuses.
"""

from __future__ import annotations

import copy
from typing import Any

from gitops.desired.kinds import group_of
from gitops.desired.merge_keys import PRIMITIVES, ListPath, merge_keys
from gitops.desired.scalars import plain_scalar
from gitops.manifest import Manifest

_DIRECTIVE = "$patch"
_IGNORED_BY_KUSTOMIZE = ("$setElementOrder/", "$retainKeys", "$deleteFromPrimitiveList/")


class PatchError(ValueError):
    """The patch does not apply to the object; the message says why."""


class _Deleted:
    """What a field becomes that the patch removes."""


_DELETED = _Deleted()


def strategic_merge(manifest: Manifest, patch: Manifest) -> Manifest | None:
    """The manifest with the patch merged in, as a new value; None where the patch deletes the object.

    Raises:
        PatchError: the patch does not fit the object.
    """
    if patch.get(_DIRECTIVE) == "replace":
        raise PatchError("kustomize does not replace whole objects: name the fields to replace")
    merged = _Merge(group_of(manifest["apiVersion"]), manifest["kind"]).maps(manifest, patch, ())
    return None if isinstance(merged, _Deleted) else merged


class _Merge:
    """One merge into an object of one kind."""

    def __init__(self, group: str, kind: str) -> None:
        self._group = group
        self._kind = kind

    def maps(self, into: Manifest | None, patch: Manifest, at: ListPath) -> Manifest | _Deleted:
        directive = patch.get(_DIRECTIVE, "merge")
        if directive == "delete":
            return _DELETED
        if directive not in {"merge", "replace"}:
            raise PatchError(f"{_place(at)}: $patch is merge, replace or delete, not {directive!r}")
        merged = {} if directive == "replace" or into is None else copy.copy(into)
        for key, value in patch.items():
            if key == _DIRECTIVE:
                continue
            if key.startswith(_IGNORED_BY_KUSTOMIZE):
                raise PatchError(f"{_place(at)}: kustomize does not know {key}")
            result = self._value(merged.get(key), value, (*at, key))
            if isinstance(result, _Deleted):
                merged.pop(key, None)
            else:
                merged[key] = result
        return merged

    def _value(self, into: Any, patch: Any, at: ListPath) -> Any:
        if patch is None:
            return _DELETED
        if into is not None and _shape(into) != _shape(patch):
            raise PatchError(f"{_place(at)} is {_shape(into)} and the patch has {_shape(patch)} there")
        if isinstance(patch, dict):
            return self.maps(into, patch, at)
        if isinstance(patch, list):
            return self._lists(into, patch, at)
        return _as_written(into, patch)

    def _lists(self, into: list[Any] | None, patch: list[Any], at: ListPath) -> Any:
        keys = merge_keys(self._group, self._kind, at)
        if keys is None:
            if any(isinstance(item, dict) and _DIRECTIVE in item for item in patch):
                raise PatchError(
                    f"{_place(at)}: kustomize replaces this list as a whole, so $patch means nothing in it"
                )
            return copy.deepcopy(patch)
        if keys == PRIMITIVES:
            return [*patch, *(item for item in into or [] if item not in patch)]
        replaces = {_DIRECTIVE: "replace"} in patch
        elements = [item for item in patch if item != {_DIRECTIVE: "replace"}]
        return self._elements([] if replaces or into is None else into, elements, keys, at)

    def _elements(self, into: list[Any], patch: list[Any], keys: tuple[str, ...], at: ListPath) -> list[Any]:
        """What the patch has comes first, in its order, and what it leaves alone after it (kustomize prepends).

        Where two keys name an element, only new elements come first; kustomize leaves the others where they were.
        """
        names = [_name(item, keys, at) for item in patch]
        if len(set(names)) < len(names):
            raise PatchError(f"{_place(at)}: the patch has one element twice")
        there = {_name(item, keys, at): item for item in into}
        merged: dict[tuple[Any, ...], Any] = {}
        for name, item in zip(names, patch, strict=True):
            if item.get(_DIRECTIVE) == "replace":
                raise PatchError(f"{_place(at)}: kustomize does not replace single elements: delete and add it")
            _refuse_partial_match(name, there, keys, at)
            merged[name] = self.maps(there.get(name), item, at)
        first = [name for name in names if len(keys) == 1 or name not in there]
        order = [*first, *(name for name in there if name not in first)]
        elements = (merged.get(name, there.get(name)) for name in order)
        return [element for element in elements if not isinstance(element, _Deleted)]


def _name(item: Any, keys: tuple[str, ...], at: ListPath) -> tuple[Any, ...]:
    name = tuple(item.get(key) for key in keys) if isinstance(item, dict) else (None,)
    if name[0] is None:
        raise PatchError(f"{_place(at)}: every element needs its {keys[0]}")
    return name


def _refuse_partial_match(
    name: tuple[Any, ...], there: dict[tuple[Any, ...], Any], keys: tuple[str, ...], at: ListPath
) -> None:
    """Port 80 and port 80/TCP: kustomize would drop the patch's element without a word."""
    for other in there:
        if other != name and other[0] == name[0] and (None in other or None in name):
            missing = " and ".join(keys[1:])
            raise PatchError(f"{_place(at)}: {keys[0]} {name[0]} is there with and without {missing}: write it in both")


def _as_written(into: Any, patch: Any) -> Any:
    """A scalar keeps the quotes of the one it replaces, so that `2` over `"1"` stays a string (kyaml does so)."""
    if not isinstance(into, str) or isinstance(patch, str) or not _needs_quotes(into):
        return patch
    return str(patch).lower() if isinstance(patch, bool) else str(patch)


def _needs_quotes(text: str) -> bool:
    try:
        return not isinstance(plain_scalar(text), str)
    except ValueError:
        return True


def _shape(value: Any) -> str:
    return "a map" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


def _place(at: ListPath) -> str:
    return "/" + "/".join(at)
