"""A plan for a page: shoots that change alike together, and each field as a line or as the difference of two texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gitops.manifest import GARDEN, Target, pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Cost, FieldChange
from gitops.plan.document import GARDEN_WAVE
from gitops.report.grouping import Group, is_own
from gitops.report.values import difference_lines, is_nested, told_apart, value_text, yaml_lines
from gitops.report.words import SIGNS
from gitops.serve.board.views import PlanNow

PAGE = 25
"""Groups of shoots on a page."""
NAMES = 200
"""Shoots of a group that are named."""
_FIELDS = 100
_LINES = 200
_LONG = 400
"""Characters of a value on one line; of longer ones their size is told."""


@dataclass(frozen=True)
class Line:
    """One line of a difference."""

    sign: str
    """`+`, `-`, `…` or a space."""
    text: str


@dataclass(frozen=True)
class Field:
    """One field that differs."""

    path: str
    live: str
    """Empty where the difference is shown by lines, or where the object is new."""
    desired: str
    lines: tuple[Line, ...]
    more: int
    """Lines left out."""
    manager: str
    since: str
    ignored: str
    """Why the difference is left alone; empty where it would be written."""


@dataclass(frozen=True)
class Shown:
    """What happens to one object."""

    sign: str
    action: str
    object: str
    place: str
    """Where it is: `garden`, or empty for inside the shoot."""
    cost: str
    """Empty where running clusters feel nothing."""
    reason: str
    fields: tuple[Field, ...]
    more: int
    """Fields left out."""


@dataclass(frozen=True)
class Alike:
    """Shoots of one wave that change alike; none where it is the garden's registrations that change."""

    wave: str
    shoots: tuple[Target, ...]
    changes: tuple[Shown, ...]
    unchanged: int
    """Objects of each of them that stay as they are."""
    notes: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """By what a page knows it from others."""
        return f"{self.wave}/{self.shoots[0]}" if self.shoots else self.wave


@dataclass(frozen=True)
class PlanPage:
    """Some of a plan's groups."""

    groups: tuple[Alike, ...]
    page: int
    pages: int
    quiet: int
    """Shoots of the chosen waves of which there is nothing to tell."""


def plan_page(now: PlanNow, wave: str, page: int) -> PlanPage:
    """One page of a plan.

    Args:
        now: the plan.
        wave: whose groups; empty for all.
        page: which, from 1; one that does not exist is the last.
    """
    found = [(name, group) for name, group in _groups(now) if wave in {"", name}]
    pages = max(-(-len(found) // PAGE), 1)
    page = min(max(page, 1), pages)
    shown = tuple(_alike(name, group) for name, group in found[(page - 1) * PAGE : page * PAGE])
    quiet = sum(number for name, number in now.quiet.items() if wave in {"", name})
    return PlanPage(shown, page, pages, quiet)


def shown_changes(changes: tuple[Change, ...], shoot: Target) -> tuple[Shown, ...]:
    """Every object of one shoot of which there is something to tell."""
    return tuple(_shown(change, change.reason, shoot) for change in changes if not _is_quiet(change))


def _groups(now: PlanNow) -> list[tuple[str, Group | tuple[Change, ...]]]:
    garden: list[tuple[str, Group | tuple[Change, ...]]] = [(GARDEN_WAVE, now.plan.garden)] if now.plan.garden else []
    return [*garden, *now.groups]


def _alike(wave: str, group: Group | tuple[Change, ...]) -> Alike:
    if not isinstance(group, Group):
        loud = tuple(_shown(change, change.reason, "") for change in group if not _is_quiet(change))
        return Alike(wave, (), loud, len(group) - len(loud), ())
    shoot = group.names[0]
    shown = tuple(
        _shown(change, group.reason(index), shoot)
        for index, change in enumerate(group.changes)
        if not _is_quiet(change)
    )
    several = len(group.shoots) > 1
    notes = (f"{s.shoot}: {note}" if several else note for s in group.shoots for note in s.notes)
    return Alike(wave, group.names, shown, len(group.changes) - len(shown), tuple(islice(notes, NAMES)))


def _is_quiet(change: Change) -> bool:
    return change.action is Action.UNCHANGED and not change.fields


def _shown(change: Change, reason: str, shoot: Target) -> Shown:
    own = bool(shoot) and is_own(change.ref, shoot)
    return Shown(
        SIGNS[change.action],
        change.action.value,
        "Shoot" if own else str(change.ref),
        GARDEN if change.ref.target == GARDEN and not own else "",
        "" if change.cost is Cost.NONE else change.cost.value,
        reason,
        tuple(_field(field, change.action) for field in change.fields[:_FIELDS]),
        max(len(change.fields) - _FIELDS, 0),
    )


def _field(field: FieldChange, action: Action) -> Field:
    live, desired = told_apart(field.live, field.desired)
    created = action is Action.CREATED and live is ABSENT
    lines: tuple[Line, ...] = ()
    more = 0
    nested = is_nested(live) or is_nested(desired)
    if nested:
        every = _all_new(desired) if created else _differences(field)
        lines = tuple(islice(every, _LINES))
        more = sum(1 for _ in every)
    return Field(
        pointer(field.path) or "/",
        "" if created or nested else value_text(live, _LONG),
        "" if nested else value_text(desired, _LONG),
        lines,
        more,
        field.manager,
        field.since,
        field.ignored,
    )


def _all_new(value: object) -> Iterator[Line]:
    return (Line("+", line) for line in yaml_lines(value))


def _differences(field: FieldChange) -> Iterator[Line]:
    for line in difference_lines(field.live, field.desired):
        yield Line("…", "") if line == "…" else Line(line[0], line[2:])
