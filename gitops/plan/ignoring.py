"""Fields that the overlay leaves to somebody else."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

from gitops.desired.overlay import IgnoreRule
from gitops.manifest import Element, Manifest, Path, is_prefix
from gitops.ownership.merge import ABSENT, lookup


def ignored_by(rules: Iterable[IgnoreRule], kind: str) -> Callable[[Path], str]:
    """For objects of a kind: why a path is left alone, or empty."""
    paths = [path for rule in rules if rule.kind == kind for path in rule.paths]

    def reason(path: Path) -> str:
        return "ignored by the overlay" if any(is_prefix(ignored, path) for ignored in paths) else ""

    return reason


def with_live_values(desired: Manifest, live: Manifest, rules: Iterable[IgnoreRule]) -> Manifest:
    """A manifest to apply in which ignored fields have their live value.

    Leaving an ignored field out of a server-side apply would take it away where we are its only owner.
    """
    adopted = copy.deepcopy(desired)
    for path in (path for rule in rules if rule.kind == desired["kind"] for path in rule.paths):
        holder = lookup(adopted, path[:-1])
        if not isinstance(holder, dict) or isinstance(path[-1], Element):
            continue
        value = lookup(live, path)
        if value is ABSENT:
            holder.pop(path[-1], None)
        elif path[-1] in holder:
            holder[path[-1]] = copy.deepcopy(value)
    return adopted
