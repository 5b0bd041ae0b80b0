"""Topology-aware policies and machines, near the edges of what is refused."""

from __future__ import annotations

from random import Random

from gitops.nri.acceptance.cpuset import parse_cpuset
from gitops.nri.acceptance.machine import Machine
from tests.nri.acceptance.plain import Spec

_SHAPES = ((1, 1, 2, 1), (1, 2, 2, 2), (2, 1, 4, 2))
_CLASS_FIELDS = ("sharedPoolCPUClass", "reservedPoolCPUClass", "defaultExclusiveCPUClass")


def generate(random: Random) -> tuple[Spec, Machine]:
    """One case; the same for the same state of `random`."""
    isolated = parse_cpuset(random.choice(["", "", "0", "0-1", "1,3"]))
    machine = Machine(*random.choice(_SHAPES), memory=2**33, isolated=isolated)
    spec: Spec = {"reservedResources": _reserved(random, machine)}
    if random.random() < 0.3:
        spec["availableResources"] = {
            "cpu": random.choice(["cpuset:", "exclude-cpuset:", "2"]) + _cpus(random, machine)
        }
    if random.random() < 0.3:
        names = [random.choice(["a", "b", "a", ""]) for _ in range(random.randint(1, 2))]
        spec["cpuClasses"] = [{"name": name, "maxFreq": "2GHz"} for name in names]
    for field in _CLASS_FIELDS:
        if random.random() < 0.5:
            spec[field] = random.choice(["a", "a", "b", ""])
    if random.random() < 0.5:
        spec["schedulingClasses"] = [{"name": "rt"}]
    if random.random() < 0.2:
        spec["podQoSSchedulingClasses"] = {random.choice(["Guaranteed", "burstable", "x"]): random.choice(["rt", "no"])}
    if random.random() < 0.2:
        spec["namespaceSchedulingClasses"] = {"n": random.choice(["rt", "no", ""])}
    if random.random() < 0.1:
        spec["controllableInterrupts"] = [random.choice(["*", "["])]
    return spec, machine


def _reserved(random: Random, machine: Machine) -> Spec:
    cpus = machine.cpu_count
    quantity = random.choice(["1", "0", "-1", "-2", "500m", str(cpus), str(cpus - 1), str(cpus + 1), "x"])
    listed = random.choice(["cpuset:", "exclude-cpuset:"]) + _cpus(random, machine)
    return random.choice([{}, {"cpu": "1"}, {"cpu": quantity}, {"cpu": listed}, {"cpu": listed}])


def _cpus(random: Random, machine: Machine) -> str:
    first = random.randrange(machine.cpu_count + 1)
    return random.choice([str(first), f"{first}-{first + random.randrange(3)}", "", "0", "0-1", "1-0"])
