"""How many CPUs, or which: the values of `availableResources.cpu` and `reservedResources.cpu`.

Source: nri-plugins pkg/apis/config/v1alpha1/resmgr/policy/config.go (Constraints.Get).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gitops.manifest import get
from gitops.nri.acceptance.cpuset import CpuSet, parse_cpuset
from gitops.nri.acceptance.quantities import milli_value, to_int64


class Kind(Enum):
    """How an amount is told."""

    CPUSET = "cpuset:"
    EXCLUDED = "exclude-cpuset:"
    QUANTITY = ""


@dataclass(frozen=True)
class Amount:
    """An amount of CPUs, not yet read."""

    kind: Kind
    text: str
    """Without the prefix that tells the kind."""

    def cpus(self) -> CpuSet:
        """The CPUs that are listed, whether to have or to leave out.

        Raises:
            ValueError: the list cannot be read.
        """
        return parse_cpuset(self.text)

    def whole_cpus(self) -> int:
        """A quantity in CPUs, rounded up.

        Raises:
            ValueError: it is not a quantity.
        """
        return truncated(to_int64(milli_value(self.text) + 999), 1000)


def amount(spec: Any, constraint: str) -> Amount | None:
    """The CPU amount of `availableResources` or `reservedResources`; None where there is none.

    Only the key `cpu` counts; the plugin never looks at `CPU`.
    """
    constraints = get(spec, constraint)
    if not isinstance(constraints, dict) or "cpu" not in constraints:
        return None
    text = constraints["cpu"] or ""
    for kind in (Kind.CPUSET, Kind.EXCLUDED):
        if text.startswith(kind.value):
            return Amount(kind, text.removeprefix(kind.value))
    return Amount(Kind.QUANTITY, text)


def truncated(number: int, divisor: int) -> int:
    """Division as Go does it, towards zero."""
    return abs(number) // divisor * (1 if number >= 0 else -1)
