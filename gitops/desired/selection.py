"""Selectors that select nothing: allowed, and probably a typing error."""

from __future__ import annotations

from gitops.desired.collect import Declared
from gitops.desired.overlay import Overlay
from gitops.desired.selector import Selector, selects
from gitops.errors import Violation
from gitops.manifest import get


def dead_selectors(overlay: Overlay, declared: Declared) -> list[Violation]:
    """A warning for each rule of the overlay whose `shoots` no declared Shoot matches."""
    every = [get(document.manifest, "metadata", "labels") or {} for document in declared.shoots.values()]
    rules: list[tuple[str, str, int, Selector | None]] = [
        *(("policies", overlay.file, source.line, source.shoots) for source in overlay.policies),
        *((f"extension {rule.type!r}", overlay.file, rule.line, rule.shoots) for rule in overlay.extensions),
        *(("the patch", rule.file, rule.line, rule.shoots) for rule in overlay.patches),
        *((f"ignore of {rule.kind}", overlay.file, rule.line, rule.shoots) for rule in overlay.ignore),
    ]
    return [
        Violation(file, line, "", "selects-nothing", f"the selector of {what} matches no shoot")
        for what, file, line, selector in rules
        if not any(selects(selector, labels) for labels in every)
    ]
