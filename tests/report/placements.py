"""A large machine under nine balloons, as verification sees it."""

from __future__ import annotations

from itertools import product

from gitops.nri.cpu_topology import CpuTopology
from gitops.nri.placement.told import Balloon, Told, Voice
from gitops.nri.placement.verification import Deviation, Placed, Verification
from gitops.report.placement import ShootPlacement

SIZES = {
    "reserved[0]": 4,
    "default[0]": 12,
    "latency[0]": 16,
    "latency[1]": 16,
    "database[0]": 24,
    "batch[0]": 20,
    "batch[1]": 8,
    "dpdk[0]": 6,
    "dpdk[1]": 2,
}
"""CPUs of each of nine balloons; 20 are in none."""


def machine() -> CpuTopology:
    """Two packages of two NUMA nodes each, 128 CPUs in cores of two threads, numbered apart."""
    cores = [frozenset({core, core + 64}) for core in range(64)]
    nodes = tuple(frozenset().union(*cores[at * 16 : at * 16 + 16]) for at in range(4))
    return CpuTopology((nodes[0] | nodes[1], nodes[2] | nodes[3]), nodes, tuple(cores))


def told() -> Told:
    """Whole cores one after the other, and two containers in each balloon."""
    cpus = [core + thread for core, thread in product(range(64), (0, 64))]
    balloons, at = {}, 0
    for name, size in SIZES.items():
        balloons[name] = Balloon(name, frozenset(cpus[at : at + size]))
        at += size
    assignments = {
        f"{name.partition('[')[0]}/pod-{name[-2]}-{number}/main": name for name in balloons for number in range(2)
    }
    return Told(Voice.TOPOLOGY, balloons, assignments)


def placement(*deviations: Deviation, known: bool = True) -> ShootPlacement:
    """One shoot with one such node."""
    placed = tuple(
        Placed("w1-0", container, balloon, balloon.partition("[")[0], "by its namespace")
        for container, balloon in told().assignments.items()
    )
    verification = Verification(placed, deviations, {"w1-0": told()})
    return ShootPlacement("garden-dev/one", verification, "", {"w1-0": machine()} if known else {})
