"""What cannot be known from here: it depends on a driver, a device or the interrupts of the node."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.manifest import get
from gitops.nri.acceptance.cpu_classes import cpu_classes
from gitops.nri.acceptance.decoding import frequency
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import Policy, text, texts

_UNCORE = ("uncoreMinFreq", "uncoreMaxFreq")


def uncore_driver(policy: Policy) -> Faults:
    """Uncore limits are refused without the driver intel_uncore_frequency (cpuclass/cpuclass.go Configure)."""
    hint = "make sure that the nodes load intel_uncore_frequency, or leave the uncore limits out"
    message = "uncore limits are accepted only where the kernel has the driver intel_uncore_frequency"
    for at, given in cpu_classes(policy):
        for key in _UNCORE:
            if frequency(given.get(key)):
                yield Fault((*at, key), message, hint)
    legacy = get(policy.spec, "control", "cpu", "classes")
    named = {text(given, "name") for _, given in cpu_classes(policy)}
    for name, given in legacy.items() if isinstance(legacy, dict) else ():
        for key in _UNCORE:
            if get(given, key) and name not in named:
                yield Fault(("spec", "control", "cpu", "classes", name, key), message, hint)


def speed_select(policy: Policy) -> Faults:
    """Priority Core Turbo is ignored without Speed Select, and programming it may fail (internal/pct/pct.go)."""
    for at, given in cpu_classes(policy):
        for key in ("pctPriority", "sstClosID"):
            if given.get(key) not in (None, ""):
                message = f"{key} is accepted only where Intel Speed Select can be programmed as it asks"
                yield Fault((*at, key), message, "try it on one node first")


def cache_allocation(policy: Policy) -> Faults:
    """RDT needs a mounted resctrl file system that has what the partitions ask for (rdt.go).

    The agent's own check of options and partitions never fails: what the API server stored always converts.
    """
    if get(policy.spec, "control", "rdt", "enable"):
        message = "cache and bandwidth allocation is accepted only where resctrl is there and has the resources"
        yield Fault(("spec", "control", "rdt", "enable"), message, "try it on one node first")


def claimed_interrupts(policy: Policy) -> Faults:
    """A claim of an interrupt that controllableInterrupts does not allow is refused (config.go Validate).

    Which interrupts a node has is not known, but no claim can match one that is not allowed if the same pattern is
    allowed, or if everything without a slash is and the claim cannot match a slash.
    """
    allowed = texts(policy.spec, "controllableInterrupts")
    for known in policy.types:
        for position, claim in enumerate(texts(known.given, "irqClaim")):
            if not _surely_allowed(claim, allowed):
                message = f"the claim {claim!r} is refused where it matches an interrupt that is not controllable"
                at = (*known.at, "irqClaim", position)
                yield Fault(at, message, f"add {claim!r} to controllableInterrupts")


def _surely_allowed(claim: str, allowed: Sequence[str]) -> bool:
    return not allowed or claim in allowed or ("*" in allowed and "/" not in claim and "[" not in claim)
