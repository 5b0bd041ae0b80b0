"""Sets of CPUs as Linux writes them: `0-3,8`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

MOST = 1 << 16
"""More CPUs than any kernel has; a text that names one beyond is none of ours."""

_LIST = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*")


def parse_cpuset(text: str) -> frozenset[int] | None:
    """The CPUs of a list; empty for an empty text, None where the text is no such list.

    >>> sorted(parse_cpuset("0-2,8"))
    [0, 1, 2, 8]
    """
    if not text:
        return frozenset()
    if not _LIST.fullmatch(text):
        return None
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if low > high or high >= MOST:
            return None
        cpus.update(range(low, high + 1))
    return frozenset(cpus)


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
