"""What the plugin cannot even read; a policy like that never gets a status, only a line in the agent's log.

Source: Go's encoding/json into pkg/apis/config/v1alpha1, with frequencies and durations as their own types read them.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.schema.fields import Field, visits
from gitops.ownership.equality import seconds

_FREQUENCY = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(GHz|G|MHz|M|kHz|k)?\s*", re.IGNORECASE | re.ASCII)
_KILOHERTZ = {"g": 1_000_000, "m": 1_000, "k": 1}
_NAMED_FREQUENCIES = {"min", "base", "turbo"}
_RANGES = {"int": range(-(2**63), 2**63), "uint": range(2**64)}
_SHAPES = {"object": dict, "map": dict, "list": list, "set": list, "string": str, "bool": bool}

_EXPECTED = {
    "object": "a map",
    "map": "a map",
    "list": "a list",
    "set": "a list",
    "string": "a string",
    "bool": "true or false",
    "int": "a whole number",
    "uint": "a whole number that is not negative",
    "frequency": "a frequency such as 2.5GHz, 2500MHz, min, base or turbo",
    "duration": "a duration such as 30s or 1m30s",
}


def undecodable(kind: str, spec: Any) -> Faults:
    """Values of the wrong type."""
    for visit in visits(kind, spec):
        if visit.field is not None and not _decodes(visit.field, visit.value, visit.parent):
            wanted = _EXPECTED[visit.field.type]
            message = f"{visit.at[-1]} is {visit.value!r}, which is not {wanted}: the plugin cannot read the policy"
            yield Fault(visit.at, message, f"write {wanted}" + _quoting(visit.field, visit.value))


def frequency(value: Any) -> int | None:
    """A frequency in kHz; a named one counts as 1, so that it is not 0. None where it cannot be read."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        return None
    if not isinstance(value, str):
        kilohertz = value or 0
        return round(kilohertz) if kilohertz >= 0 else None
    if not value.strip():
        return 0
    if value.strip().lower() in _NAMED_FREQUENCIES:
        return 1
    match = _FREQUENCY.fullmatch(value)
    if match is None:
        return None
    number = Decimal(match[1])
    rounded = int((number * _KILOHERTZ[(match[2] or "k")[0].lower()]).to_integral_value())
    return None if number and not rounded else rounded


def _decodes(field: Field, value: Any, parent: Field | None) -> bool:
    if value is None:
        # Go leaves a zero value; but a list of pointers then holds one that nobody expects, and a duration refuses.
        return field.type != "duration" and not (
            field.type == "object" and parent is not None and parent.type == "list"
        )
    if field.type == "frequency":
        return frequency(value) is not None
    if field.type == "duration":
        return seconds(value) is not None
    if field.type in _RANGES:
        return isinstance(value, int) and not isinstance(value, bool) and value in _RANGES[field.type]
    return isinstance(value, _SHAPES[field.type])


def _quoting(field: Field, value: Any) -> str:
    return f': "{value}" in quotes' if field.type == "string" and isinstance(value, int | float) else ""
