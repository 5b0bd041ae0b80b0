"""Versions as Masterminds/semver v3 reads them: loosely, and with its order (version.go)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

IDENTIFIERS = r"[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*"
"""The text of a prerelease and of build metadata."""
_VERSION = re.compile(rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-({IDENTIFIERS}))?(?:\+{IDENTIFIERS})?", re.ASCII)
_LONGEST = 256
_LARGEST = 2**64 - 1


@dataclass(frozen=True)
class Version:
    """A version; build metadata counts for nothing and is left out."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""
    """Without its dash; empty for a release."""

    @cached_property
    def order(self) -> tuple[object, ...]:
        """Sorts as versions do: a prerelease is below its release, and a number below a word."""
        parts = tuple(_identifier(part) for part in self.prerelease.split(".")) if self.prerelease else ()
        return (self.major, self.minor, self.patch, not self.prerelease, parts)


def _identifier(text: str) -> tuple[int, int, str]:
    if text.isdecimal() and int(text) <= _LARGEST:
        return (0, int(text), "")
    return (1, 0, text)


def parse_version(text: str) -> Version:
    """A version, in which minor and patch may be missing and numbers may begin with zeros.

    Raises:
        ValueError: it is none.
    """
    match = _VERSION.fullmatch(text)
    if match is None or len(text) > _LONGEST:
        raise ValueError(f"{text!r} is not a version such as 1.31.2")
    major, minor, patch = (int(match[group] or 0) for group in (1, 2, 3))
    if max(major, minor, patch) > _LARGEST:
        raise ValueError(f"a number in {text!r} is too large")
    prerelease = match[4] or ""
    if any(part.isdecimal() and len(part) > 1 and part[0] == "0" for part in prerelease.split(".")):
        raise ValueError(f"a number after the dash of {text!r} begins with 0")
    return Version(major, minor, patch, prerelease)


def release(text: str) -> Version:
    """The version that Gardener looks images up with: no `v`, no prerelease, no build metadata.

    From gardener pkg/utils/version Normalize.

    Raises:
        ValueError: what is left is no version.
    """
    return parse_version(re.split(r"[-+~]", text.replace("v", ""), maxsplit=1)[0])
