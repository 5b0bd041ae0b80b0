"""Sets of CPUs of a real machine, as Linux writes them: `0-3,8`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from gitops.nri.acceptance import cpuset as acceptance

MOST = 1 << 16
"""More CPUs than any kernel has; a text that names one beyond is none of ours."""


def parse_cpuset(text: str) -> frozenset[int] | None:
    """The CPUs of a list; empty for an empty text, None where the text is no such list.

    >>> sorted(parse_cpuset("0-2,8"))
    [0, 1, 2, 8]
    """
    try:
        ranges = acceptance.parse_cpuset(text).ranges
    except ValueError:
        return None
    if any(first < 0 or last >= MOST for first, last in ranges):
        return None
    return frozenset(cpu for first, last in ranges for cpu in range(first, last + 1))


def cpuset_text(cpus: Iterable[int]) -> str:
    """The shortest list.

    >>> cpuset_text({8, 0, 1, 2})
    '0-2,8'
    """
    parts = []
    for _, run in groupby(enumerate(sorted(set(cpus))), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        parts.append(f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0]))
    return ",".join(parts)
