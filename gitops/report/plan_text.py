"""A plan as text for a terminal: wave by wave, shoots that change alike together, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gitops.manifest import Target
from gitops.plan.changes import Action, Change, Cost, Plan, ShootPlan, WavePlan
from gitops.plan.document import GARDEN_WAVE
from gitops.report.field_lines import field_lines, is_measured
from gitops.report.grouping import Group, change_likeness, groups, is_own, is_quiet
from gitops.report.style import Style, Tone
from gitops.report.words import (
    SIGNS,
    TONES,
    counted,
    listed,
    plan_totals,
    printable,
    short_digest,
    short_revision,
    wrapped,
)

_REPEATED = 3
"""So many lines on the fields of a changed object are repeated for the next shoot; more are referred to."""
_NAMES = 6
_NOTES = 5


def plan_text(plan: Plan, digest: str, style: Style) -> str:
    """The plan, what it costs, and its totals on the last line but one.

    Args:
        plan: what a run would do.
        digest: the plan's own, `sha256:…`.
        style: colours, width, and whether unchanged objects and the contents of new ones are shown too.
    """
    lines = [style.paint(f"Plan for {printable(plan.overlay)}", Tone.STRONG)]
    for warning in plan.warnings:
        lines += [style.paint(line, Tone.WARNED) for line in _hanging(f"Warning: {warning}", "", style)]
    if plan.garden:
        lines += ["", *_garden_lines(plan.garden, style)]
    for wave in plan.waves:
        lines += ["", *_wave_lines(wave, style)]
    lines += ["", *cost_lines(plan)]
    if not style.whole and any(is_measured(change, field) for change in plan.changes() for field in change.fields):
        lines.append("What new objects hold is shown by `gitops plan --verbose` and `gitops diff`.")
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
    if pinned := costs[Cost.PINNING]:
        parts.append(f"containers are pinned to other CPUs in {counted(pinned, 'shoot')}")
    return [f"Cost: {', '.join(parts)}."] if parts else []


def change_tail(change: Change, reason: str) -> str:
    """What stands behind an object: its cost and its reason, as far as there are any."""
    cost = "" if change.cost is Cost.NONE else change.cost.value
    return f"{cost}: {reason}" if cost and reason else cost or reason


def _garden_lines(changes: Sequence[Change], style: Style) -> Iterator[str]:
    yield f"{style.paint(f'Wave {GARDEN_WAVE}', Tone.STRONG)} (registrations of extensions, once before all shoots)"
    for change in changes:
        if change.action is not Action.UNCHANGED or change.fields or style.whole:
            yield from _change_lines(change, change.reason, "", style)
            yield from _fields_once(change, "", "", style)
    quiet = sum(change.action is Action.UNCHANGED and not change.fields for change in changes)
    if quiet and not style.whole:
        yield style.paint(f"    = {counted(quiet, 'object')} unchanged", Tone.FAINT)


def _wave_lines(wave: WavePlan, style: Style) -> Iterator[str]:
    yield style.paint(f"Wave {printable(wave.name)}", Tone.STRONG) + f" ({counted(len(wave.shoots), 'shoot')})"
    told: dict[str, Target] = {}
    for group in groups(wave):
        yield from _group_lines(group, told, style)
    quiet = [shoot for shoot in wave.shoots if is_quiet(shoot)]
    if not quiet:
        return
    if style.whole:
        for shoot in quiet:
            yield from _group_lines(Group((shoot,)), told, style)
    else:
        yield style.paint(f"  = {counted(len(quiet), 'shoot')} unchanged", Tone.FAINT)


def _group_lines(group: Group, told: dict[str, Target], style: Style) -> Iterator[str]:
    """Shoots that change alike.

    Args:
        group: which.
        told: by the likeness of a change, the shoot of the wave that it was told of first; grows.
        style: the look.
    """
    shoot = group.names[0]
    yield style.paint(f"  {printable(shoot)}", Tone.PLACE)
    unchanged = 0
    for index, change in enumerate(group.changes):
        if change.action is Action.UNCHANGED and not change.fields and not style.whole:
            unchanged += 1
        else:
            yield from _change_lines(change, group.reason(index), shoot, style)
            yield from _fields_once(change, shoot, told.setdefault(change_likeness(change, shoot), shoot), style)
    if unchanged:
        yield style.paint(f"    = {counted(unchanged, 'object')} unchanged", Tone.FAINT)
    yield from _note_lines(group.shoots, style)
    if others := group.names[1:]:
        names = listed(others, len(others) if style.whole else _NAMES)
        yield from _hanging(f"same in {counted(len(others), 'more shoot')}: {names}", "    ", style)


def _note_lines(shoots: Sequence[ShootPlan], style: Style) -> Iterator[str]:
    """Notes are each shoot's own, whatever group it stands in."""
    notes = [(shoot.shoot if len(shoots) > 1 else "", note) for shoot in shoots for note in shoot.notes]
    shown = notes if style.whole else notes[:_NOTES]
    for shoot, note in shown:
        text = ": ".join(part for part in ("Note", shoot, note) if part)
        yield from (style.paint(line, Tone.WARNED) for line in _hanging(text, "    ", style))
    if left_out := len(notes) - len(shown):
        yield style.paint(f"    and {counted(left_out, 'more note')}", Tone.WARNED)


def _change_lines(change: Change, reason: str, shoot: Target, style: Style) -> Iterator[str]:
    """What happens to an object, what it costs and why."""
    tone = TONES[change.action]
    name = change.ref.kind if is_own(change.ref, shoot) else str(change.ref)
    head = f"    {SIGNS[change.action]} {change.action.value:<11} {printable(name)}"
    tail = printable(change_tail(change, reason))
    loud = Tone.WARNED if change.cost is not Cost.NONE or change.action is Action.SKIPPED else None
    if tail and len(head) + 3 + len(tail) <= style.width:
        yield f"{style.paint(head, tone)}   {style.paint(tail, loud)}"
    else:
        yield style.paint(head, tone)
        yield from (style.paint(line, loud) for line in _hanging(tail, " " * 8, style))


def _fields_once(change: Change, shoot: Target, first: Target, style: Style) -> list[str]:
    """The fields of an object; long ones only where they are told first."""
    lines = field_lines(change, style)
    short = 0 if change.action is Action.CREATED else _REPEATED
    if first == shoot or len(lines) <= short or style.whole:
        return lines
    return [style.paint(f"        the same as in {printable(first)}", Tone.FAINT)]


def _hanging(text: str, indent: str, style: Style) -> list[str]:
    return wrapped(text, width=style.width, indent=f"{indent}  ", first=indent)
