"""Fields that the overlay leaves to somebody else."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

from gitops.desired.overlay import IgnoreRule
from gitops.manifest import Manifest, Path, is_prefix
from gitops.ownership import FIELD_MANAGER
from gitops.ownership.managers import owned_paths
from gitops.ownership.merge import ABSENT, lookup


def ignored_by(rules: Iterable[IgnoreRule], kind: str) -> Callable[[Path], str]:
    """For objects of a kind: why a path is left alone, or empty."""
    paths = [path for rule in rules if rule.kind == kind for path in rule.paths]

    def reason(path: Path) -> str:
        return "ignored by the overlay" if any(is_prefix(ignored, path) for ignored in paths) else ""

    return reason


def with_live_values(desired: Manifest, live: Manifest, rules: Iterable[IgnoreRule]) -> Manifest:
    """A manifest to apply over a live one in which ignored fields are left as they are.

    Where we own such a field it is applied with its live value: leaving it out would take it away where we are its only
    owner. Where somebody else took it over it is left out: applying it would claim it back.
    """
    adopted = copy.deepcopy(desired)
    owned = owned_paths(live, FIELD_MANAGER, "Apply")
    for path in (path for rule in rules if rule.kind == desired["kind"] for path in rule.paths):
        holder = lookup(adopted, path[:-1])
        if not isinstance(holder, dict) or path[-1] not in holder:
            continue
        value = lookup(live, path)
        if value is ABSENT or not any(is_prefix(path, leaf) or is_prefix(leaf, path) for leaf in owned):
            del holder[path[-1]]
        else:
            holder[path[-1]] = copy.deepcopy(value)
    return adopted
