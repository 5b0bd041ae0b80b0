"""Quantities as the plugin reads them, including what should be none and what is too large for 64 bits.

`.`, `+` and `k` are quantities, of 0, and so is `Ki`, but not `Ei`: apimachinery has a fast way that needs no digits
and a slow one that does. Source: k8s.io/apimachinery pkg/api/resource (ParseQuantity, MilliValue).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_TEXT = re.compile(r"([+-]?)(0*)(\d*)(?:(\.)(\d*))?([eEinumkKMGTP]*)([+-]?\d*)", re.ASCII)
_DECIMAL = dict(zip(("n", "u", "m", "", *"kMGTPE"), range(-9, 19, 3), strict=True))
_BINARY = {f"{letter}i": 10 * power for power, letter in enumerate("KMGTPE", start=1)}
_WORD = 2**64
_MOST = _WORD // 2 - 1
_NANO, _MILLI = 9, 3
_LARGEST_EXPONENT = 10_000
"""Numbers beyond are followed no further; they come to 0 or to nonsense in the plugin."""


@dataclass(frozen=True)
class _Parts:
    sign: int
    digits: str
    """Before the point, without leading zeros."""
    decimals: str
    has_number: bool
    """Whether there is a digit at all."""
    base: int
    exponent: int


def milli_value(text: str) -> int:
    """The quantity in thousandths, rounded up, as the 64 bits hold it.

    Raises:
        ValueError: it is not a quantity.
    """
    parts = _parts(text)
    fast = _fast(parts)
    if fast is not None:
        return _scaled(*fast)
    if not parts.has_number:
        raise ValueError(f"{text!r} is not a quantity such as 2 or 1500m")
    return _slow(parts)


def to_int64(number: int) -> int:
    """The number as 64 bits hold it: the plugin's arithmetic wraps around."""
    return (number + _WORD // 2) % _WORD - _WORD // 2


def _parts(text: str) -> _Parts:
    match = _TEXT.fullmatch(text) if text else None
    base_and_exponent = _suffix(match[6] + match[7]) if match else None
    if match is None or base_and_exponent is None:
        raise ValueError(f"{text!r} is not a quantity such as 2 or 1500m")
    sign, zeros, digits, _, decimals, *_ = match.groups(default="")
    return _Parts(
        -1 if sign == "-" else 1, digits or "0", decimals, bool(zeros or digits or decimals), *base_and_exponent
    )


def _suffix(suffix: str) -> tuple[int, int] | None:
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix]
    if suffix in _BINARY:
        return 2, _BINARY[suffix]
    if re.fullmatch(r"[eE][+-]?\d+", suffix, re.ASCII):
        return 10, max(-_LARGEST_EXPONENT, min(int(suffix[1:]), _LARGEST_EXPONENT))
    return None


def _fast(parts: _Parts) -> tuple[int, int] | None:
    """Value and power of ten for numbers that fit into 64 bits; None where the slow way is taken."""
    if parts.base == 10:
        precision, scale, factor = 18 - len(parts.digits) - len(parts.decimals), parts.exponent, 1
    elif not parts.decimals:
        precision, scale, factor = 14 - len(parts.digits) - parts.exponent * 3 // 10, 0, 2**parts.exponent
    else:
        return None
    scale -= len(parts.decimals)
    if precision < 0 or scale < -_NANO:
        return None
    value = int(parts.digits + parts.decimals) * factor
    return (parts.sign * value, scale) if value <= _MOST else None


def _scaled(value: int, scale: int) -> int:
    power = scale + _MILLI
    if power < 0:
        divisor: int = 10**-power
        quotient, rest = divmod(abs(value), divisor)
        return (quotient + bool(rest)) * (1 if value >= 0 else -1)
    exact = value * 10**power
    # Some powers are multiplied at once and wrap around, the others step by step and give up.
    return to_int64(exact) if power in (0, 1, 2, 3, 6, 9) or exact == to_int64(exact) else 0


def _slow(parts: _Parts) -> int:
    number = Decimal(f"{parts.digits}.{parts.decimals or 0}")
    unscaled, scale = int(parts.digits + parts.decimals), len(parts.decimals)
    if parts.base == 10:
        scale -= parts.exponent
    else:
        unscaled *= 2**parts.exponent
    if not number:
        return 0
    unscaled = unscaled * 10 ** (_NANO - scale) if scale <= _NANO else -(-unscaled // 10 ** (scale - _NANO))
    if parts.base == 2 and unscaled > _MOST * 10**_NANO:
        return to_int64(parts.sign * _MOST * 10**_MILLI)
    unscaled *= parts.sign
    step: int = 10 ** (_NANO - _MILLI)
    if unscaled < _MOST:
        wrapped = to_int64(unscaled)
        quotient = abs(wrapped) // step * (1 if wrapped >= 0 else -1)
        return quotient + bool(abs(wrapped) % step)
    quotient, rest = divmod(unscaled, step)
    return to_int64(to_int64(quotient) + bool(rest))
