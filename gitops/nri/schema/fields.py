"""The tables of fields as trees, and the walk of a spec along them.

A line of a table is `path[!] type release [values]`: `!` for required; `[]` for the elements of a list and `{}` for
the values of a map; values as `a|b`, or `>=0`. A line that ends with `|` goes on in the next.

Types are those of the CRD, finer where the plugin's Go type is:

    uint        an integer of which the plugin refuses negative ones
    frequency   a string for the API server; the plugin reads `2.5GHz`, `min`, `base`, `turbo`, or kHz
    duration    a string for the API server; the plugin reads a Go duration
    set         a list without duplicates
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from gitops.nri.schema.balloons import BALLOONS
from gitops.nri.schema.common import COMMON
from gitops.nri.schema.topology_aware import TOPOLOGY_AWARE

Location: TypeAlias = tuple[str | int, ...]
"""A place in a manifest: map keys, and positions in lists."""

_TABLES = {
    "BalloonsPolicy": COMMON + BALLOONS,
    "TopologyAwarePolicy": COMMON + TOPOLOGY_AWARE,
    "TemplatePolicy": COMMON,
}
_STEP = re.compile(r"\[\]|\{\}|[^.\[{]+")


@dataclass(frozen=True)
class Field:
    """One field of a spec."""

    type: str
    """`object`, `map`, `list`, `set`, `string`, `bool`, `int`, `uint`, `frequency` or `duration`."""
    since: str
    """The release of nri-plugins whose CRD has it first, such as `v0.9.0`; older CRDs prune it."""
    required: bool = False
    allowed: tuple[str, ...] = ()
    """The only values the API server takes; any when empty."""
    natural: bool = False
    """Whether the API server refuses negative values."""
    children: dict[str, Field] = field(default_factory=dict, repr=False)
    """By key; the elements of lists under `[]`, the values of maps under `{}`."""


class Visit(NamedTuple):
    """A value of a spec, and the field it is in."""

    at: Location
    """From the manifest's root, so it begins with `spec`."""
    value: Any
    field: Field | None
    """None where the kind has no such field; nothing below is visited."""
    parent: Field | None
    """The field that holds it; None for the spec itself."""


@cache
def fields_of(kind: str) -> Field:
    """The tree of a policy kind's spec.

    Raises:
        KeyError: it is not a policy kind.
    """
    root = Field("object", "v0.3.0", required=True)
    for line in _TABLES[kind].replace("|\n", "|").split("\n"):
        if line:
            path, type_, since, *values = line.split(" ")
            steps = _STEP.findall(path.removesuffix("!"))
            holder = root
            for step in steps[:-1]:
                holder = holder.children[step]
            natural = values == [">=0"]
            allowed = tuple(values[0].split("|")) if values and not natural else ()
            holder.children[steps[-1]] = Field(type_, since, path.endswith("!"), allowed, natural)
    return root


def visits(kind: str, spec: Any) -> list[Visit]:
    """Every value of a spec that a decoder would look at, parents first.

    A value of the wrong type is visited and not entered.
    """
    found: list[Visit] = []
    _visit(fields_of(kind), None, spec, ("spec",), found)
    return found


def _visit(field: Field | None, parent: Field | None, value: Any, at: Location, found: list[Visit]) -> None:
    found.append(Visit(at, value, field, parent))
    if field is None:
        return
    children = field.children
    if isinstance(value, list) and "[]" in children:
        for position, element in enumerate(value):
            _visit(children["[]"], field, element, (*at, position), found)
    elif isinstance(value, dict) and field.type in {"object", "map"}:
        for key, inner in value.items():
            _visit(children.get("{}") or children.get(key), field, inner, (*at, key), found)
