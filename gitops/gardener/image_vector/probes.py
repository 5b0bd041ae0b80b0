"""Which versions to look an image up with, so that no other version would give another answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MENTIONED = re.compile(r"(?<![0-9.])([0-9]+)\.([0-9]+)(?:\.([0-9]+))?")


def probes(declared: str | None, constraints: Iterable[str]) -> tuple[str | None, ...]:
    """Versions that stand for all that a cluster may have, as far as the constraints tell them apart.

    Args:
        declared: what git says: `1.35.2`, or `1.35`, which Gardener completes; None where git says nothing.
        constraints: those of every entry that may be chosen.

    Returns:
        None alone where there is nothing to tell apart.
    """
    mentioned = {
        (int(major), int(minor), int(patch or 0))
        for constraint in constraints
        for major, minor, patch in _MENTIONED.findall(constraint)
    }
    if declared is None:
        around = {
            version
            for major, minor, patch in mentioned
            for version in (*_patches(major, minor, patch), (major, max(minor - 1, 0), 0), (major, minor + 1, 0))
        }
        return tuple(_text(version) for version in sorted(around)) or (None,)
    numbers = declared.removeprefix("v").split(".")
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        return (declared,)
    minor = (int(numbers[0]), int(numbers[1]))
    around = {(*minor, 0)}
    for version in mentioned:
        if version[:2] == minor:
            around.update(_patches(*version))
    return tuple(_text(version) for version in sorted(around))


def _patches(major: int, minor: int, patch: int) -> list[tuple[int, int, int]]:
    return [(major, minor, near) for near in (patch - 1, patch, patch + 1) if near >= 0]


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
