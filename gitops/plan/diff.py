"""The differences between two manifests, as a person looks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops.manifest import Element, Manifest, Path
from gitops.ownership.equality import same
from gitops.ownership.merge import ABSENT

_SERVER_FIELDS = frozenset({"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"})
_NAMES = ("name", "type", "key")


def comparable(manifest: Manifest) -> Manifest:
    """A manifest without what only its API server writes."""
    metadata = {k: v for k, v in manifest.get("metadata", {}).items() if k not in _SERVER_FIELDS}
    return {**{k: v for k, v in manifest.items() if k != "status"}, "metadata": metadata}


def differences(live: Any, desired: Any, at: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Every field that differs, by name: path, live value, desired value, `ABSENT` where there is none.

    Lists whose elements all have a name, in both, and stand in the same order are compared element by element, since
    that is how people read them, whatever a server makes of such a list.
    """
    if isinstance(live, Mapping) and isinstance(desired, Mapping):
        for key in sorted({*live, *desired}):
            yield from differences(live.get(key, ABSENT), desired.get(key, ABSENT), (*at, key))
        return
    if isinstance(live, list) and isinstance(desired, list) and (key := _common_key(live, desired)):
        before, after = ({str(element[key]): element for element in values} for values in (live, desired))
        for name in dict.fromkeys((*before, *after)):
            yield from differences(before.get(name, ABSENT), after.get(name, ABSENT), (*at, Element(key, name)))
        return
    if live is ABSENT or desired is ABSENT or not same(live, desired):
        yield at, live, desired


def _common_key(live: list[Any], desired: list[Any]) -> str | None:
    """The field that names every element of both lists, once each and in one order; None without such a field."""
    for key in _NAMES:
        names = [[element.get(key) if isinstance(element, Mapping) else None for element in v] for v in (live, desired)]
        if all(isinstance(name, str) for both in names for name in both) and all(
            len(set(both)) == len(both) for both in names
        ):
            common = set(names[0]) & set(names[1])
            if [n for n in names[0] if n in common] == [n for n in names[1] if n in common]:
                return key
    return None
