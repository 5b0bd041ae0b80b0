"""A plan as a unified diff, as `kubectl diff` shows one: the YAML of live and desired, object by object.

The YAML holds what changes, at its place, and nothing else of the object: a plan knows differences only, and in them
secret values are masked already.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Element, Path, Ref
from gitops.ownership.lists import index_of
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Plan
from gitops.report.style import Style, Tone
from gitops.report.values import told_apart, yaml_lines
from gitops.report.words import printable

_LONGEST_NAME = 200
"""Characters of a file's name; file systems allow 255 bytes."""


@dataclass(frozen=True)
class FilePair:
    """One object that changes, as two files."""

    ref: Ref
    name: str
    """A file name that is safe on every file system and differs between objects."""
    live: str
    """YAML; empty where the object is to be created."""
    desired: str
    """YAML; empty where the object is to be pruned."""


def diff_files(plan: Plan) -> list[FilePair]:
    """For `KUBECTL_EXTERNAL_DIFF`: a pair of files for each object of which some field would be written."""
    return list(_pairs(plan))


def plan_diff(plan: Plan, style: Style) -> str:
    """The unified diff of all objects that change; empty when none does."""
    return "".join(f"{line}\n" for pair in _pairs(plan) for line in _diff_lines(pair, style))


def _pairs(plan: Plan) -> Iterator[FilePair]:
    for change in plan.changes():
        live, desired = _documents(change)
        if live != desired:
            yield FilePair(change.ref, _file_name(change.ref), live, desired)


def _documents(change: Change) -> tuple[str, str]:
    if change.action not in {Action.CREATED, Action.CONFIGURED, Action.PRUNED}:
        return "", ""
    live = _Partial(change.ref)
    desired = _Partial(change.ref)
    for field in change.fields:
        if not field.ignored:
            before, after = told_apart(field.live, field.desired)
            live.put(field.path, before)
            desired.put(field.path, after)
    return (
        "" if change.action is Action.CREATED else live.text(),
        "" if change.action is Action.PRUNED else desired.text(),
    )


class _Partial:
    """A manifest that grows field by field."""

    def __init__(self, ref: Ref) -> None:
        namespace = {"namespace": ref.namespace} if ref.namespace else {}
        self._manifest: dict[str, Any] = {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "metadata": {"name": ref.name, **namespace},
        }

    def put(self, path: Path, value: Any) -> None:
        if value is not ABSENT:
            self._manifest = _with(self._manifest, path, value)

    def text(self) -> str:
        return "".join(f"{line}\n" for line in yaml_lines(self._manifest))


def _with(holder: Any, path: Path, value: Any) -> Any:
    """The holder with a value at a path; a list element on the way holds its key, as in a manifest."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, Element):
        elements = list(holder) if isinstance(holder, list) else []
        index = index_of(elements, step)
        if index is None:
            elements.append(step.fields)
            index = -1
        elements[index] = _with(elements[index], tuple(rest), value)
        return elements
    fields = dict(holder) if isinstance(holder, dict) else {}
    fields[step] = _with(fields.get(step), tuple(rest), value)
    return fields


def _diff_lines(pair: FilePair, style: Style) -> Iterator[str]:
    ref = pair.ref
    place = printable("/".join(part for part in (ref.target, ref.kind, ref.namespace, ref.name) if part))
    files = difflib.unified_diff(
        pair.live.splitlines(), pair.desired.splitlines(), f"live/{place}", f"desired/{place}", lineterm=""
    )
    for number, line in enumerate(files):
        if number < 2:
            yield style.paint(line, Tone.STRONG)
        elif line.startswith("@@"):
            yield style.paint(line, Tone.PLACE)
        else:
            yield style.paint(line, {"+": Tone.ADDED, "-": Tone.REMOVED}.get(line[0]))


def _file_name(ref: Ref) -> str:
    parts = (ref.target, ref.api_version, ref.kind, ref.namespace, ref.name)
    name = "_".join(re.sub(r"[^A-Za-z0-9.-]", _escaped, part) for part in parts)
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}~{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _escaped(match: re.Match[str]) -> str:
    """Slashes, which are common, stay readable; everything else that is special becomes its number."""
    return "+" if match[0] == "/" else f"%{ord(match[0]):X}"
