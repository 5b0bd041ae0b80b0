"""Composite balloon types.

Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (validateConfig).
"""

from __future__ import annotations

from collections.abc import Mapping

from gitops.manifest import get
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import DEFAULT, RESERVED, Policy, text, texts

_CREATIONS = ("all", "balance-balloons")


def with_cpu_class(policy: Policy) -> Faults:
    """Each component has its own."""
    for known in policy.types:
        if known.components and text(known.given, "cpuClass"):
            message = f"the composite {known.name!r} cannot have a cpuClass"
            yield Fault((*known.at, "cpuClass"), message, "set cpuClass on its component types")


def with_allocation_options(policy: Policy) -> Faults:
    """Where CPUs come from is decided by the components."""
    for known in policy.types:
        if not known.components:
            continue
        given = known.given
        options = [
            key for key in ("preferSpreadOnPhysicalCores", "allocatorTopologyBalancing") if get(given, key) is not None
        ]
        options += ["preferCloseToDevices"] if texts(given, "preferCloseToDevices") else []
        options += ["preferIsolCpus"] if given.get("preferIsolCpus") else []
        options += ["preferCoreType"] if text(given, "preferCoreType") else []
        for option in options:
            message = f"the composite {known.name!r} cannot have {option}"
            yield Fault((*known.at, option), message, f"set {option} on its component types")


def creation_without_components(policy: Policy) -> Faults:
    """How components are created says nothing where there are none."""
    for known in policy.types:
        if text(known.given, "componentCreation") and not known.components:
            message = f"componentCreation without components in balloon type {known.name!r}"
            yield Fault((*known.at, "componentCreation"), message, "list components, or leave componentCreation out")


def unknown_creation(policy: Policy) -> Faults:
    """There are two ways to create components."""
    for known in policy.types:
        mode = text(known.given, "componentCreation")
        if mode and mode not in _CREATIONS:
            hint = f"use {' or '.join(_CREATIONS)}"
            yield Fault((*known.at, "componentCreation"), f"there is no componentCreation {mode!r}", hint)


def component_without_name(policy: Policy) -> Faults:
    """A component names a balloon type."""
    for known in policy.types:
        for position, component in enumerate(known.components):
            if not component:
                at = (*known.at, "components", position, "balloonType")
                yield Fault(at, f"a component of {known.name!r} names no balloon type", "name one")


def undefined_component(policy: Policy) -> Faults:
    """A component is a type of the same policy, or one of the two that are always there."""
    names = {known.name for known in policy.types} | {RESERVED, DEFAULT}
    for known in policy.types:
        for position, component in enumerate(known.components):
            if component and component not in names:
                at = (*known.at, "components", position, "balloonType")
                message = f"the component {component!r} of {known.name!r} is not a balloon type"
                yield Fault(at, message, f"define {component!r}, or correct the name")


def circular(policy: Policy) -> Faults:
    """A composite cannot hold itself."""
    composites = {known.name: known.components for known in policy.types if known.components}
    for known in policy.types:
        if known.components and _holds_itself(known.name, composites):
            message = f"the composite {known.name!r} holds itself"
            yield Fault((*known.at, "components"), message, "take one of the components out of the circle")


def _holds_itself(name: str, composites: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a walk from the type ever comes back to where it has been, as the plugin's check finds it."""
    done: set[str] = set()

    def circles(at: str, above: frozenset[str]) -> bool:
        if at in above:
            return True
        if at in done:
            return False
        found = any(circles(component, above | {at}) for component in composites.get(at, ()))
        done.add(at)
        return found

    return circles(name, frozenset())
