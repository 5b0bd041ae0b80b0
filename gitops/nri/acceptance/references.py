"""Names that a policy uses and does not define.

Source: nri-plugins cmd/plugins/balloons/policy/balloons-policy.go (validateConfig).
"""

from __future__ import annotations

from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.spec import Policy, entries, text, texts


def load_class_without_name(policy: Policy) -> Faults:
    """A load class needs a name."""
    for position, given in entries(policy.spec, "loadClasses"):
        if not text(given, "name"):
            yield Fault(("spec", "loadClasses", position, "name"), "the load class has no name", "give it one")


def load_class_without_level(policy: Policy) -> Faults:
    """A load class needs a level; any word is one for the plugin, the API server knows two."""
    for position, given in entries(policy.spec, "loadClasses"):
        if not text(given, "level"):
            message = f"the load class {text(given, 'name')!r} has no level"
            yield Fault(("spec", "loadClasses", position, "level"), message, "use l2cache or core")


def undefined_load(policy: Policy) -> Faults:
    """A type's loads are load classes."""
    defined = {text(given, "name") for _, given in entries(policy.spec, "loadClasses")}
    for known in policy.types:
        for position, load in enumerate(texts(known.given, "loads")):
            if load not in defined:
                message = f"the load {load!r} of balloon type {known.name!r} is not among loadClasses"
                yield Fault((*known.at, "loads", position), message, f"define the load class {load!r}")


def undefined_scheduling_class(policy: Policy) -> Faults:
    """A type's scheduling class is defined."""
    defined = {text(given, "name") for _, given in entries(policy.spec, "schedulingClasses")}
    for known in policy.types:
        name = text(known.given, "schedulingClass")
        if name and name not in defined:
            message = f"the scheduling class {name!r} of balloon type {known.name!r} is not among schedulingClasses"
            yield Fault((*known.at, "schedulingClass"), message, f"define the scheduling class {name!r}")
