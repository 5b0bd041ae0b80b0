"""Extension rules applied to a Shoot: entries of `spec.extensions` merged by type, foreign entries untouched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gitops.desired.overlay import ExtensionRule, ExtensionState
from gitops.manifest import Manifest, get


@dataclass(frozen=True)
class Contradiction:
    """Two rules that cannot both hold on one Shoot."""

    type: str
    first: int
    """Line of the rule that spoke first."""
    second: int
    """Line of the rule that contradicts it."""


def contradictions(rules: Iterable[ExtensionRule]) -> list[Contradiction]:
    """Types that the rules of one Shoot name twice; being replaced by two rules is no contradiction."""
    found: list[Contradiction] = []
    said: dict[str, tuple[ExtensionRule, bool]] = {}
    for rule in rules:
        for type_, replaced in [(rule.type, False), *((type_, True) for type_ in rule.replaces)]:
            if type_ not in said:
                said[type_] = (rule, replaced)
            elif not (replaced and said[type_][1]):
                found.append(Contradiction(type_, said[type_][0].line, rule.line))
    return found


def with_extensions(shoot: Manifest, rules: Iterable[ExtensionRule]) -> Manifest:
    """The Shoot with each rule's entries set, as a new value.

    An entry is `disabled: true` or `disabled: false`, never left out: for an extension that is on by default only
    `disabled: true` turns it off (gardener pkg/component/shared/extension.go).
    """
    entries: dict[str, dict[str, Any]] = {}
    for rule in rules:
        disabled = rule.state is ExtensionState.DISABLED
        entries[rule.type] = {"type": rule.type, "disabled": disabled}
        if rule.provider_config is not None:
            entries[rule.type]["providerConfig"] = rule.provider_config
        for replaced in rule.replaces:
            entries[replaced] = {"type": replaced, "disabled": True}
    if not entries:
        return shoot
    merged = [{**entry, **entries.pop(entry.get("type"), {})} for entry in get(shoot, "spec", "extensions") or []]
    spec = {**(shoot.get("spec") or {}), "extensions": [*merged, *entries.values()]}
    return {**shoot, "spec": spec}
