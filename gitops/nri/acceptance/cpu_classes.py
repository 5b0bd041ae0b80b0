"""CPU classes that contradict themselves or each other, in both kinds of policy that have them.

Source: nri-plugins pkg/apis/config/v1alpha1/resmgr/policy/cpuclass.go (Validate, ValidateCPUClasses).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops.manifest import get
from gitops.nri.acceptance.decoding import frequency
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import Policy, entries, text
from gitops.nri.schema.fields import Location

_PRIORITIES = ("high", "low")


def cpu_classes(policy: Policy) -> Iterator[tuple[Location, Mapping[str, Any]]]:
    """The entries of `cpuClasses` and where they stand."""
    for position, given in entries(policy.spec, "cpuClasses"):
        yield ("spec", "cpuClasses", position), given


def without_name(policy: Policy) -> Faults:
    """A class needs a name."""
    for at, given in cpu_classes(policy):
        if not text(given, "name"):
            yield Fault((*at, "name"), "the CPU class has no name", "give it one")


def deprecated_without_name(policy: Policy) -> Faults:
    """The balloons policy takes the entries of control.cpu.classes for CPU classes, and their keys for names."""
    if "" in (get(policy.spec, "control", "cpu", "classes") or {}):
        yield Fault(("spec", "control", "cpu", "classes", ""), "the CPU class has no name", "give it one")


def same_name_twice(policy: Policy) -> Faults:
    """Names of classes are unique."""
    seen: set[str] = set()
    for at, given in cpu_classes(policy):
        name = text(given, "name")
        if name and name in seen:
            yield Fault((*at, "name"), f"there are two CPU classes {name!r}", "rename or merge them")
        seen.add(name)


def priority_and_clos(policy: Policy) -> Faults:
    """Either the plugin programs Speed Select, or somebody else has."""
    for at, given in cpu_classes(policy):
        if text(given, "pctPriority") and _assigned(given):
            message = f"the CPU class {text(given, 'name')!r} has both pctPriority and sstClosID"
            yield Fault((*at, "sstClosID"), message, "keep one of them")


def unknown_priority(policy: Policy) -> Faults:
    """There are two priorities."""
    for at, given in cpu_classes(policy):
        priority = text(given, "pctPriority")
        if priority and priority not in _PRIORITIES:
            yield Fault((*at, "pctPriority"), f"there is no pctPriority {priority!r}", "use high or low")


def negative_clos(policy: Policy) -> Faults:
    """Classes of service are numbered from 0."""
    for at, given in cpu_classes(policy):
        if _assigned(given) and given["sstClosID"] < 0:
            yield Fault((*at, "sstClosID"), f"sstClosID {given['sstClosID']} is negative", "use 0 to 3")


def clos_frequency_without_priority(policy: Policy) -> Faults:
    """Both program a class of service, which only pctPriority does."""
    for at, given in cpu_classes(policy):
        for key in ("pctMinFreq", "pctMaxFreq"):
            if frequency(given.get(key)) and (_assigned(given) or not text(given, "pctPriority")):
                message = f"{key} needs pctPriority in the CPU class {text(given, 'name')!r}"
                yield Fault((*at, key), message, "set pctPriority instead of sstClosID, or use minFreq and maxFreq")


def published_without_priority(policy: Policy) -> Faults:
    """Only a class that uses Speed Select has a number of CPUs to publish."""
    for at, given in cpu_classes(policy):
        if given.get("publishExtendedResource") and not text(given, "pctPriority") and not _assigned(given):
            message = f"publishExtendedResource needs pctPriority or sstClosID in the CPU class {text(given, 'name')!r}"
            yield Fault((*at, "publishExtendedResource"), message, "set one of them, or leave it out")


def mixed_modes(policy: Policy) -> Faults:
    """All classes use pctPriority, or all use sstClosID."""
    managed = [at for at, given in cpu_classes(policy) if text(given, "pctPriority")]
    assigned = [at for at, given in cpu_classes(policy) if _assigned(given) and not text(given, "pctPriority")]
    if managed and assigned:
        message = "some CPU classes have pctPriority and some sstClosID"
        yield Fault((*assigned[0], "sstClosID"), message, "use the same of them in all classes")


def same_priority_twice(policy: Policy) -> Faults:
    """There is at most one class of each priority; what is not `high` counts as `low`."""
    seen: set[bool] = set()
    for at, given in cpu_classes(policy):
        priority = text(given, "pctPriority")
        if not priority:
            continue
        if (priority == "high") in seen:
            message = f"there are two CPU classes with pctPriority {priority!r}"
            yield Fault((*at, "pctPriority"), message, "keep one high and one low class")
        seen.add(priority == "high")


def _assigned(given: Mapping[str, Any]) -> bool:
    return isinstance(given.get("sstClosID"), int)
