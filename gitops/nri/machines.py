"""What machines a shoot has, from what is declared, what the CloudProfile says and what its nodes report.

A CloudProfile tells CPUs and memory of a machine type, and not its topology. That is enough to say whether a balloons
policy is accepted, which depends on the number of CPUs alone; it is not enough to say where balloons will be.
Sources: gardener pkg/apis/core/v1beta1 (CloudProfile, NamespacedCloudProfile), pkg/provider-local/local/types.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.acceptance.machine import Machine
from gitops.nri.resolution import node_name
from gitops.ownership.equality import quantity

POOL_LABEL = "worker.gardener.cloud/pool"
"""The label of a Node that names its worker pool."""
_LOCAL = "local"
_FAKED_CPUS = 100
"""What provider-local makes its nodes report; its machines see all CPUs of the host instead."""


@dataclass(frozen=True)
class Pool:
    """The machines of one worker pool."""

    name: str
    machine_type: str
    labels: Mapping[str, str]
    """Of its nodes, as far as the Shoot declares them."""
    machine: Machine | None
    """None where not even the number of CPUs is known; one package with one node where only that is."""
    open_questions: tuple[str, ...] = ()
    """Conclusions that cannot be drawn, and what to declare so that they can."""

    @property
    def node(self) -> Manifest:
        """A Node as this pool makes them, without a name: what resolution looks at."""
        return {"kind": "Node", "metadata": {"labels": dict(self.labels)}}


def machines_of(
    shoot: Manifest,
    cloud_profile: Manifest | None,
    declared: Mapping[str, Machine],
    nodes: Iterable[Manifest] = (),
    counted: Mapping[str, int] | None = None,
) -> tuple[Pool, ...]:
    """The machines of every worker pool, in the Shoot's order; none for a workerless Shoot.

    Args:
        shoot: the Shoot, desired or live.
        cloud_profile: the CloudProfile or NamespacedCloudProfile that it refers to; None where nobody may read it.
        declared: machines by machine type. They count more than anything else.
        nodes: live nodes of the shoot; the capacity they report counts more than the CloudProfile.
        counted: CPUs by node, as a NodeResourceTopology tells them; they count more than the capacity, and nobody
            fakes them.
    """
    types = _machine_types(cloud_profile)
    known = tuple(nodes)
    local = get(shoot, "spec", "provider", "type") == _LOCAL
    return tuple(
        _pool(worker, declared, types, _reported(worker, known, counted or {}, local=local), local=local)
        for worker in get(shoot, "spec", "provider", "workers") or ()
    )


@dataclass(frozen=True)
class _Size:
    """CPUs and memory, as somebody tells them."""

    cpus: int
    """0 where they are not told."""
    memory: int
    """Bytes; 0 where it is not told."""


_NOTHING = _Size(0, 0)


def _pool(
    worker: Any, declared: Mapping[str, Machine], types: Mapping[str, _Size], reported: _Size, *, local: bool
) -> Pool:
    name, machine_type = str(get(worker, "name")), str(get(worker, "machine", "type"))
    pool = Pool(name, machine_type, get(worker, "labels") or {}, None)
    profile = types.get(machine_type, _NOTHING)
    if machine_type in declared:
        return _declared(pool, declared[machine_type], _NOTHING if local else profile, reported)
    if local and not reported.cpus:
        question = "provider-local fakes the capacity of its nodes, which see all CPUs of the host"
        return replace(pool, open_questions=(f"{question}: declare the machine type {machine_type}",))
    size = reported if reported.cpus else profile
    if not size.cpus:
        why = "the CloudProfile says nothing of its CPUs" if machine_type in types else "no CloudProfile has it"
        question = f"whether policies are accepted is not known: {why}; declare the machine type {machine_type}"
        return replace(pool, open_questions=(question,))
    question = (
        f"which CPUs share a core or a NUMA node, and which are isolated, is not known; "
        f"declare the machine type {machine_type}"
    )
    machine = Machine(packages=1, nodes=1, cores=size.cpus, threads=1, memory=size.memory or profile.memory)
    return replace(pool, machine=machine, open_questions=(question,))


def _declared(pool: Pool, machine: Machine, profile: _Size, reported: _Size) -> Pool:
    """The declared machine, and who says something else."""
    questions = tuple(
        f"{who} {size.cpus} CPUs and the declared machine {machine} has {machine.cpu_count}: correct the declaration"
        for who, size in (("nodes report", reported), ("the CloudProfile says", profile))
        if size.cpus and size.cpus != machine.cpu_count
    )
    memory = machine.memory or reported.memory or profile.memory
    return replace(pool, machine=replace(machine, memory=memory), open_questions=questions)


def _machine_types(cloud_profile: Manifest | None) -> Mapping[str, _Size]:
    """By name; a NamespacedCloudProfile tells the merged result in its status."""
    spec = get(cloud_profile, "status", "cloudProfileSpec") or get(cloud_profile, "spec")
    types = get(spec, "machineTypes") or ()
    return {str(get(one, "name")): _Size(_whole(get(one, "cpu")), _whole(get(one, "memory"))) for one in types}


def _reported(worker: Any, nodes: Iterable[Manifest], counted: Mapping[str, int], *, local: bool) -> _Size:
    """What the live nodes of a pool report; nothing where they disagree or where it is faked."""
    sizes = {
        _told(node, counted.get(node_name(node), 0), local=local)
        for node in nodes
        if get(node, "metadata", "labels", POOL_LABEL) == get(worker, "name")
    }
    if len({size.cpus for size in sizes}) != 1:
        return _NOTHING
    return min(sizes, key=lambda one: one.memory)


def _told(node: Manifest, counted: int, *, local: bool) -> _Size:
    memory = _whole(get(node, "status", "capacity", "memory"))
    if counted:
        return _Size(counted, 0 if local else memory)
    cpus = _whole(get(node, "status", "capacity", "cpu"))
    return _NOTHING if local and cpus == _FAKED_CPUS else _Size(cpus, memory)


def _whole(value: Any) -> int:
    return int(quantity(value) or 0)
