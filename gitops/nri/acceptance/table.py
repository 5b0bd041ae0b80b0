"""The rules of each kind of policy, in the order in which the plugin looks.

Two rejections that its sources hold can never happen: fillBuiltinBalloonDefs sets minBalloons and maxBalloons of
`reserved` to 1 before validateConfig compares them with 0 and 1, and what the API server stored of control.rdt
always converts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gitops.nri.acceptance import (
    allocation,
    balloon_types,
    composition,
    cpu_classes,
    cpus,
    expressions,
    hardware,
    references,
    settings,
    topology_aware,
)
from gitops.nri.acceptance.fault import Faults
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.spec import Policy

PolicyRule: TypeAlias = Callable[[Policy], Faults]
MachineRule: TypeAlias = Callable[[Policy, Machine | None], Faults]


@dataclass(frozen=True)
class Rules:
    """The rules of one kind of policy, by name; names are stable."""

    refusing: dict[str, PolicyRule]
    """What is refused on every machine."""
    on_machine: dict[str, MachineRule]
    """What some machines refuse; without a machine they find what no machine accepts."""
    after: dict[str, MachineRule]
    """The same, and only asked when nothing else was found: they trust that the policy makes sense."""
    unknowable: dict[str, PolicyRule]
    """What depends on devices, drivers or interrupts of the node."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, `undecodable-value` first: that one is about every kind."""
        return (UNDECODABLE, *self.refusing, *self.on_machine, *self.after, *self.unknowable)


UNDECODABLE = "undecodable-value"

_OF_ALL: dict[str, PolicyRule] = {"metrics-exporter-conflict": settings.two_metrics_exporters}
"""What the resource manager refuses, whatever its policy is."""

_OF_CPUS: dict[str, PolicyRule] = {
    "available-cpuset-malformed": cpus.malformed_available,
    "available-quantity": cpus.available_quantity,
    "interrupt-glob-malformed": settings.malformed_interrupt_glob,
    "reserved-cpuset-malformed": cpus.malformed_reserved,
    "reserved-quantity-malformed": cpus.malformed_quantity,
}

_OF_CPU_CLASSES: dict[str, PolicyRule] = {
    "cpu-class-name-missing": cpu_classes.without_name,
    "cpu-class-name-duplicate": cpu_classes.same_name_twice,
    "pct-priority-and-clos": cpu_classes.priority_and_clos,
    "pct-priority-unknown": cpu_classes.unknown_priority,
    "pct-clos-negative": cpu_classes.negative_clos,
    "pct-frequency-alone": cpu_classes.clos_frequency_without_priority,
    "pct-publish-alone": cpu_classes.published_without_priority,
    "pct-modes-mixed": cpu_classes.mixed_modes,
    "pct-priority-twice": cpu_classes.same_priority_twice,
}

_OF_HARDWARE: dict[str, PolicyRule] = {
    "uncore-driver": hardware.uncore_driver,
    "speed-select": hardware.speed_select,
    "cache-allocation": hardware.cache_allocation,
}

BALLOONS = Rules(
    refusing={
        "expression-operator-unknown": expressions.unknown_operator,
        "expression-values": expressions.wrong_number_of_values,
        "expression-key-unknown": expressions.unknown_key,
        "expression-key-trailing": expressions.trailing_key,
        "expression-key-missing": expressions.missing_key,
        **_OF_ALL,
        **_OF_CPUS,
        "reserved-max-cpus": cpus.reserved_type_too_small,
        "reserved-min-cpus": cpus.reserved_type_disagrees,
        "type-name-missing": balloon_types.without_name,
        "type-name-duplicate": balloon_types.same_name_twice,
        "type-min-cpus": balloon_types.more_cpus_than_allowed,
        "type-min-balloons": balloon_types.more_balloons_than_allowed,
        "memory-type-unknown": balloon_types.unknown_memory_type,
        "composite-cpu-class": composition.with_cpu_class,
        "composite-allocation-option": composition.with_allocation_options,
        "component-creation-alone": composition.creation_without_components,
        "component-creation-unknown": composition.unknown_creation,
        "load-class-name-missing": references.load_class_without_name,
        "load-class-level-missing": references.load_class_without_level,
        "load-undefined": references.undefined_load,
        "scheduling-class-undefined": references.undefined_scheduling_class,
        **_OF_CPU_CLASSES,
        "cpu-class-deprecated-name-missing": cpu_classes.deprecated_without_name,
        "component-name-missing": composition.component_without_name,
        "component-undefined": composition.undefined_component,
        "component-circular": composition.circular,
        "turbo-domain-unknown": settings.unknown_turbo_domain,
    },
    on_machine={"reserved-outside-available": cpus.reserved_outside_available},
    after={"not-enough-cpus": allocation.not_enough_cpus},
    unknowable={
        **_OF_HARDWARE,
        "interrupt-claim": hardware.claimed_interrupts,
    },
)

TOPOLOGY_AWARE = Rules(
    refusing={
        **_OF_ALL,
        **_OF_CPUS,
        **_OF_CPU_CLASSES,
        "qos-class-unknown": topology_aware.unknown_qos_class,
        "scheduling-class-undefined": topology_aware.undefined_scheduling_class,
        "shared-cpu-class-missing": topology_aware.shared_class_missing,
        "cpu-class-undefined": topology_aware.undefined_cpu_class,
        "reserved-missing": topology_aware.nothing_reserved,
    },
    on_machine={
        "reserved-outside-available": cpus.reserved_outside_available,
        "reserved-isolated": topology_aware.reserved_isolated,
        "reserved-empty": topology_aware.reserved_empty,
        "not-enough-cpus": topology_aware.reserved_quantity_too_large,
    },
    after={},
    unknowable=_OF_HARDWARE,
)

TEMPLATE = Rules(refusing=_OF_ALL, on_machine={}, after={}, unknowable={"cache-allocation": hardware.cache_allocation})
"""The template policy does nothing, and refuses nothing."""

RULES = {"BalloonsPolicy": BALLOONS, "TopologyAwarePolicy": TOPOLOGY_AWARE, "TemplatePolicy": TEMPLATE}
"""By kind."""
