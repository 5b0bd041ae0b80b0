"""The shape of a node, as far as acceptance depends on it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitops.nri.acceptance.cpuset import NO_CPU, CpuSet
from gitops.ownership.equality import quantity

_SHAPE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})x([1-9]\d{0,4})x([1-9]\d{0,4})", re.ASCII)


@dataclass(frozen=True)
class Machine:
    """CPUs are numbered as on a machine whose siblings are adjacent: threads, cores, NUMA nodes, packages."""

    packages: int
    nodes: int
    """NUMA nodes per package."""
    cores: int
    """Per NUMA node."""
    threads: int
    """Per core."""
    memory: int = 0
    """Bytes; 0 where it is not known. Nothing in a policy is refused for want of memory."""
    isolated: CpuSet = NO_CPU
    """CPUs of the kernel's `isolcpus`."""

    @property
    def cpu_count(self) -> int:
        """How many logical CPUs there are; all of them are online."""
        return self.packages * self.nodes * self.cores * self.threads

    @property
    def cpus(self) -> CpuSet:
        """All of its CPUs."""
        return CpuSet(((0, self.cpu_count - 1),))

    def __str__(self) -> str:
        shape = f"{self.packages}x{self.nodes}x{self.cores}x{self.threads}"
        return f"{shape}:{self.memory}" if self.memory else shape


def parse_machine(text: str) -> Machine:
    """`2x2x8x2` or `2x2x8x2:64Gi`: packages, NUMA nodes per package, cores per node, threads per core, memory.

    Raises:
        ValueError: it is neither; the message says what is.
    """
    shape, colon, memory = text.partition(":")
    match = _SHAPE.fullmatch(shape)
    size = quantity(memory) if colon else None
    if match is None or (colon and (size is None or size < 0)):
        raise ValueError(f"{text!r} is not a machine such as 2x2x8x2 or 2x2x8x2:64Gi")
    packages, nodes, cores, threads = (int(number) for number in match.groups())
    return Machine(packages, nodes, cores, threads, int(size or 0))
