"""What the API server itself refuses of a policy, by the CRD of the newest release.

The plugin may be laxer: it never asks whether `reservedResources` is there, and reads `HIGH` as well as `high`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Manifest
from gitops.nri.schema.fields import Field, Location, Visit, visits


@dataclass(frozen=True)
class Objection:
    """One value that the API server does not store."""

    rule: str
    """`schema-type`, `schema-required`, `schema-value` or `schema-duplicate`."""
    at: Location
    message: str
    """What is wrong and what to do about it."""


def objections(policy: Manifest) -> tuple[Objection, ...]:
    """All that the API server would refuse; types only where the plugin could read the value nevertheless."""
    found: list[Objection] = []
    for visit in visits(str(policy.get("kind")), policy.get("spec")):
        found.extend(_objections(visit))
    return tuple(found)


def _objections(visit: Visit) -> Iterator[Objection]:
    field, value = visit.field, visit.value
    if field is None or value is None:
        return
    if field.type == "frequency" and not isinstance(value, str):
        yield Objection("schema-type", visit.at, f'{visit.at[-1]} must be a string: write "{value}" in quotes')
    if field.allowed and value not in field.allowed:
        yield Objection("schema-value", visit.at, _not_allowed(visit))
    if field.natural and isinstance(value, int) and value < 0:
        yield Objection("schema-value", visit.at, f"{visit.at[-1]} must not be negative")
    if field.type == "set" and isinstance(value, list):
        yield from _duplicates(value, visit.at)
    if field.type == "object" and isinstance(value, dict):
        yield from _missing(field, value, visit.at)


def _duplicates(elements: list[Any], at: Location) -> Iterator[Objection]:
    for position, element in enumerate(elements):
        if element in elements[:position]:
            message = f"{at[-1]} holds {element!r} twice: leave one out"
            yield Objection("schema-duplicate", (*at, position), message)


def _missing(field: Field, value: Mapping[str, Any], at: Location) -> Iterator[Objection]:
    for key, child in field.children.items():
        if child.required and value.get(key) is None:
            hint = ": write {} for none" if key == "reservedResources" else ""
            yield Objection("schema-required", (*at, key), f"{key} is required{hint}")


def _not_allowed(visit: Visit) -> str:
    allowed = visit.field.allowed if visit.field else ()
    if isinstance(visit.value, list):
        # The enumeration stands on the list instead of its elements, and no list is one of its words.
        return f"{visit.at[-1]} cannot be set: a mistake in the CRD refuses every value"
    return f"{visit.at[-1]} is {visit.value!r} and must be one of {', '.join(filter(None, allowed))}"
