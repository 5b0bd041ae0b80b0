"""The CPUs of a machine: as the kernel tells, as the script writes it, and read back."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.nri.cpu_topology import CpuTopology, read_topology
from gitops.nri.cpuset import cpuset_text
from tests.nri.prerequisites.scratch_node import ScratchNode


def machine(packages: int, nodes: int, cores: int, threads: int, *, siblings: str) -> CpuTopology:
    """Packages of nodes of cores of threads; siblings are `adjacent`, or `apart` as most servers number them."""
    total = packages * nodes * cores
    places = list(product(range(packages), range(nodes), range(cores)))
    of = {
        place: frozenset(at * threads + t if siblings == "adjacent" else at + t * total for t in range(threads))
        for at, place in enumerate(places)
    }

    def joined(chosen: Callable[[tuple[int, int, int]], Any], values: Iterator[Any]) -> tuple[frozenset[int], ...]:
        return tuple(frozenset().union(*(of[p] for p in places if chosen(p) == value)) for value in values)

    return CpuTopology(
        joined(lambda p: p[0], iter(range(packages))),
        joined(lambda p: p[:2], iter(product(range(packages), range(nodes)))),
        tuple(sorted(of.values(), key=min)),
    )


MACHINES = st.builds(
    machine,
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 8),
    st.integers(1, 4),
    siblings=st.sampled_from(["adjacent", "apart"]),
)


@given(MACHINES)
def test_a_machine_is_read_back_as_it_was_written(topology: CpuTopology) -> None:
    assert read_topology(topology.document()) == topology


def test_a_large_machine_is_told_in_few_words() -> None:
    assert machine(2, 2, 32, 2, siblings="apart").document() == {
        "packages": ["0-63,128-191", "64-127,192-255"],
        "nodes": ["0-31,128-159", "32-63,160-191", "64-95,192-223", "96-127,224-255"],
        "cores": ["0,128/1*128"],
    }


@pytest.mark.parametrize(
    "topology",
    [
        machine(2, 2, 4, 2, siblings="apart"),
        machine(2, 2, 4, 2, siblings="adjacent"),
        machine(1, 1, 3, 1, siblings="adjacent"),
        CpuTopology((frozenset({0, 1, 4}),), (frozenset({0, 1, 4}),), (frozenset({0, 4}), frozenset({1}))),
    ],
    ids=["apart", "adjacent", "one-thread", "uneven"],
)
def test_the_script_tells_what_the_kernel_tells(tmp_path: Path, topology: CpuTopology) -> None:
    node = ScratchNode(tmp_path)
    for kind, name in (("packages", "package_cpus_list"), ("cores", "core_cpus_list")):
        for cpus in getattr(topology, kind):
            for cpu in cpus:
                node.file(f"sys/devices/system/cpu/cpu{cpu}/topology/{name}", cpuset_text(cpus) + "\n")
    for number, cpus in enumerate(topology.nodes):
        node.file(f"sys/devices/system/node/node{number}/cpulist", cpuset_text(cpus) + "\n")
    node.file("sys/devices/system/node/node9/cpulist", "\n")

    said = node.run("probe")["cpus"]
    node.close()

    assert read_topology(said) == topology
    assert said == topology.document()


def test_this_machine() -> None:
    listed = sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/core_cpus_list"))
    if not listed:
        pytest.skip("the kernel tells nothing of its CPUs")
    script = Path(__file__).parents[2] / "gitops/nri/prerequisites/node.sh"
    done = subprocess.run(["sh", str(script), "probe"], check=True, capture_output=True, text=True)

    assert f'"cores":["{listed[0].read_text().split(",")[0].split("-")[0].strip()}' in done.stdout


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {},
        {"packages": [], "nodes": [], "cores": []},
        {"packages": ["x"], "nodes": [], "cores": []},
        {"packages": ["0"], "nodes": ["0"], "cores": ["0/1*99999999"]},
        {"packages": ["0"], "nodes": [3], "cores": []},
    ],
)
def test_what_is_no_topology(said: Any) -> None:
    assert read_topology(said) is None
