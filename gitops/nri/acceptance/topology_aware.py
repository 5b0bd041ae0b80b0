"""What only the topology-aware policy refuses.

Source: nri-plugins pkg/apis/config/v1alpha1/resmgr/policy/topologyaware/config.go (Validate) and
cmd/plugins/topology-aware/policy/topology-aware-policy.go (checkConstraints). An update is also refused when running
containers no longer fit, which nobody can tell from the policy.
"""

from __future__ import annotations

from gitops.manifest import get
from gitops.nri.acceptance.amounts import Kind
from gitops.nri.acceptance.cpu_classes import cpu_classes
from gitops.nri.acceptance.cpus import allowed_cpus
from gitops.nri.acceptance.cpuset import NO_CPU, CpuSet
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.spec import Policy, entries, text

_RESERVED = ("spec", "reservedResources", "cpu")
_QOS_CLASSES = ("besteffort", "burstable", "guaranteed")


def unknown_qos_class(policy: Policy) -> Faults:
    """The keys of podQoSSchedulingClasses are QoS classes, in any case."""
    for qos_class in get(policy.spec, "podQoSSchedulingClasses") or {}:
        if qos_class.lower() not in _QOS_CLASSES:
            at = ("spec", "podQoSSchedulingClasses", qos_class)
            yield Fault(at, f"there is no QoS class {qos_class!r}", f"use {', '.join(_QOS_CLASSES)}")


def undefined_scheduling_class(policy: Policy) -> Faults:
    """Scheduling classes of namespaces and QoS classes are defined."""
    defined = {text(given, "name") for _, given in entries(policy.spec, "schedulingClasses")}
    for field in ("podQoSSchedulingClasses", "namespaceSchedulingClasses"):
        for key, name in (get(policy.spec, field) or {}).items():
            if (name or "") not in defined:
                message = f"the scheduling class {name!r} of {key!r} is not among schedulingClasses"
                yield Fault(("spec", field, key), message, f"define the scheduling class {name!r}")


def shared_class_missing(policy: Policy) -> Faults:
    """Who has CPU classes says which one the shared pool has."""
    if any(cpu_classes(policy)) and not text(policy.spec, "sharedPoolCPUClass"):
        message = "there are cpuClasses and no sharedPoolCPUClass"
        yield Fault(("spec", "sharedPoolCPUClass"), message, "name the CPU class of the shared pool")


def undefined_cpu_class(policy: Policy) -> Faults:
    """CPU classes of the pools are defined; without any class nobody looks."""
    defined = {text(given, "name") for _, given in cpu_classes(policy)}
    for key in ("sharedPoolCPUClass", "reservedPoolCPUClass", "defaultExclusiveCPUClass"):
        name = text(policy.spec, key)
        if defined and name and name not in defined:
            yield Fault(("spec", key), f"there is no CPU class {name!r}", f"define {name!r} in cpuClasses")


def nothing_reserved(policy: Policy) -> Faults:
    """Other than the balloons policy this one does not start without reserved CPUs."""
    if policy.reserved is None:
        yield Fault(_RESERVED, "reservedResources.cpu is missing", 'reserve something, such as cpu: "1"')


def reserved_empty(policy: Policy, machine: Machine | None) -> Faults:
    """What is reserved comes to nothing."""
    if policy.reserved is None:
        return
    try:
        reserved = _reserved(policy, machine)
        count = reserved.size if reserved is not None else policy.reserved.whole_cpus()
    except ValueError:
        return
    if count <= 0:
        yield Fault(_RESERVED, "reservedResources.cpu comes to no CPU", 'reserve something, such as cpu: "1"')


def reserved_isolated(policy: Policy, machine: Machine | None) -> Faults:
    """An isolated CPU can be reserved only if it is the only one."""
    try:
        reserved = _reserved(policy, machine)
        allowed = allowed_cpus(policy, machine)
    except ValueError:
        return
    isolated = (reserved or NO_CPU) & allowed & (machine.isolated if machine else NO_CPU)
    if reserved is not None and isolated and reserved.size > 1:
        message = f"reservedResources lists {reserved}, of which {isolated} are isolated"
        yield Fault(_RESERVED, message, "reserve CPUs that are not isolated, or a single one that is")


def reserved_quantity_too_large(policy: Policy, machine: Machine | None) -> Faults:
    """A quantity is taken from the available CPUs that are not isolated."""
    if policy.reserved is None or policy.reserved.kind is not Kind.QUANTITY:
        return
    try:
        wanted = policy.reserved.whole_cpus()
        choice = allowed_cpus(policy, machine) - (machine.isolated if machine else NO_CPU)
    except ValueError:
        return
    if wanted > choice.size:
        message = f"reservedResources asks for {wanted} CPUs, and {choice.size} are available and not isolated"
        yield Fault(_RESERVED, message, "reserve less, or make more CPUs available")


def _reserved(policy: Policy, machine: Machine | None) -> CpuSet | None:
    """The CPUs that are listed; None for a quantity and for nothing."""
    if policy.reserved is None or policy.reserved.kind is Kind.QUANTITY:
        return None
    listed = policy.reserved.cpus()
    return listed if policy.reserved.kind is Kind.CPUSET else allowed_cpus(policy, machine) - listed
