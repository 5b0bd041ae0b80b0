"""The answers of `policy check`: text, JSON, SARIF, and annotations for GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gitops.desired.documents import Document
from gitops.nri.acceptance.check import Acceptance, Finding, Verdict
from gitops.nri.schema.fields import Location
from gitops.nri.schema.objections import Objection
from gitops.report.style import Style, Tone
from gitops.report.words import printable


class Level(Enum):
    """How much a line means; the values are SARIF's words."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Checked:
    """One policy and what is said about it."""

    document: Document
    answers: tuple[tuple[str, Acceptance], ...]
    """Machines as they were asked for, with the answer; the empty machine asks what is true of all."""
    objections: tuple[Objection, ...]
    """What the API server would not store."""
    warnings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether neither a machine nor the API server refuses it."""
        return not self.objections and all(answer.verdict is not Verdict.REFUSED for _, answer in self.answers)


@dataclass(frozen=True)
class _Line:
    level: Level
    word: str
    rule: str
    file: str
    line: int
    message: str


def check_text(checked: Iterable[Checked], style: Style) -> str:
    """One line each, beginning with `file:line:`; what is accepted has its line too."""
    return "\n".join(_text(line, style) for one in checked for line in (*_lines(one), *_accepted(one)))


def check_document(checked: Iterable[Checked]) -> list[dict[str, Any]]:
    """One entry per policy and machine; `rule`, `path` and `message` are those of the first finding, or empty."""
    return [_entry(one, machine, answer) for one in checked for machine, answer in one.answers]


def check_sarif(checked: Sequence[Checked], version: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log, as code scanning reads it.

    Args:
        checked: what was checked.
        version: of this program.
    """
    lines = [line for one in checked for line in _lines(one)]
    driver = {
        "name": "gitops policy check",
        "version": version,
        "rules": [{"id": rule} for rule in sorted({line.rule for line in lines})],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(line) for line in lines]}],
    }


def check_annotations(checked: Iterable[Checked]) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request."""
    return "\n".join(_annotation(line) for one in checked for line in _lines(one))


def _lines(one: Checked) -> Iterator[_Line]:
    """What there is to complain about, each thing once, however many machines it is true of."""
    title = one.document.title
    for objection in one.objections:
        message = f"{title}: the API server refuses it: {objection.message}"
        yield _line(one, Level.ERROR, "refused", objection.rule, objection.at, message)
    machines: dict[tuple[Verdict, Finding], list[str]] = {}
    for machine, answer in one.answers:
        for finding in answer.findings:
            machines.setdefault((answer.verdict, finding), []).append(machine)
    for (verdict, finding), places in machines.items():
        where = f" on {', '.join(places)}" if any(places) else ""
        level = Level.ERROR if verdict is Verdict.REFUSED else Level.NOTE
        yield _line(one, level, verdict.value, finding.rule, finding.at, f"{title}{where}: {_advice(finding)}")
    for warning in one.warnings:
        yield _line(one, Level.WARNING, "warning", warning.rule, warning.at, f"{title}: {_advice(warning)}")


def _line(one: Checked, level: Level, word: str, rule: str, at: Location, message: str) -> _Line:
    return _Line(level, word, rule, one.document.file, one.document.violation(rule, message, *at).line, message)


def _accepted(one: Checked) -> Iterator[_Line]:
    places = [machine for machine, answer in one.answers if answer.verdict is Verdict.ACCEPTED]
    if places and not one.objections:
        where = f" on {', '.join(places)}" if any(places) else ", as far as it does not depend on the machine"
        message = f"{one.document.title}{where}"
        yield _Line(Level.NOTE, "accepted", "", one.document.file, one.document.line, message)


def _advice(finding: Finding) -> str:
    return f"{finding.message}; {finding.hint}"


_TONES = {Level.ERROR: Tone.REMOVED, Level.WARNING: Tone.WARNED, Level.NOTE: Tone.CHANGED}


def _text(line: _Line, style: Style) -> str:
    place = style.paint(f"{printable(line.file)}:{line.line}: ", Tone.PLACE)
    word = style.paint(line.word, Tone.ADDED if line.word == "accepted" else _TONES[line.level])
    rule = style.paint(f" [{line.rule}]", Tone.FAINT) if line.rule else ""
    return f"{place}{word}: {printable(line.message)}{rule}"


def _entry(one: Checked, machine: str, answer: Acceptance) -> dict[str, Any]:
    first = answer.findings[0] if answer.findings else None
    return {
        "file": one.document.file,
        "policy": str((one.document.manifest.get("metadata") or {}).get("name") or ""),
        "machine": machine,
        "verdict": answer.verdict.value,
        "rule": first.rule if first else "",
        "path": _pointer(first.at) if first else "",
        "message": _advice(first) if first else "",
        "findings": [_finding(one, finding.rule, finding.at, _advice(finding)) for finding in answer.findings],
        "objections": [_finding(one, found.rule, found.at, found.message) for found in one.objections],
        "warnings": [_finding(one, warning.rule, warning.at, _advice(warning)) for warning in one.warnings],
    }


def _finding(one: Checked, rule: str, at: Location, message: str) -> dict[str, Any]:
    line = one.document.violation(rule, message, *at).line
    return {"rule": rule, "path": _pointer(at), "line": line, "message": message}


def _pointer(at: Location) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in at)


def _result(line: _Line) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": line.file}, "region": {"startLine": max(line.line, 1)}}
    return {
        "ruleId": line.rule,
        "level": line.level.value,
        "message": {"text": printable(line.message)},
        "locations": [{"physicalLocation": place}],
    }


_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def _annotation(line: _Line) -> str:
    """Escapes as in actions/toolkit packages/core/src/command.ts."""
    data = line.message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    file = (
        line.file.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
    )
    return f"::{_COMMANDS[line.level]} file={file},line={line.line},title={line.rule}::{data}"
