"""Merging vectors, and finding an image in the result (imagevector.go)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gitops.gardener.image_vector.constraints import parse_constraint
from gitops.gardener.image_vector.vector import ARCHITECTURES, ImageSource, Key, Lookup
from gitops.gardener.image_vector.versions import release

_EXACT = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+|=")


def merge(*vectors: Iterable[ImageSource]) -> tuple[ImageSource, ...]:
    """The entries of all vectors; a later one with the same key changes the earlier one in its place.

    An entry with any other key is appended, so that it loses every tie.
    """
    merged: dict[Key, ImageSource] = {}
    for vector in vectors:
        for source in vector:
            old = merged.get(source.key)
            merged[source.key] = source if old is None else _overwritten(old, source)
    return tuple(merged.values())


def _overwritten(old: ImageSource, new: ImageSource) -> ImageSource:
    repository = old.repository if new.repository is None else new.repository
    tag = old.tag if new.tag is None else new.tag
    version = old.version if new.version is None else new.version
    if version is None and tag is not None:
        version = old.tag  # Gardener's own: the old tag, even where there is a new one
    ref = old.ref if new.ref is None and new.repository is None else new.ref
    if ref is not None:
        repository = tag = None
    return replace(new, ref=ref, repository=repository, tag=tag, version=version)


def find(sources: Iterable[ImageSource], lookup: Lookup) -> ImageSource | None:
    """The entry that fits best, the first of several that fit as well; None where none fits.

    Raises:
        ValueError: a version of the lookup, or a constraint of an entry, cannot be read.
    """
    best: ImageSource | None = None
    best_score = -1
    for source in sources:
        if source.name == lookup.name and (score := fit(source, lookup)) is not None and score > best_score:
            best, best_score = source, score
    return best


def fit(source: ImageSource, lookup: Lookup) -> int | None:
    """How closely an entry of the right name fits, higher being closer; None where it does not.

    Raises:
        ValueError: a version of the lookup, or a constraint of the entry, cannot be read.
    """
    runtime = _version_fit(source.runtime_version, lookup.runtime_version)
    if runtime is None:
        return None
    target = _version_fit(source.target_version, lookup.target_version)
    architecture = _architecture_fit(source.architectures, lookup.architecture)
    return None if target is None or architecture is None else runtime + target + architecture


def _version_fit(constraint: str | None, version: str | None) -> int | None:
    if constraint is None or version is None:
        return 0
    if not parse_constraint(constraint).allows(release(version)):
        return None
    return 2 if _EXACT.match(constraint) else 1


def _architecture_fit(offered: tuple[str, ...] | None, wanted: str | None) -> int | None:
    offered = ARCHITECTURES if offered is None else offered
    if ("amd64" if wanted is None else wanted) not in offered:
        return None
    return 2 if len(offered) == 1 else 1
