"""A plan as a pull-request comment: a table by wave, details folded, never longer than the forge allows.

Everything from outside stands in code, or has its markup characters written as entities: it can neither add markup nor
mention anybody. GitHub and GitLab look for mentions after entities are resolved, so an `@` or `#` in prose is followed
by a zero-width space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from gitops.manifest import pointer
from gitops.plan.changes import Action, Change, Cost, FieldChange, Plan, WavePlan
from gitops.plan.document import GARDEN_WAVE
from gitops.report.field_lines import written_by
from gitops.report.grouping import Group, groups, is_quiet
from gitops.report.plan_text import change_tail, cost_lines
from gitops.report.values import difference_lines, is_nested, told_apart, value_text
from gitops.report.words import (
    SIGNS,
    counted,
    plan_totals,
    printable,
    sentences,
    short_digest,
    short_revision,
)

LIMIT = 60_000
"""Characters; GitHub allows 65 536."""
_VALUE = 120
"""Characters of a value in a table."""
_BLOCK_LINES = 60
_LINE = 200
"""Characters of a line in a block."""
_NAMES = 50
_NOTES = 10
_WARNINGS = 20
_MARKUP = re.compile(r"[\\`*_\[\]<>&|~$@#]")


def plan_markdown(plan: Plan, digest: str, limit: int = LIMIT) -> str:
    """The plan as Markdown, GitHub's kind.

    Args:
        plan: what a run would do.
        digest: the plan's own, `sha256:…`.
        limit: the most characters; shoots for whose details there is no room are counted.
    """
    head = "\n".join(_head(plan, digest)) + "\n"
    room = limit - len(head) - len(_left_out(10**9, plan))
    parts = [head]
    left_out = 0
    if plan.garden and len(text := "\n".join(_garden(plan.garden)) + "\n") <= room:
        room -= len(text)
        parts.append(text)
    for wave in plan.waves:
        for group in groups(wave):
            text = "\n".join(_group(wave, group)) + "\n"
            if len(text) <= room:
                room -= len(text)
                parts.append(text)
            else:
                left_out += len(group.shoots)
    if left_out:
        parts.append(_left_out(left_out, plan))
    text = "".join(parts)
    return text if len(text) <= limit else _bare(plan, limit)


def prose(text: str) -> str:
    """A text from outside for running text and table cells."""
    return _MARKUP.sub(_harmless, printable(text))


def code(text: str) -> str:
    """A text from outside as inline code, also in a table or a heading; nobody is mentioned in code."""
    return f"<code>{_MARKUP.sub(_entity, printable(text))}</code>"


def _harmless(match: re.Match[str]) -> str:
    return f"{match[0]}&#8203;" if match[0] in "@#" else _entity(match)


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _head(plan: Plan, digest: str) -> Iterator[str]:
    yield f"### Plan for {code(plan.overlay)} at {code(short_revision(plan.revision))}"
    yield ""
    yield f"**{plan_totals(plan)}.**"
    yield from (f"**{line}**" for line in cost_lines(plan))
    yield ""
    for warning in plan.warnings[:_WARNINGS]:
        yield f"> **Warning:** {prose(warning)}"
        yield ""
    if len(plan.warnings) > _WARNINGS:
        yield f"> and {counted(len(plan.warnings) - _WARNINGS, 'more warning')}"
        yield ""
    yield "| Wave | Shoots | To create | To configure | To prune | Deferred | Skipped | Machines replaced |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    if plan.garden:
        yield _row(GARDEN_WAVE, "registrations", plan.garden, "0")
    yield from map(_wave_row, plan.waves)
    yield ""
    yield f"Digest {code(short_digest(digest))}"
    yield ""


def _wave_row(wave: WavePlan) -> str:
    changes = [change for shoot in wave.shoots for change in shoot.changes]
    rolled = sum(any(change.cost is Cost.NODE_ROLL for change in shoot.changes) for shoot in wave.shoots)
    shoots = f"{len(wave.shoots)}, {sum(map(is_quiet, wave.shoots))} unchanged"
    return _row(wave.name, shoots, changes, counted(rolled, "shoot") if rolled else "0")


def _row(name: str, shoots: str, changes: Sequence[Change], rolled: str) -> str:
    actions = (Action.CREATED, Action.CONFIGURED, Action.PRUNED, Action.DEFERRED, Action.SKIPPED)
    counts = [sum(change.action is action for change in changes) for action in actions]
    return f"| {' | '.join([code(name), shoots, *map(str, counts), rolled])} |"


def _garden(changes: Sequence[Change]) -> Iterator[str]:
    yield f"<details><summary>{code(GARDEN_WAVE)}: registrations of extensions: {_counts(changes)}</summary>"
    yield ""
    for change in changes:
        if change.action is not Action.UNCHANGED or change.fields:
            yield from _change(change, change.reason)
    yield "</details>"
    yield ""


def _group(wave: WavePlan, group: Group) -> Iterator[str]:
    others = group.names[1:]
    more = f" and {counted(len(others), 'more shoot')}" if others else ""
    yield f"<details><summary>{code(wave.name)}: {code(group.names[0])}{more}: {_counts(group.changes)}</summary>"
    yield ""
    for index, change in enumerate(group.changes):
        if change.action is not Action.UNCHANGED or change.fields:
            yield from _change(change, group.reason(index))
    notes = [(shoot.shoot, note) for shoot in group.shoots for note in shoot.notes]
    for shoot, note in notes[:_NOTES]:
        yield f"> **Note:** {code(shoot)}: {prose(note)}"
        yield ""
    if len(notes) > _NOTES:
        yield f"> and {counted(len(notes) - _NOTES, 'more note')}"
        yield ""
    if others:
        tail = f" and {len(others) - _NAMES} more" if len(others) > _NAMES else ""
        yield f"Same in {', '.join(map(code, others[:_NAMES]))}{tail}"
        yield ""
    yield "</details>"
    yield ""


def _counts(changes: Sequence[Change]) -> str:
    """Such as `1 created, 2 configured`."""
    counts = Counter(change.action.value for change in changes)
    del counts[Action.UNCHANGED.value]
    return (
        ", ".join(f"{counts[action.value]} {action.value}" for action in Action if counts[action.value]) or "unchanged"
    )


def _change(change: Change, reason: str) -> Iterator[str]:
    tail = change_tail(change, reason)
    yield f"**{SIGNS[change.action]} {change.action.value}** {code(str(change.ref))}" + (
        f": {prose(tail)}" if tail else ""
    )
    yield ""
    flat = [f for f in change.fields if not (is_nested(f.live) or is_nested(f.desired))]
    if flat:
        yield "| Field | Live | Desired | Live value written |"
        yield "|---|---|---|---|"
        yield from map(_field_row, flat)
        yield ""
    for field in change.fields:
        if field not in flat:
            yield from _field_block(field)


def _field_row(field: FieldChange) -> str:
    live, desired = (code(value_text(value, _VALUE)) for value in told_apart(field.live, field.desired))
    return f"| {code(pointer(field.path))} | {live} | {desired} | {prose(_aside(field))} |"


def _field_block(field: FieldChange) -> Iterator[str]:
    aside = _aside(field)
    yield code(pointer(field.path)) + (f" ({prose(aside)})" if aside else "")
    yield ""
    lines = list(difference_lines(field.live, field.desired))
    shown = [line[:_LINE] for line in lines[:_BLOCK_LINES]]
    fence = "`" * max([3, *(len(run) + 1 for line in shown for run in re.findall("`+", line))])
    yield f"{fence}diff"
    yield from shown
    if len(lines) > _BLOCK_LINES:
        yield f"… {counted(len(lines) - _BLOCK_LINES, 'more line')}"
    yield fence
    yield ""


def _aside(field: FieldChange) -> str:
    return sentences((f"kept, {field.ignored}" if field.ignored else "", written_by(field)))


def _left_out(shoots: int, plan: Plan) -> str:
    command = code(f"gitops plan {plan.overlay}")
    return f"**{counted(shoots, 'shoot')} left out**: a comment has no room for more. {command} shows everything.\n"


def _bare(plan: Plan, limit: int) -> str:
    """What is left where not even the table has room."""
    return f"Plan: {plan_totals(plan)}. All details left out: there is no room.\n"[: max(limit, 0)]
