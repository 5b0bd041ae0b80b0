"""Which image vectors a shoot must have been rolled with.

A new vector restarts the extension's controller on the seeds at once, and reaches what runs inside a shoot only at the
shoot's next reconcile (gardener docs/extensions/reconcile-trigger.md): an extension acts on the annotation that
gardenlet sets then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gitops.gardener.extension_use import Service, serves
from gitops.manifest import Manifest

SYNC_PERIOD = "1h by default"
"""After at most so long Gardener reconciles every shoot by itself (gardenlet controllers.shoot.syncPeriod)."""


@dataclass(frozen=True)
class Vector:
    """The images of one extension, as the overlay declares them."""

    extension: str
    """Name of the object that carries them."""
    digest: str
    services: tuple[Service, ...]
    """What the extension does for shoots."""


def vector_digest(values: Any) -> str:
    """Tells one set of image values from another; short, as it stands in an annotation of every shoot."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def vectors_for(shoot: Manifest, vectors: Iterable[Vector]) -> frozenset[tuple[str, str]]:
    """Name and digest of each vector that reaches this shoot."""
    return frozenset((vector.extension, vector.digest) for vector in vectors if serves(vector.services, shoot))


def unrolled(
    before: frozenset[tuple[str, str]], wanted: frozenset[tuple[str, str]], vectors: Iterable[Vector]
) -> tuple[str, ...]:
    """Extensions whose images the shoot has not been reconciled with; those that are declared no longer are among them.

    Args:
        before: what the shoot's record says.
        wanted: what it must say.
        vectors: all that the overlay declares: one of them that has left `wanted` does nothing for the shoot any more.
    """
    declared = {vector.extension for vector in vectors}
    new = {name for name, _ in wanted - before}
    gone = {name for name, _ in before} - declared
    return tuple(sorted(new | gone))
