"""The fields of one object that change, as lines of a plan's text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from gitops.manifest import pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, FieldChange
from gitops.report.style import Style, Tone
from gitops.report.values import difference_lines, is_nested, told_apart, value_text, yaml_lines
from gitops.report.words import counted, printable, sentences

_BLOCK_LINES = 16
"""Lines of one field's difference that are shown unless everything is wanted."""
_DIFF_TONES = {"+": Tone.ADDED, "-": Tone.REMOVED}


def field_lines(change: Change, style: Style) -> list[str]:
    """A line or more for each field that differs.

    Of an object that is created, structures are only measured, unless everything is wanted: they stand in git.
    """
    width = min(max((len(_path(field)) for field in change.fields), default=0), style.width // 2)
    lines: list[str] = []
    for field in change.fields:
        if is_measured(change, field) and not style.whole:
            lines.append(f"        {_path(field):<{width}}  {counted(len(yaml_lines(field.desired)), 'line')}")
        else:
            lines += _lines(field, change.action, width, style)
    return lines


def is_measured(change: Change, field: FieldChange) -> bool:
    """Whether only the size of a field is told, unless everything is wanted."""
    return change.action is Action.CREATED and is_nested(field.desired)


def written_by(field: FieldChange) -> str:
    """Who wrote the live value, such as `by kubectl-patch, 2026-11-03T10:02:00Z`; empty when nobody claims it."""
    if not field.manager:
        return ""
    return f"by {printable(field.manager)}" + (f", {printable(field.since)}" if field.since else "")


def _lines(field: FieldChange, action: Action, width: int, style: Style) -> Iterator[str]:
    """A field on one line where it fits; else its path, and below it the values, or the difference of their YAML."""
    tone = Tone.FAINT if field.ignored else None
    path = _path(field)
    told = sentences((f"kept, {field.ignored}" if field.ignored else "", written_by(field)))
    aside = f"  ({printable(told)})" if told else ""
    live, desired = told_apart(field.live, field.desired)
    created = action is Action.CREATED and live is ABSENT
    values = value_text(desired) if created else f"{value_text(live)} → {value_text(desired)}"
    if len(line := f"        {path:<{width}}  {values}{aside}") <= style.width:
        yield style.paint(line, tone)
    elif len(line := f"            {values}{aside}") <= style.width:
        yield from (style.paint(part, tone) for part in (f"        {path}", line))
    elif is_nested(live) or is_nested(desired):
        yield style.paint(f"        {path}{aside}", tone)
        yield from _block_lines(field, style)
    else:
        yield style.paint(f"        {path}{aside}", tone)
        room = None if style.whole else style.width - 12
        if not created:
            yield style.paint(f"            {value_text(live, room)}", tone)
        yield style.paint(f"          → {value_text(desired, room)}", tone)


def _block_lines(field: FieldChange, style: Style) -> Iterator[str]:
    lines = difference_lines(field.live, field.desired)
    shown = list(lines) if style.whole else list(islice(lines, _BLOCK_LINES))
    for line in shown:
        cut = line if style.whole or len(line) <= style.width else f"{line[: style.width - 1]}…"
        yield style.paint(f"          {cut}", Tone.FAINT if field.ignored else _DIFF_TONES.get(line[0]))
    if left_out := sum(1 for _ in lines):
        yield style.paint(f"          … {counted(left_out, 'more line')}; `gitops diff` shows all", Tone.FAINT)


def _path(field: FieldChange) -> str:
    return printable(pointer(field.path)) or "/"
