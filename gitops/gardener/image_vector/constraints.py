"""Version constraints as Masterminds/semver v3 reads them (constraints.go), with all of its habits.

No Python library agrees with it: `1.31` means any patch, `>1.31` begins at 1.32, a comma and a space both mean *and*,
`^*` allows 0.0.0 alone, and a range `1.30 - 1.32` is rewritten before anything else is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from gitops.gardener.image_vector.versions import IDENTIFIERS, Version, parse_version

_LONGEST = 512
_MOST_GROUPS = 32
_SPACE = r"[\t\n\f\r ]"
_NUMBER = r"[0-9|xX*]+"
_PLACEHOLDERS = {"x", "X", "*"}
_PARTIAL = rf"v?{_NUMBER}(?:\.{_NUMBER})?(?:\.{_NUMBER})?(?:-{IDENTIFIERS})?(?:\+{IDENTIFIERS})?"
_PARTS = re.compile(rf"v?({_NUMBER})(?:\.({_NUMBER}))?(?:\.({_NUMBER}))?(-{IDENTIFIERS})?(?:\+{IDENTIFIERS})?")
_OPERATOR = r"(?:=>|=<|=|!=|>=|>|<=|<|~>|~|\^|)"
_COMPARISON = re.compile(rf"({_OPERATOR}){_SPACE}*({_PARTIAL})")
_RANGE = re.compile(rf"{_SPACE}*({_PARTIAL}){_SPACE}+-{_SPACE}+({_PARTIAL}){_SPACE}*")
# Atomic where Go's engine needs no care: spaces between comparisons could be shared out in too many ways.
_GROUP = re.compile(
    rf"{_SPACE}*{_OPERATOR}{_SPACE}*{_PARTIAL}"
    rf"(?:(?>{_SPACE}*+,{_SPACE}*+|{_SPACE}++){_OPERATOR}{_SPACE}*{_PARTIAL})*{_SPACE}*"
)


@dataclass(frozen=True)
class _Comparison:
    operator: str
    version: Version
    """With 0 for what is left open."""
    given: int
    """How many numbers it has before the first that is left open: 3 in `1.2.3`, 1 in `1` and `1.x.3`, 0 in `*`."""

    def allows(self, version: Version) -> bool:
        return _OPERATORS[self.operator](self, version)


def _equal(bound: _Comparison, version: Version) -> bool:
    return _tilde(bound, version) if bound.given < 3 else version.order == bound.version.order


def _not_equal(bound: _Comparison, version: Version) -> bool:
    wanted = bound.version
    if bound.given == 1:
        return version.major != wanted.major
    if bound.given == 2:
        return (version.major, version.minor, version.prerelease) != (wanted.major, wanted.minor, wanted.prerelease)
    return version.order != wanted.order


def _greater(bound: _Comparison, version: Version) -> bool:
    if bound.given == 1:
        return version.major > bound.version.major
    if bound.given == 2:
        return (version.major, version.minor) > (bound.version.major, bound.version.minor)
    return version.order > bound.version.order


def _less(bound: _Comparison, version: Version) -> bool:
    return version.order < bound.version.order


def _greater_or_equal(bound: _Comparison, version: Version) -> bool:
    return version.order >= bound.version.order


def _less_or_equal(bound: _Comparison, version: Version) -> bool:
    if bound.given == 3:
        return version.order <= bound.version.order
    if bound.given == 1:
        return version.major <= bound.version.major
    return (version.major, version.minor) <= (bound.version.major, bound.version.minor)


def _tilde(bound: _Comparison, version: Version) -> bool:
    wanted = bound.version
    if version.order < wanted.order:
        return False
    if bound.given in {0, 3} and (wanted.major, wanted.minor, wanted.patch) == (0, 0, 0):
        return True
    return version.major == wanted.major and (bound.given == 1 or version.minor == wanted.minor)


def _caret(bound: _Comparison, version: Version) -> bool:
    wanted = bound.version
    if version.order < wanted.order or version.major != wanted.major:
        return False
    if wanted.major > 0 or bound.given == 1:
        return True
    if version.minor != wanted.minor:
        return False
    return wanted.minor > 0 or bound.given == 2 or version.patch == wanted.patch


_OPERATORS: dict[str, Callable[[_Comparison, Version], bool]] = {
    "": _equal,
    "=": _equal,
    "!=": _not_equal,
    ">": _greater,
    "<": _less,
    ">=": _greater_or_equal,
    "=>": _greater_or_equal,
    "<=": _less_or_equal,
    "=<": _less_or_equal,
    "~": _tilde,
    "~>": _tilde,
    "^": _caret,
}


@dataclass(frozen=True)
class Constraint:
    """Which versions are allowed: those of any group, and of a group those that pass all its comparisons."""

    _groups: tuple[tuple[_Comparison, ...], ...]

    def allows(self, version: Version) -> bool:
        """Whether a version is allowed; a prerelease only by a group that names one."""
        return any(
            (not version.prerelease or any(bound.version.prerelease for bound in group))
            and all(bound.allows(version) for bound in group)
            for group in self._groups
        )


@lru_cache(maxsize=1024)
def parse_constraint(text: str) -> Constraint:
    """A constraint such as `>= 1.31, < 1.34 || 1.35.x`.

    Raises:
        ValueError: it is none.
    """
    if len(text.encode()) > _LONGEST:
        raise ValueError(f"a version constraint has at most {_LONGEST} characters")
    groups = _without_ranges(text).split("||")
    if len(groups) > _MOST_GROUPS:
        raise ValueError(f"a version constraint has at most {_MOST_GROUPS} alternatives")
    return Constraint(tuple(_group(group) for group in groups))


def _without_ranges(text: str) -> str:
    rewritten = text
    for match in _RANGE.finditer(text):
        rewritten = rewritten.replace(match[0], f">= {match[1]}, <= {match[2]} ", 1)
    return rewritten


def _group(text: str) -> tuple[_Comparison, ...]:
    if not _GROUP.fullmatch(text):
        raise ValueError(f"{text.strip()!r} is not a version constraint such as '>= 1.31, < 1.34' or '1.31.x'")
    return tuple(_comparison(match[1], match[2]) for match in _COMPARISON.finditer(text))


def _comparison(operator: str, text: str) -> _Comparison:
    match = _PARTS.fullmatch(text)
    assert match is not None  # noqa: S101 - the text was found by a pattern of the same shape
    given = next((at for at in range(3) if match[at + 1] is None or match[at + 1] in _PLACEHOLDERS), 3)
    numbers = [match[at + 1] if at < given else "0" for at in range(3)]
    written = text if given == 3 else ".".join(numbers) + (match[4] or "")
    return _Comparison(operator, parse_version(written), given)
