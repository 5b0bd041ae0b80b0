"""Equality by meaning: an API server may store what it was given in other words.

Quantities (`1000m` and `1`), durations (`60s` and `1m0s`), and numbers where the API says string. Which
fields hold which is known by whoever knows the kind; here are only the comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

Equality = Callable[[Any, Any], bool]
"""Whether a live and a declared value mean the same."""

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", start=1)},
    **{suffix + "i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", start=1)},
}
_QUANTITY = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d+|[A-Za-z]{0,2})$")
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")
_SECONDS = {
    "h": Decimal(3600),
    "m": Decimal(60),
    "s": Decimal(1),
    "ms": Decimal("1e-3"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ns": Decimal("1e-9"),
}


def quantity(value: Any) -> Decimal | None:
    """A Kubernetes quantity as a number; None where it is none (apimachinery pkg/api/resource)."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _QUANTITY.match(str(value).strip())
    if match is None:
        return None
    number, suffix = match.groups()
    if suffix in _SUFFIXES:
        return Decimal(number) * _SUFFIXES[suffix]
    try:
        return Decimal(number + suffix)
    except InvalidOperation:
        return None


def seconds(value: Any) -> Decimal | None:
    """A Go duration such as `1h30m` in seconds; None where it is none (Go time.ParseDuration)."""
    if not isinstance(value, str):
        return None
    sign, text = (-1, value[1:]) if value.startswith("-") else (1, value.removeprefix("+"))
    if text == "0":
        return Decimal(0)
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sign * sum((Decimal(number) * _SECONDS[unit] for number, unit in parts), Decimal(0))


def same_quantity(live: Any, declared: Any) -> bool:
    """`1`, `"1"` and `1000m` are the same."""
    return same(live, declared) or _equal_as(quantity, live, declared)


def same_duration(live: Any, declared: Any) -> bool:
    """`60s` and `1m0s` are the same."""
    return same(live, declared) or _equal_as(seconds, live, declared)


def same_text(live: Any, declared: Any) -> bool:
    """`1` and `"1"` are the same where the API takes a number or a string (IntOrString)."""
    return same(live, declared) or (_scalar(live) and _scalar(declared) and str(live) == str(declared))


def same(live: Any, declared: Any) -> bool:
    """The same JSON value; true is not 1."""
    if isinstance(live, bool) or isinstance(declared, bool):
        return live is declared
    if isinstance(live, list) and isinstance(declared, list):
        return len(live) == len(declared) and all(map(same, live, declared))
    if isinstance(live, dict) and isinstance(declared, dict):
        return live.keys() == declared.keys() and all(same(live[key], declared[key]) for key in live)
    return bool(live == declared)


def _equal_as(read: Callable[[Any], Decimal | None], live: Any, declared: Any) -> bool:
    left, right = read(live), read(declared)
    return left is not None and left == right


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
