"""The CPUs a policy may use and those it reserves.

Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (setConfig, fillBuiltinBalloonDefs).
"""

from __future__ import annotations

from gitops.nri.acceptance.amounts import Amount, Kind
from gitops.nri.acceptance.cpuset import EVERY_CPU, CpuSet
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.spec import Policy

_AVAILABLE = ("spec", "availableResources", "cpu")
_RESERVED = ("spec", "reservedResources", "cpu")
_FORMS = "cpuset:0-3,8 or exclude-cpuset:0-3,8"


def malformed_available(policy: Policy) -> Faults:
    """What availableResources lists cannot be read."""
    yield from _malformed_list(policy.available, _AVAILABLE)


def available_quantity(policy: Policy) -> Faults:
    """A number does not say which CPUs; a bare `0-3` counts as a number too."""
    if policy.available is not None and policy.available.kind is Kind.QUANTITY:
        message = f"availableResources.cpu is {policy.available.text!r}, which does not say which CPUs"
        yield Fault(_AVAILABLE, message, f"write {_FORMS}")


def malformed_reserved(policy: Policy) -> Faults:
    """What reservedResources lists cannot be read."""
    yield from _malformed_list(policy.reserved, _RESERVED)


def malformed_quantity(policy: Policy) -> Faults:
    """What is reserved is neither a list nor a quantity; a bare `0-3` is neither."""
    if policy.reserved is None or policy.reserved.kind is not Kind.QUANTITY:
        return
    try:
        policy.reserved.whole_cpus()
    except ValueError as error:
        yield Fault(_RESERVED, f"reservedResources.cpu: {error}", f"write a quantity, {_FORMS}")


def reserved_outside_available(policy: Policy, machine: Machine | None) -> Faults:
    """Reserved CPUs are among those that are available and online."""
    try:
        allowed = allowed_cpus(policy, machine)
        reserved = policy.reserved.cpus() if policy.reserved and policy.reserved.kind is Kind.CPUSET else CpuSet()
    except ValueError:
        return
    missing = reserved - allowed
    if missing:
        where = (
            "among availableResources" if not missing - (machine.cpus if machine else EVERY_CPU) else "on the machine"
        )
        message = f"reservedResources lists the CPUs {missing}, which are not {where}"
        yield Fault(
            _RESERVED, message, f"reserve some of the CPUs {allowed}" if allowed else "make some CPUs available"
        )


def reserved_type_too_small(policy: Policy) -> Faults:
    """The balloon type `reserved` must hold the reserved quantity."""
    wanted = _quantity(policy)
    reserved = policy.reserved_type
    if wanted is not None and reserved.min_cpus == 0 and reserved.max_cpus and reserved.max_cpus < wanted:
        message = (
            f"maxCPUs {reserved.max_cpus} of the type reserved is less than the {wanted} CPUs of reservedResources"
        )
        yield Fault((*reserved.at, "maxCPUs"), message, "raise maxCPUs, or reserve less")


def reserved_type_disagrees(policy: Policy) -> Faults:
    """The documentation says that minCPUs of `reserved` overrides the reserved quantity; the plugin refuses it."""
    wanted = _quantity(policy)
    reserved = policy.reserved_type
    if wanted is not None and reserved.min_cpus not in (0, wanted):
        message = f"minCPUs {reserved.min_cpus} of the type reserved is not the {wanted} CPUs of reservedResources"
        yield Fault((*reserved.at, "minCPUs"), message, "leave minCPUs out, or make both the same")


def allowed_cpus(policy: Policy, machine: Machine | None) -> CpuSet:
    """What the policy may use; without a machine, what it could use on the largest.

    Raises:
        ValueError: availableResources cannot be read.
    """
    online = machine.cpus if machine else EVERY_CPU
    if policy.available is None or policy.available.kind is Kind.QUANTITY:
        return online
    listed = policy.available.cpus()
    return online & listed if policy.available.kind is Kind.CPUSET else online - listed


def reserved_count(policy: Policy, allowed: CpuSet) -> int:
    """How many CPUs reservedResources lists or asks for; 0 where it is absent.

    Raises:
        ValueError: it cannot be read.
    """
    if policy.reserved is None:
        return 0
    if policy.reserved.kind is Kind.QUANTITY:
        return policy.reserved.whole_cpus()
    listed = policy.reserved.cpus()
    return (allowed & listed if policy.reserved.kind is Kind.CPUSET else allowed - listed).size


def _malformed_list(amount: Amount | None, at: tuple[str, ...]) -> Faults:
    if amount is None or amount.kind is Kind.QUANTITY:
        return
    try:
        amount.cpus()
    except ValueError as error:
        yield Fault(at, f"{at[1]}.cpu: {error}", f"write {_FORMS}")


def _quantity(policy: Policy) -> int | None:
    if policy.reserved is None or policy.reserved.kind is not Kind.QUANTITY:
        return None
    try:
        return policy.reserved.whole_cpus()
    except ValueError:
        return None
