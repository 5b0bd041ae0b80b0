"""What an API server would drop silently from a policy, because its CRD is older or the key is misspelt.

The CRDs are structural and preserve nothing unknown, so a client without strict validation never hears of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.schema.fields import Location, Visit, visits


@dataclass(frozen=True)
class Pruned:
    """A value that would not be stored."""

    at: Location
    since: str | None
    """The release of nri-plugins that brought the field; None where no release has it."""
    meant: str | None
    """The key that differs only in case, where there is one."""

    @property
    def message(self) -> str:
        """What is wrong and what to do about it."""
        key = self.at[-1]
        if self.since:
            return (
                f"{key} came with nri-plugins {self.since}: the CRD here is older and would drop it; upgrade it first"
            )
        if self.meant:
            return f"{key} is dropped silently: keys are case-sensitive, write {self.meant}"
        return f"{key} is dropped silently: no release of nri-plugins has it here"


def unknown_fields(policy: Manifest) -> tuple[Pruned, ...]:
    """What every release would prune."""
    found = visits(str(policy.get("kind")), policy.get("spec"))
    return tuple(_pruned(visit) for visit in found if visit.field is None)


def pruned_by_release(policy: Manifest, release: str) -> tuple[Pruned, ...]:
    """What the CRD of a release of nri-plugins would prune.

    Args:
        policy: a manifest of one of the policy kinds.
        release: such as `v0.9.4`, from an image tag or a chart.

    Raises:
        ValueError: the release is not a version.
    """
    stored = _version(release)
    pruned: list[Pruned] = []
    for visit in visits(str(policy.get("kind")), policy.get("spec")):
        new = visit.field is None or _version(visit.field.since) > stored
        if new and not any(_below(visit.at, known.at) for known in pruned):
            pruned.append(_pruned(visit))
    return tuple(pruned)


def pruned_by_crd(policy: Manifest, crd: Manifest) -> tuple[Pruned, ...]:
    """What a live CustomResourceDefinition would prune, with the release that brought each field.

    Raises:
        ValueError: the CRD does not serve the policy's version.
    """
    version = str(policy.get("apiVersion")).rpartition("/")[2]
    served = [v for v in get(crd, "spec", "versions") or [] if get(v, "name") == version and get(v, "served")]
    if not served:
        raise ValueError(f"the CRD {get(crd, 'metadata', 'name')} does not serve {version}")
    schema = get(served[0], "schema", "openAPIV3Schema", "properties", "spec") or {}
    kept = set(_kept(schema, policy.get("spec"), ("spec",)))
    pruned: list[Pruned] = []
    for visit in visits(str(policy.get("kind")), policy.get("spec")):
        if visit.at not in kept and not any(_below(visit.at, known.at) for known in pruned):
            pruned.append(_pruned(visit))
    return tuple(pruned)


def _kept(schema: Any, value: Any, at: Location) -> Iterator[Location]:
    yield at
    if isinstance(value, list):
        for position, element in enumerate(value):
            yield from _kept(get(schema, "items") or {}, element, (*at, position))
    if isinstance(value, dict):
        properties, others = get(schema, "properties") or {}, get(schema, "additionalProperties")
        for key, inner in value.items():
            if key in properties or others:
                yield from _kept(properties.get(key) or others, inner, (*at, key))


def _pruned(visit: Visit) -> Pruned:
    if visit.field is not None:
        return Pruned(visit.at, visit.field.since, None)
    siblings = visit.parent.children if visit.parent else {}
    alike = (key for key in siblings if key.lower() == str(visit.at[-1]).lower())
    return Pruned(visit.at, None, next(alike, None))


def _below(at: Location, other: Location) -> bool:
    return at[: len(other)] == other


def _version(release: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", release)
    if match is None:
        raise ValueError(f"{release!r} is not a release such as v0.14.0")
    return tuple(int(part) for part in match.groups())
