"""Sets of CPU numbers as Linux writes them: `0-3,8`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[+-]?[0-9]+")
_LIMIT = 2**63


@dataclass(frozen=True)
class CpuSet:
    """A set of whole numbers; one that spans billions costs no more than one of two."""

    ranges: tuple[tuple[int, int], ...] = ()
    """First and last of each range, ascending, neither touching nor overlapping."""

    @property
    def size(self) -> int:
        """How many CPUs there are."""
        return sum(last - first + 1 for first, last in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __str__(self) -> str:
        return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in self.ranges)

    def __and__(self, other: CpuSet) -> CpuSet:
        return CpuSet(
            tuple(
                (max(first, low), min(last, high))
                for first, last in self.ranges
                for low, high in other.ranges
                if max(first, low) <= min(last, high)
            )
        )

    def __sub__(self, other: CpuSet) -> CpuSet:
        kept = list(self.ranges)
        for low, high in other.ranges:
            kept = [
                part
                for first, last in kept
                for part in ((first, min(last, low - 1)), (max(first, high + 1), last))
                if part[0] <= part[1]
            ]
        return CpuSet(tuple(kept))


NO_CPU = CpuSet()

EVERY_CPU = CpuSet(((0, _LIMIT - 1),))
"""What stands for the CPUs of a machine that is not known."""


def parse_cpuset(text: str) -> CpuSet:
    """Read `0-3,8`; the empty text is the empty set (k8s.io/utils/cpuset Parse).

    Raises:
        ValueError: it is no such list; the message says what is wrong.
    """
    if not text:
        return CpuSet()
    ranges = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        bounds = (_number(first, part), _number(last, part)) if dash else (_number(part, part),) * 2
        if bounds[0] > bounds[1]:
            raise ValueError(f"the range {part!r} runs backwards")
        ranges.append(bounds)
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return CpuSet(tuple(merged))


def _number(text: str, part: str) -> int:
    if not _NUMBER.fullmatch(text) or not -_LIMIT <= int(text) < _LIMIT:
        raise ValueError(f"{part!r} is not a CPU number or a range of them")
    return int(text)
