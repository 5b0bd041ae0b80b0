"""A balloons policy as the rules read it: as the API server would store it, with the plugin's implicit types.

Nothing here raises for a value of the wrong type: the rule about decoding has refused it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gitops.manifest import get
from gitops.nri.acceptance.amounts import Amount, Kind, amount
from gitops.nri.schema.fields import Location

RESERVED = "reserved"
DEFAULT = "default"

PRIORITIES = ("high", "normal", "low", "none")
"""In the order in which balloons are created; `high` is what the API server fills in."""


def text(holder: Any, key: str) -> str:
    """A string field; empty where it is absent or null."""
    value = get(holder, key)
    return value if isinstance(value, str) else ""


def number(holder: Any, key: str) -> int:
    """An integer field; 0 where it is absent or null."""
    value = get(holder, key)
    return value if isinstance(value, int) else 0


def texts(holder: Any, key: str) -> tuple[str, ...]:
    """A list of strings; empty where it is absent or null."""
    value = get(holder, key)
    return tuple(str(element or "") for element in value) if isinstance(value, list) else ()


def entries(holder: Any, key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Position and value of each object in a list; an absent list has none."""
    value = get(holder, key)
    for position, element in enumerate(value if isinstance(value, list) else ()):
        yield position, element if isinstance(element, dict) else {}


@dataclass(frozen=True)
class BalloonType:
    """One entry of `balloonTypes`, or one that the plugin adds."""

    at: Location
    """Where it is declared; for one that the plugin adds, what makes it do so."""
    given: Mapping[str, Any]
    name: str
    min_cpus: int
    max_cpus: int
    """0 for no limit, and so it is for `max_balloons`; negative numbers are no limit when balloons are made."""
    min_balloons: int
    max_balloons: int
    priority: str
    components: tuple[str, ...]
    """Names of the types that a composite consists of; empty for all others."""


@dataclass(frozen=True)
class Policy:
    """A spec, and what several rules need of it."""

    spec: Mapping[str, Any]

    @cached_property
    def types(self) -> tuple[BalloonType, ...]:
        """The declared types, in their order."""
        return tuple(
            BalloonType(
                at=("spec", "balloonTypes", position),
                given=given,
                name=text(given, "name"),
                min_cpus=number(given, "minCPUs"),
                max_cpus=number(given, "maxCPUs"),
                min_balloons=number(given, "minBalloons"),
                max_balloons=number(given, "maxBalloons"),
                priority=text(given, "allocatorPriority").lower() or PRIORITIES[0],
                components=tuple(text(component, "balloonType") for _, component in entries(given, "components")),
            )
            for position, given in entries(self.spec, "balloonTypes")
        )

    @cached_property
    def available(self) -> Amount | None:
        """`availableResources.cpu`."""
        return amount(self.spec, "availableResources")

    @cached_property
    def reserved(self) -> Amount | None:
        """`reservedResources.cpu`."""
        return amount(self.spec, "reservedResources")

    @cached_property
    def reserved_type(self) -> BalloonType:
        """The declared `reserved`, of two the last one; or what the plugin puts before all others."""
        declared = [known for known in self.types if known.name == RESERVED]
        if declared:
            return declared[-1]
        at = ("spec", "reservedResources", "cpu")
        return BalloonType(at, {}, RESERVED, 0, 0, min_balloons=1, max_balloons=1, priority="low", components=())

    def created_types(self, reserved_cpus: int) -> tuple[BalloonType, ...]:
        """The types as the plugin completes them (fillBuiltinBalloonDefs), in the order of the list.

        There is always exactly one `reserved` balloon: minBalloons and maxBalloons of that type are overwritten.
        Listed CPUs are preferred, not guaranteed: they raise `minCPUs` to no more than `maxCPUs`, which is 0 where
        it is not set.

        Args:
            reserved_cpus: how many CPUs `reservedResources.cpu` lists, or its quantity; ignored where it is absent.
        """
        reserved = replace(self.reserved_type, min_balloons=1, max_balloons=1)
        if self.reserved is not None and reserved.min_cpus == 0:
            listed = self.reserved.kind is not Kind.QUANTITY
            smallest = min(reserved_cpus, reserved.max_cpus) if listed else reserved_cpus
            reserved = replace(reserved, min_cpus=smallest)
        if self.reserved is not None and self.reserved.kind is not Kind.QUANTITY:
            reserved = replace(reserved, priority="normal")
        types: Sequence[BalloonType] = [reserved if known.name == RESERVED else known for known in self.types]
        if all(known.name != RESERVED for known in self.types):
            types = [reserved, *types]
        if all(known.name != DEFAULT for known in self.types):
            at = ("spec", "balloonTypes")
            default = BalloonType(at, {}, DEFAULT, 0, 0, min_balloons=1, max_balloons=1, priority="low", components=())
            types = [*types, default]
        return tuple(types)
