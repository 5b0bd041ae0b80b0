"""A machine's CPUs in the order in which they are drawn: packages, NUMA nodes in them, cores in those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitops.nri.cpu_topology import CpuTopology

UNKNOWN_MACHINE = CpuTopology((), (), ())
"""What is known of a machine that nobody looked at."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class NumaCpus:
    """What one package has of one NUMA node."""

    number: int | None
    """None for CPUs of which no NUMA node is known."""
    cores: tuple[tuple[int, ...], ...]
    """CPUs of each core."""


@dataclass(frozen=True)
class PackageCpus:
    """One package, or all CPUs of which no package is known."""

    title: str
    nodes: tuple[NumaCpus, ...]


def cpu_layout(machine: CpuTopology, known: frozenset[int]) -> tuple[PackageCpus, ...]:
    """All CPUs, each once.

    Args:
        machine: as somebody saw it; `UNKNOWN_MACHINE` where nobody did.
        known: CPUs that are there whatever the machine says.
    """
    return tuple(
        PackageCpus(
            f"package {number}" if machine.packages else "CPUs",
            tuple(
                NumaCpus(at, tuple(tuple(sorted(core & cpus)) for core in _cores_of(machine, cpus)))
                for at, cpus in _numbered(machine, package)
            ),
        )
        for number, package in enumerate(_parts(machine.packages, machine.cpus | known))
    )


def letter(number: int) -> str:
    """A to Z, then A2 to Z2: by which a balloon is known without its colour."""
    round_, at = divmod(number, len(_LETTERS))
    return f"{_LETTERS[at]}{round_ + 1 if round_ else ''}"


def _numbered(machine: CpuTopology, package: frozenset[int]) -> list[tuple[int | None, frozenset[int]]]:
    """NUMA nodes of a package with their numbers, and what is in none."""
    inside = [(number, numa & package) for number, numa in enumerate(machine.nodes) if numa & package]
    rest = package - frozenset().union(*(numa for _, numa in inside))
    return [*inside, *([(None, rest)] if rest else [])]


def _parts(sets: Sequence[frozenset[int]], cpus: frozenset[int]) -> list[frozenset[int]]:
    """What each of the sets has of the CPUs, where it has any; what is in none of them comes last, together."""
    inside = [part & cpus for part in sets if part & cpus]
    rest = cpus - frozenset().union(*inside)
    return [*inside, *([rest] if rest else [])]


def _cores_of(machine: CpuTopology, cpus: frozenset[int]) -> list[frozenset[int]]:
    """Cores by their CPUs; a CPU of which no core is known is one of its own."""
    known = frozenset().union(*machine.cores)
    return [*_parts(machine.cores, cpus & known), *(frozenset({cpu}) for cpu in sorted(cpus - known))]
