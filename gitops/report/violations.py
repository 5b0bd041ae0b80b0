"""Broken rules as text, by file, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import groupby
from typing import Any

from gitops.errors import Violation
from gitops.plan.document import API_VERSION
from gitops.report.style import Style, Tone
from gitops.report.words import counted, printable


class Severity(Enum):
    """What violations mean for a run."""

    PROBLEM = "problem"
    """It must not write."""
    WARNING = "warning"
    """It may, and probably something else was meant."""


_TONES = {Severity.PROBLEM: Tone.REMOVED, Severity.WARNING: Tone.WARNED}


def violations_text(violations: Iterable[Violation], style: Style, severity: Severity = Severity.PROBLEM) -> str:
    """One line each, beginning with `file:line:` so that editors can jump there; empty when there are none."""
    ordered = sorted(violations)
    if not ordered:
        return ""
    lines: list[str] = []
    files = 0
    for file, found in groupby(ordered, key=lambda violation: violation.file):
        files += bool(file)
        lines += [*_lines(found, style, severity), ""]
    where = f" in {counted(files, 'file')}" if files else ""
    lines.append(style.paint(f"{counted(len(ordered), severity.value)}{where}.", Tone.STRONG))
    return "\n".join(lines) + "\n"


def violations_document(
    overlay: str, problems: Iterable[Violation], warnings: Iterable[Violation] = ()
) -> dict[str, Any]:
    """The answer of `validate -o json`: valid means that there is no problem; there may be warnings."""
    found = [_entry(violation) for violation in sorted(problems)]
    return {
        "apiVersion": API_VERSION,
        "kind": "Validation",
        "overlay": overlay,
        "valid": not found,
        "violations": found,
        "warnings": [_entry(violation) for violation in sorted(warnings)],
    }


def _lines(violations: Iterable[Violation], style: Style, severity: Severity) -> Iterator[str]:
    for violation in violations:
        place = f"{violation.file}:{violation.line}" if violation.line else violation.file
        start = style.paint(f"{printable(place)}: ", Tone.PLACE) if place else ""
        concerned = f"{printable(violation.object)}: " if violation.object else ""
        rule = style.paint(f"[{printable(violation.rule)}]", Tone.FAINT)
        message = printable(" ".join(violation.message.split()))
        yield f"{start}{style.paint(severity.value, _TONES[severity])}: {concerned}{message} {rule}"


def _entry(violation: Violation) -> dict[str, Any]:
    return {
        "file": violation.file,
        "line": violation.line,
        "object": violation.object,
        "rule": violation.rule,
        "message": violation.message,
    }
