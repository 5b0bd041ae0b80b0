"""Plausible machines and policies."""

from __future__ import annotations

from random import Random
from typing import Any, TypeAlias

from gitops.nri.acceptance.cpuset import NO_CPU, parse_cpuset
from gitops.nri.acceptance.machine import Machine

Spec: TypeAlias = dict[str, Any]

_SHAPES = [
    (1, 1, 1, 1),
    (1, 1, 2, 1),
    (1, 1, 2, 2),
    (1, 2, 2, 2),
    (2, 1, 4, 2),
    (2, 2, 2, 2),
    (2, 2, 4, 2),
    (1, 1, 8, 1),
]
NAMES = ["a", "b", "c", "d", "reserved", "default"]


def some_machine(random: Random) -> Machine:
    shape = random.choice(_SHAPES)
    cpus = Machine(*shape).cpu_count
    isolated = parse_cpuset(str(random.randrange(cpus))) if random.random() < 0.2 else NO_CPU
    return Machine(*shape, memory=random.choice([0, 2**30, 2**36]), isolated=isolated)


def plain_spec(random: Random, machine: Machine) -> Spec:
    count = random.choice([0, 1, 1, 2, 3])
    spec: Spec = {
        "reservedResources": {"cpu": random.choice(["1", "500m", "cpuset:0", "exclude-cpuset:0", "0", "cpuset:"])},
        "balloonTypes": [balloon_type(random, name, machine) for name in random.sample(NAMES, count)],
    }
    for key, value in {
        "pinCPU": True,
        "pinMemory": False,
        "idleCPUClass": "idle",
        "allocatorTopologyBalancing": True,
        "preferSpreadOnPhysicalCores": True,
        "reservedPoolNamespaces": ["ops"],
        "showContainersInNrt": True,
        "agent": {"nodeResourceTopology": True},
        "log": {"debug": ["policy"]},
        "instrumentation": {"httpEndpoint": ":8891", "reportPeriod": "30s"},
    }.items():
        if random.random() < 0.1:
            spec[key] = value
    return spec


def balloon_type(random: Random, name: str, machine: Machine) -> Spec:
    found: Spec = {"name": name, "allocatorPriority": random.choice(["high", "normal", "low", "none"])}
    if name == "reserved":
        return found
    if random.random() < 0.6:
        found["minCPUs"] = random.randint(0, max(1, machine.cpu_count // 3))
        found["maxCPUs"] = random.choice([0, found["minCPUs"], machine.cpu_count])
    if random.random() < 0.5:
        found["minBalloons"] = random.randint(0, 2)
    for key, value in {
        "namespaces": ["x-*"],
        "preferNewBalloons": True,
        "preferSpreadingPods": True,
        "groupBy": "${pod/name}",
        "preferIsolCpus": True,
        "preferCoreType": "performance",
        "shareIdleCPUsInSame": "numa",
        "cpuClass": "missing",
        "hideHyperthreads": True,
        "preferCloseToDevices": ["/sys/class/net/eth0"],
        "irqMode": "isolate",
        "preferSpreadOnPhysicalCores": True,
        "allocatorTopologyBalancing": False,
        "pinMemory": True,
    }.items():
        if random.random() < 0.07:
            found[key] = value
    return found


def some_type(random: Random, spec: Spec, machine: Machine) -> Spec:
    types = spec.setdefault("balloonTypes", [])
    if not types or random.random() < 0.2:
        free = [name for name in NAMES if all(known.get("name") != name for known in types)]
        types.append(balloon_type(random, random.choice(free or ["e"]), machine))
    found: Spec = random.choice(types)
    return found
