"""Warnings by name; a policy that has them is accepted and probably does not do what was meant."""

from __future__ import annotations

from gitops.manifest import Manifest
from gitops.nri.acceptance import ignored, ignored_expressions
from gitops.nri.acceptance.check import Finding
from gitops.nri.acceptance.decoding import undecodable
from gitops.nri.acceptance.spec import Policy

_ON_BALLOONS: dict[str, ignored.SpecWarning] = {
    **ignored.ON_CONSTRAINTS,
    "cpu-class-unknown": ignored.unknown_cpu_class,
    "irq-mode-unknown": ignored.unknown_irq_mode,
    "namespace-glob-impossible": ignored.impossible_namespace,
    "expression-key-never-found": ignored_expressions.unresolvable_key,
    "expression-container-label": ignored_expressions.container_label,
    "expression-glob-malformed": ignored_expressions.malformed_value,
    "type-unreachable": ignored.unreachable_type,
    "type-by-annotation-only": ignored.annotation_only_type,
}
_BY_KIND: dict[str, dict[str, ignored.SpecWarning]] = {"BalloonsPolicy": _ON_BALLOONS}

NAMES = (*ignored.ON_MANIFEST, *_ON_BALLOONS)
"""All names of warnings."""


def warnings(policy: Manifest) -> tuple[Finding, ...]:
    """What would be ignored silently; where the plugin cannot read the spec, only what the API server drops."""
    found = [(name, fault) for name, warn in ignored.ON_MANIFEST.items() for fault in warn(policy)]
    kind, spec = policy["kind"], policy.get("spec") or {}
    if not any(undecodable(kind, spec)):
        by_kind = _BY_KIND.get(kind, ignored.ON_CONSTRAINTS)
        found += [(name, fault) for name, warn in by_kind.items() for fault in warn(Policy(spec))]
    return tuple(Finding(name, fault.at, fault.message, fault.hint) for name, fault in found)
