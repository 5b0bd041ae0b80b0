"""Manifests of other shapes: merged by a patch in a table of cases, or bent at random for a law."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st


def merged(value: Any, patch: Any) -> Any:
    """An RFC 7386 merge patch: null removes, maps merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    base = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            base.pop(key, None)
        else:
            base[key] = merged(base.get(key), change)
    return base


def json_values(words: list[str]) -> st.SearchStrategy[Any]:
    """Any small JSON value whose strings and keys are among the words, and whose numbers are about 7."""
    scalars = st.none() | st.booleans() | st.integers(5, 9) | st.floats(allow_nan=False) | st.sampled_from([*words, ""])
    keys = st.sampled_from(words)
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3))


def bent(draw: st.DrawFn, manifest: Any, values: st.SearchStrategy[Any]) -> Any:
    """The manifest, in place, with up to three values anywhere in it replaced by other ones."""
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(st.sampled_from(list(_places(manifest))))
        holder[key] = draw(values)
    return manifest


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every map or list at or below the value, with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
