"""Balloon types that contradict themselves or each other.

Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (validateConfig). It also refuses a `reserved` type
whose minBalloons or maxBalloons is not 0 or 1, but never does: fillBuiltinBalloonDefs has set both to 1 before.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import RESERVED, BalloonType, Policy, texts

_MEMORY_TYPES = ("DRAM", "HBM", "PMEM")


def without_name(policy: Policy) -> Faults:
    """A type needs a name."""
    for known in policy.types:
        if not known.name:
            yield Fault((*known.at, "name"), "the balloon type has no name", "give it one")


def same_name_twice(policy: Policy) -> Faults:
    """Names of types are unique."""
    seen: set[str] = set()
    for known in policy.types:
        if known.name and known.name in seen:
            yield Fault((*known.at, "name"), f"there are two balloon types {known.name!r}", "rename or merge them")
        seen.add(known.name)


def more_cpus_than_allowed(policy: Policy) -> Faults:
    """The documentation says that `maxCPUs: -1` keeps containers out of a type; the plugin refuses it."""
    for known in policy.types:
        least = _least_cpus(policy, known)
        if known.max_cpus and least is not None and least > known.max_cpus:
            message = f"minCPUs {least} is more than maxCPUs {known.max_cpus} in balloon type {known.name!r}"
            yield Fault((*known.at, "maxCPUs"), message, "raise maxCPUs, or leave it out for no limit")


def more_balloons_than_allowed(policy: Policy) -> Faults:
    """The plugin's own message shows the numbers of CPUs here, by mistake."""
    for known in _but_reserved(policy):
        if known.max_balloons and known.min_balloons > known.max_balloons:
            message = (
                f"minBalloons {known.min_balloons} is more than maxBalloons {known.max_balloons} "
                f"in balloon type {known.name!r}"
            )
            yield Fault((*known.at, "maxBalloons"), message, "raise maxBalloons, or leave it out for no limit")


def unknown_memory_type(policy: Policy) -> Faults:
    """The plugin reads the names in any case; the API server takes only upper case."""
    for known in policy.types:
        for position, name in enumerate(texts(known.given, "memoryTypes")):
            if name.upper() not in _MEMORY_TYPES:
                hint = f"use {', '.join(_MEMORY_TYPES)}"
                yield Fault((*known.at, "memoryTypes", position), f"there is no memory type {name!r}", hint)


def _but_reserved(policy: Policy) -> Iterator[BalloonType]:
    return (known for known in policy.types if known.at != policy.reserved_type.at or known.name != RESERVED)


def _least_cpus(policy: Policy, known: BalloonType) -> int | None:
    """`minCPUs`; None for a `reserved` that takes it from reservedResources, where other rules look."""
    filled = known.at == policy.reserved_type.at and known.min_cpus == 0 and policy.reserved is not None
    return None if filled else known.min_cpus
