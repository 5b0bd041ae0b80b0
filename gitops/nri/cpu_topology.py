"""The CPUs of one machine by package, NUMA node and core, as `node.sh` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gitops.nri.cpuset import MOST, cpuset_text, parse_cpuset

_RUN = re.compile(r"(\d{1,6}(?:,\d{1,6})*)(?:/(\d{1,6})\*(\d{1,6}))?")


@dataclass(frozen=True)
class CpuTopology:
    """One machine; every set is sorted by its first CPU, and what is in no set of a kind is on its own."""

    packages: tuple[frozenset[int], ...]
    nodes: tuple[frozenset[int], ...]
    """NUMA nodes that have CPUs."""
    cores: tuple[frozenset[int], ...]

    @property
    def cpus(self) -> frozenset[int]:
        """All there are."""
        return frozenset().union(*self.packages, *self.nodes, *self.cores)

    def document(self) -> dict[str, Any]:
        """As JSON has it; cores as runs, `0,64/1*64`, so that a large machine fits in a termination message."""
        return {
            "packages": [cpuset_text(cpus) for cpus in self.packages],
            "nodes": [cpuset_text(cpus) for cpus in self.nodes],
            "cores": _runs(self.cores),
        }


def read_topology(said: Any) -> CpuTopology | None:
    """Out of parsed JSON; None where it is none, or where there are no CPUs in it."""
    try:
        packages, nodes = (_sets(said[key]) for key in ("packages", "nodes"))
        topology = CpuTopology(packages, nodes, _cores(said["cores"]))
    except (KeyError, TypeError, ValueError):
        return None
    return topology if topology.cpus else None


def _sets(lists: Iterable[Any]) -> tuple[frozenset[int], ...]:
    sets = [parse_cpuset(text) if isinstance(text, str) else None for text in lists]
    if any(cpus is None for cpus in sets):
        raise ValueError("not a list of CPUs")
    return tuple(sorted((cpus for cpus in sets if cpus), key=min))


def _cores(runs: Iterable[str]) -> tuple[frozenset[int], ...]:
    cores = []
    for run in runs:
        found = _RUN.fullmatch(run)
        if found is None or int(found[3] or 1) > MOST:
            raise ValueError("not a run of cores")
        first = [int(cpu) for cpu in found[1].split(",")]
        step = int(found[2] or 0)
        cores += [frozenset(cpu + step * number for cpu in first) for number in range(int(found[3] or 1))]
    return tuple(sorted(cores, key=min))


def _runs(cores: Iterable[frozenset[int]]) -> list[str]:
    runs: list[tuple[list[int], int, int]] = []
    last: list[int] = []
    for core in (sorted(core) for core in cores):
        differences = {now - before for now, before in zip(core, last, strict=False)}
        step = differences.pop() if len(core) == len(last) and len(differences) == 1 else 0
        if runs and step > 0 and (runs[-1][2] == 1 or runs[-1][1] == step):
            runs[-1] = (runs[-1][0], step, runs[-1][2] + 1)
        else:
            runs.append((core, 0, 1))
        last = core
    return [",".join(map(str, first)) + (f"/{step}*{count}" if count > 1 else "") for first, step, count in runs]
