"""What the API server or the plugin ignores without a word, so that a policy does something else than it says.

A bare `cpu: "0-3"` is not among it: the plugin refuses that, as a quantity that it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.acceptance.cpu_classes import cpu_classes
from gitops.nri.acceptance.fault import Fault, Faults
from gitops.nri.acceptance.globs import BadPatternError, literals
from gitops.nri.acceptance.spec import RESERVED, Policy, text, texts
from gitops.nri.resolution import Stage, shared_policy, stage
from gitops.nri.schema.fields import Location
from gitops.nri.schema.pruning import unknown_fields

_CONSTRAINTS = ("availableResources", "reservedResources")
_IRQ_MODES = ("", "sink", "isolate")
_NAMESPACE_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def ignored_key(policy: Manifest) -> Faults:
    """The API server prunes what the CRD does not have."""
    for pruned in unknown_fields(policy):
        yield Fault(pruned.at, pruned.message, f"write {pruned.meant}" if pruned.meant else "leave it out")


def unused_name(policy: Manifest) -> Faults:
    """Nodes look for `node.<NODE>`, `group.<GROUP>` or `default`, and a name in upper case cannot exist."""
    name = str(get(policy, "metadata", "name") or "")
    if stage(name) is Stage.UNUSED:
        hint = "name it default, group.<GROUP> or node.<NODE>"
        yield Fault(("metadata", "name"), f"no node will ever use a policy named {name!r}", hint)
    elif stage(name) is Stage.GROUP and not possible_group(name.partition(".")[2]):
        message = f"no object can be named {name!r}, so the nodes of that group never get a policy"
        yield Fault(("metadata", "name"), message, "rename the group in lower case, without underscores")


def possible_group(label_value: str) -> bool:
    """Whether there can be a policy for the nodes with this value of a group label.

    Label values may have upper case and underscores, names of objects may not.
    """
    return shared_policy({"metadata": {"labels": {"config.nri/group": label_value}}}) is not None


def ignored_constraint(policy: Policy) -> Faults:
    """Of the constraints only `cpu`, in lower case, is looked at."""
    for constraint in _CONSTRAINTS:
        for key in get(policy.spec, constraint) or {}:
            if key != "cpu":
                hint = "write cpu" if key.lower() == "cpu" else "leave it out"
                yield Fault(("spec", constraint, key), f"{constraint}.{key} is ignored", hint)


def unknown_cpu_class(policy: Policy) -> Faults:
    """The plugin logs a warning and configures nothing."""
    known = {text(given, "name") for _, given in cpu_classes(policy)}
    known |= set(get(policy.spec, "control", "cpu", "classes") or {})
    uses: list[tuple[Location, str]] = [(("spec", "idleCPUClass"), text(policy.spec, "idleCPUClass"))]
    uses += [((*found.at, "cpuClass"), text(found.given, "cpuClass")) for found in policy.types]
    for at, name in uses:
        if name and name not in known:
            yield Fault(
                at, f"there is no CPU class {name!r}, so nothing is configured", f"define {name!r} in cpuClasses"
            )


def unknown_irq_mode(policy: Policy) -> Faults:
    """Neither the CRD nor the plugin checks the word."""
    for found in policy.types:
        mode = text(found.given, "irqMode")
        if mode not in _IRQ_MODES:
            yield Fault((*found.at, "irqMode"), f"irqMode {mode!r} is ignored", "use sink or isolate")


def impossible_namespace(policy: Policy) -> Faults:
    """A malformed glob, or one that no name of a namespace matches."""
    for at, pattern in _namespace_globs(policy):
        try:
            odd = sorted(set(literals(pattern)) - _NAMESPACE_CHARACTERS)
        except BadPatternError as error:
            yield Fault(at, f"the glob never matches: {error}", "close every [ and write \\\\ for a backslash")
            continue
        if odd:
            message = f"the glob {pattern!r} never matches: namespaces have no {' '.join(odd)}"
            yield Fault(at, message, "namespaces have lower case letters, digits and -; * and ? are wildcards")


def unreachable_type(policy: Policy) -> Faults:
    """Types are asked in their order, and the first that matches everything takes everything."""
    greedy = None
    for found in policy.types:
        selects = texts(found.given, "namespaces") or found.given.get("matchExpressions") or found.name == RESERVED
        if greedy is not None and selects:
            what = "kube-system" if found.name == RESERVED else "whatever it selects"
            message = f"{found.name!r} never gets {what}: {greedy!r} before it matches everything"
            yield Fault(found.at, message, f"move {found.name!r} before {greedy!r}")
        if greedy is None and _matches_everything(found.given):
            greedy = found.name


def annotation_only_type(policy: Policy) -> Faults:
    """Without selectors a type is reached by its name only."""
    components = {name for found in policy.types for name in found.components}
    for found in policy.types:
        selects = texts(found.given, "namespaces") or found.given.get("matchExpressions")
        if not selects and found.name not in {*components, RESERVED, "default"}:
            message = f"only pods with the annotation balloon.balloons.resource-policy.nri.io reach {found.name!r}"
            yield Fault(found.at, message, "add namespaces or matchExpressions if that is not what you want")


ManifestWarning = Callable[[Manifest], Faults]
SpecWarning = Callable[[Policy], Faults]

ON_MANIFEST: dict[str, ManifestWarning] = {"key-ignored": ignored_key, "policy-unused": unused_name}
"""Warnings that all kinds of policy have."""

ON_CONSTRAINTS: dict[str, SpecWarning] = {"constraint-ignored": ignored_constraint}
"""Warnings about what all kinds have in their spec."""


def _namespace_globs(policy: Policy) -> Iterator[tuple[Location, str]]:
    for position, pattern in enumerate(texts(policy.spec, "reservedPoolNamespaces")):
        yield ("spec", "reservedPoolNamespaces", position), pattern
    for found in policy.types:
        for position, pattern in enumerate(texts(found.given, "namespaces")):
            yield (*found.at, "namespaces", position), pattern


def _matches_everything(given: Any) -> bool:
    operators = [get(expression, "operator") for expression in given.get("matchExpressions") or ()]
    return "*" in texts(given, "namespaces") or "AlwaysTrue" in operators
