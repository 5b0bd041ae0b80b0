"""Plain YAML scalars, read as Kubernetes' own reader reads them, or refused where readers disagree.

The rules are those of sigs.k8s.io/yaml (goyaml.v2/resolve.go), with three differences, each of them a refusal:
`yes`, `on`, `y` and the like, which are booleans to some readers and words to others; `1_000` and `08`; and
`.inf` and `.nan`, which JSON cannot say.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_AMBIGUOUS_BOOLEAN = {
    form for word in ("y", "n", "yes", "no", "on", "off") for form in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_PREFIXED = re.compile(r"[-+]?0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_IN_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def plain_scalar(text: str) -> Scalar:
    """The value of a scalar that is written without quotes and without a tag.

    Raises:
        ValueError: readers of YAML disagree about it; the message says what to write instead.
    """
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if text in _AMBIGUOUS_BOOLEAN:
        raise ValueError(
            f"{text!r} is a boolean to some readers and a word to others: quote it, or write true or false"
        )
    if text[0] not in "+-.0123456789":
        return text
    if "_" in text and _number(text.replace("_", "")) is not None:
        raise ValueError(f"{text!r} is a number to some readers and a word to others: quote it, or leave out the _")
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    """The number that the text spells; None where it spells none."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if _PREFIXED.fullmatch(text):
        digits = text.lstrip("+-").lower()
        magnitude = int(digits, 0) if digits[1] in "xbo" else int(digits, 8)
        return -magnitude if text.startswith("-") else magnitude
    if _LEADING_ZERO.fullmatch(text):
        raise ValueError(f"{text!r} is octal to some readers and decimal to others: quote it, or leave out the zero")
    if _FLOAT.fullmatch(text):
        value = float(text)
        if value in {float("inf"), float("-inf")}:
            raise ValueError(f"{text!r} is too large for a number: quote it")
        # As Go's encoder writes it: a whole number has no fraction.
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if _NOT_IN_JSON.fullmatch(text):
        raise ValueError(f"{text!r} cannot be said in JSON: quote it if it is a word")
    return None
