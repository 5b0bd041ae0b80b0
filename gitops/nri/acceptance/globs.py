r"""Go's path.Match: `*` and `?` stop at a slash, `[a-c]` and `[^a]` are classes, `\` escapes."""

from __future__ import annotations

from functools import lru_cache


class BadPatternError(ValueError):
    """The pattern is malformed; Go's ErrBadPattern."""


def check_glob(pattern: str) -> None:
    """Make sure that a pattern is well-formed.

    Raises:
        BadPatternError: it is not.
    """
    _parts(pattern)


def glob_matches(pattern: str, name: str) -> bool:
    """Whether the whole name matches; a malformed pattern matches nothing, as where the plugin ignores the error."""
    try:
        parts = _parts(pattern)
    except BadPatternError:
        return False
    reached = {0}
    for part in parts:
        reached = _advance(part, name, reached)
        if not reached:
            return False
    return len(name) in reached


_Class = tuple[bool, tuple[tuple[str, str], ...]]
_Part = str | _Class
"""`*`, `?`, an escaped or plain character as `=c`, or a class: whether it is negated, and its ranges."""


def _advance(part: _Part, name: str, reached: set[int]) -> set[int]:
    if part == "*":
        return {end for start in reached for end in _star_ends(name, start)}
    return {at + 1 for at in reached if at < len(name) and _takes(part, name[at])}


def _star_ends(name: str, start: int) -> range:
    slash = name.find("/", start)
    return range(start, (len(name) if slash < 0 else slash) + 1)


def _takes(part: _Part, char: str) -> bool:
    if isinstance(part, str):
        return char != "/" if part == "?" else char == part[1]
    negated, ranges = part
    return any(low <= char <= high for low, high in ranges) is not negated


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            part, at = _class(pattern, at + 1)
            parts.append(part)
        elif char in "*?":
            parts.append(char)
            at += 1
        else:
            literal, at = _escaped(pattern, at)
            parts.append("=" + literal)
    return tuple(parts)


def _escaped(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\":
        at += 1
    if at >= len(pattern):
        raise BadPatternError(f"{pattern!r} ends where a character is missing")
    return pattern[at], at + 1


def _class(pattern: str, at: int) -> tuple[_Class, int]:
    negated = pattern[at : at + 1] == "^"
    at += negated
    ranges: list[tuple[str, str]] = []
    while not (pattern[at : at + 1] == "]" and ranges):
        low, at = _bound(pattern, at)
        high = low
        if pattern[at : at + 1] == "-":
            high, at = _bound(pattern, at + 1)
        ranges.append((low, high))
    return (negated, tuple(ranges)), at + 1


def _bound(pattern: str, at: int) -> tuple[str, int]:
    if at >= len(pattern) or pattern[at] in "-]":
        raise BadPatternError(f"{pattern!r} has a malformed character class")
    char, at = _escaped(pattern, at)
    if at >= len(pattern):
        raise BadPatternError(f"{pattern!r} has a character class that does not end")
    return char, at


def literals(pattern: str) -> str:
    """The characters that a name must hold to match, in their order.

    Raises:
        BadPatternError: the pattern is malformed.
    """
    return "".join(part[1:] for part in _parts(pattern) if isinstance(part, str) and part.startswith("="))
