"""A plan as text for a terminal: wave by wave, shoots that change alike together, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from gitops.manifest import pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Cost, FieldChange, Plan, ShootPlan, WavePlan
from gitops.plan.document import GARDEN_WAVE
from gitops.report.grouping import Group, groups, is_quiet
from gitops.report.style import Style, Tone
from gitops.report.values import difference_lines, is_nested, told_apart, value_text
from gitops.report.words import (
    SIGNS,
    TONES,
    counted,
    listed,
    plan_totals,
    printable,
    sentences,
    short_digest,
    short_revision,
    wrapped,
)

_BLOCK_LINES = 16
"""Lines of one field's difference that are shown unless everything is wanted."""
_NAMES = 6
_NOTES = 5
_DIFF_TONES = {"+": Tone.ADDED, "-": Tone.REMOVED}


def plan_text(plan: Plan, digest: str, style: Style) -> str:
    """The plan, what it costs, and its totals on the last line but one.

    Args:
        plan: what a run would do.
        digest: the plan's own, `sha256:…`.
        style: colours, width, and whether unchanged objects are listed too.
    """
    lines = [style.paint(f"Plan for {printable(plan.overlay)}", Tone.STRONG)]
    for warning in plan.warnings:
        lines += [style.paint(line, Tone.WARNED) for line in _hanging(f"Warning: {warning}", "", style)]
    if plan.garden:
        lines += ["", *_garden_lines(plan.garden, style)]
    for wave in plan.waves:
        lines += ["", *_wave_lines(wave, style)]
    lines += ["", *cost_lines(plan)]
    lines.append(style.paint(f"Plan: {plan_totals(plan)}.", Tone.STRONG))
    lines.append(f"Revision {short_revision(plan.revision)}, digest {short_digest(digest)}.")
    return "\n".join(lines) + "\n"


def cost_lines(plan: Plan) -> list[str]:
    """What running clusters feel, in one sentence; none where they feel nothing."""
    shoots = [shoot for wave in plan.waves for shoot in wave.shoots]
    costs = Counter(cost for shoot in shoots for cost in {change.cost for change in shoot.changes})
    parts = []
    if rolled := costs[Cost.NODE_ROLL]:
        parts.append(f"machines are replaced in {counted(rolled, 'shoot')}")
    if reconciled := costs[Cost.CONTROL_PLANE]:
        parts.append(f"control planes are reconciled in {counted(reconciled, 'shoot')}")
    return [f"Cost: {', '.join(parts)}."] if parts else []


def change_tail(change: Change, reason: str) -> str:
    """What stands behind an object: its cost and its reason, as far as there are any."""
    cost = "" if change.cost is Cost.NONE else change.cost.value
    return f"{cost}: {reason}" if cost and reason else cost or reason


def written_by(field: FieldChange) -> str:
    """Who wrote the live value, such as `by kubectl-patch, 2026-11-03T10:02:00Z`; empty when nobody claims it."""
    if not field.manager:
        return ""
    return f"by {printable(field.manager)}" + (f", {printable(field.since)}" if field.since else "")


def _garden_lines(changes: Sequence[Change], style: Style) -> Iterator[str]:
    yield f"{style.paint(f'Wave {GARDEN_WAVE}', Tone.STRONG)} (registrations of extensions, once before all shoots)"
    yield from _changes_lines(changes, [change.reason for change in changes], style)


def _wave_lines(wave: WavePlan, style: Style) -> Iterator[str]:
    yield style.paint(f"Wave {printable(wave.name)}", Tone.STRONG) + f" ({counted(len(wave.shoots), 'shoot')})"
    for group in groups(wave):
        yield from _group_lines(group, style)
    quiet = [shoot for shoot in wave.shoots if is_quiet(shoot)]
    if not quiet:
        return
    if style.whole:
        for shoot in quiet:
            yield from _group_lines(Group((shoot,)), style)
    else:
        yield style.paint(f"  = {counted(len(quiet), 'shoot')} unchanged", Tone.FAINT)


def _group_lines(group: Group, style: Style) -> Iterator[str]:
    yield style.paint(f"  {printable(group.names[0])}", Tone.PLACE)
    yield from _changes_lines(group.changes, [group.reason(index) for index in range(len(group.changes))], style)
    yield from _note_lines(group.shoots, style)
    if others := group.names[1:]:
        names = listed(others, len(others) if style.whole else _NAMES)
        yield from _hanging(f"same in {counted(len(others), 'more shoot')}: {names}", "    ", style)


def _changes_lines(changes: Sequence[Change], reasons: Sequence[str], style: Style) -> Iterator[str]:
    unchanged = 0
    for change, reason in zip(changes, reasons, strict=True):
        if change.action is Action.UNCHANGED and not change.fields and not style.whole:
            unchanged += 1
        else:
            yield from _change_lines(change, reason, style)
    if unchanged:
        yield style.paint(f"    = {counted(unchanged, 'object')} unchanged", Tone.FAINT)


def _note_lines(shoots: Sequence[ShootPlan], style: Style) -> Iterator[str]:
    """Notes are each shoot's own, whatever group it stands in."""
    notes = [(shoot.shoot if len(shoots) > 1 else "", note) for shoot in shoots for note in shoot.notes]
    shown = notes if style.whole else notes[:_NOTES]
    for shoot, note in shown:
        text = ": ".join(part for part in ("Note", shoot, note) if part)
        yield from (style.paint(line, Tone.WARNED) for line in _hanging(text, "    ", style))
    if left_out := len(notes) - len(shown):
        yield style.paint(f"    and {counted(left_out, 'more note')}", Tone.WARNED)


def _change_lines(change: Change, reason: str, style: Style) -> Iterator[str]:
    tone = TONES[change.action]
    head = f"    {SIGNS[change.action]} {change.action.value:<11} {printable(str(change.ref))}"
    tail = printable(change_tail(change, reason))
    loud = Tone.WARNED if change.cost is not Cost.NONE or change.action is Action.SKIPPED else None
    if tail and len(head) + 3 + len(tail) <= style.width:
        yield f"{style.paint(head, tone)}   {style.paint(tail, loud)}"
    else:
        yield style.paint(head, tone)
        yield from (style.paint(line, loud) for line in _hanging(tail, " " * 8, style))
    width = min(max((len(_path(field)) for field in change.fields), default=0), style.width // 2)
    for field in change.fields:
        yield from _field_lines(field, change.action, width, style)


def _field_lines(field: FieldChange, action: Action, width: int, style: Style) -> Iterator[str]:
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


def _hanging(text: str, indent: str, style: Style) -> list[str]:
    return wrapped(text, width=style.width, indent=f"{indent}  ", first=indent)
