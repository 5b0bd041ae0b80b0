"""Each node's CPUs for a page, coloured by balloon: it flows with the page, where `gitops verify -o svg` draws.

Every balloon has a letter as well as a colour and a hatch, and the letter is in each of its CPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitops.nri.cpu_topology import CpuTopology
from gitops.nri.cpuset import cpuset_text
from gitops.nri.placement.told import Balloon, Told
from gitops.report.cpu_layout import UNKNOWN_MACHINE, cpu_layout, letter
from gitops.report.placement import ShootPlacement, balloons_of, containers_of

COLOURS, HATCHES = 9, 5
"""Looks that the style sheet knows: `colour-0` to `colour-8`, and `hatch-0`, which is none, to `hatch-4`."""
_CONTAINERS = 12
"""Containers of a balloon that are named."""


@dataclass(frozen=True)
class Cpu:
    """One CPU."""

    number: int
    letter: str
    """Empty where it is in no balloon."""
    look: str
    """Classes of the style sheet."""
    balloon: str


@dataclass(frozen=True)
class Numa:
    """What a package has of one NUMA node."""

    title: str
    cores: tuple[tuple[Cpu, ...], ...]


@dataclass(frozen=True)
class Package:
    """One package."""

    title: str
    nodes: tuple[Numa, ...]


@dataclass(frozen=True)
class Key:
    """One balloon."""

    letter: str
    look: str
    name: str
    size: int
    cpus: str
    shared: str
    containers: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class NodeMap:
    """One node."""

    node: str
    told_by: str
    known: bool
    """Whether somebody looked at the machine; else only CPUs in balloons are there."""
    packages: tuple[Package, ...]
    keys: tuple[Key, ...]

    @property
    def summary(self) -> str:
        """The picture in a sentence."""
        balloons = ", ".join(f"{key.name} has {key.size}" for key in self.keys)
        total = sum(len(core) for package in self.packages for numa in package.nodes for core in numa.cores)
        return f"{total} CPUs of node {self.node}: {balloons or 'none is in a balloon'}"


def cpu_maps(placement: ShootPlacement) -> tuple[NodeMap, ...]:
    """All nodes of a shoot; none where it was not observed."""
    if placement.verification is None:
        return ()
    told = sorted(placement.verification.told.items())
    return tuple(_node(name, found, placement.topologies.get(name)) for name, found in told)


def _node(name: str, told: Told, topology: CpuTopology | None) -> NodeMap:
    balloons = balloons_of(told)
    looks = {balloon.name: (letter(number), _look(number)) for number, balloon in enumerate(balloons)}
    known = frozenset[int]().union(*(balloon.cpus | balloon.shared for balloon in balloons))
    owners = {cpu: balloon.name for balloon in balloons for cpu in balloon.cpus}

    def cpu(number: int) -> Cpu:
        owner = owners.get(number, "")
        return Cpu(number, *looks.get(owner, ("", "free")), owner)

    packages = tuple(
        Package(
            package.title,
            tuple(
                Numa(
                    "" if numa.number is None else f"NUMA node {numa.number}",
                    tuple(tuple(map(cpu, core)) for core in numa.cores),
                )
                for numa in package.nodes
            ),
        )
        for package in cpu_layout(topology or UNKNOWN_MACHINE, known)
    )
    keys = tuple(_key(balloon, containers_of(told, balloon.name), *looks[balloon.name]) for balloon in balloons)
    return NodeMap(name, told.voice.value, topology is not None, packages, keys)


def _key(balloon: Balloon, containers: Sequence[str], sign: str, look: str) -> Key:
    shown = tuple(containers[:_CONTAINERS])
    return Key(
        sign,
        look,
        balloon.name,
        len(balloon.cpus),
        cpuset_text(balloon.cpus),
        cpuset_text(balloon.shared),
        shown,
        len(containers) - len(shown),
    )


def _look(number: int) -> str:
    return f"colour-{number % COLOURS} hatch-{number // COLOURS % HATCHES}"
