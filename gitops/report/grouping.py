"""Shoots of one wave that change in the same way, so that thousands of them can be told in a few lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitops.manifest import GARDEN, Ref, Target
from gitops.plan.changes import Action, Change, ShootPlan, WavePlan

_NUMBER = re.compile(r"(?<!\S)\d+(?!\S)")


@dataclass(frozen=True)
class Group:
    """Shoots with the same changes; when a manager wrote, and numbers in reasons, may differ."""

    shoots: tuple[ShootPlan, ...]
    """At least one, in the order of the wave; the first speaks for all."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What happens to the first shoot."""
        return self.shoots[0].changes

    def reason(self, index: int) -> str:
        """The reason of one of the changes, for all shoots: a number that differs becomes a range."""
        texts = list(dict.fromkeys(shoot.changes[index].reason for shoot in self.shoots))
        if len(texts) == 1:
            return texts[0]
        ranges = iter([_range([int(n) for n in column]) for column in zip(*map(_NUMBER.findall, texts), strict=True)])
        return _NUMBER.sub(lambda _: next(ranges), texts[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The shoots of the group."""
        return tuple(shoot.shoot for shoot in self.shoots)


def is_quiet(shoot: ShootPlan) -> bool:
    """Whether there is nothing to tell about a shoot but that it is as declared."""
    return not shoot.notes and all(c.action is Action.UNCHANGED and not c.fields for c in shoot.changes)


def groups(wave: WavePlan) -> tuple[Group, ...]:
    """The shoots of a wave of which there is something to tell, in the order of each group's first shoot."""
    found: dict[str, list[ShootPlan]] = {}
    for shoot in wave.shoots:
        if not is_quiet(shoot):
            found.setdefault(_likeness(shoot), []).append(shoot)
    return tuple(Group(tuple(shoots)) for shoots in found.values())


def is_own(ref: Ref, shoot: Target) -> bool:
    """Whether an object is the Shoot itself, and not something in it."""
    return ref.target == GARDEN and f"{ref.namespace}/{ref.name}" == shoot


def change_likeness(change: Change, shoot: Target) -> str:
    """The same text for changes that are alike, in whatever shoots."""
    ref = change.ref
    name = ("Shoot",) if is_own(ref, shoot) else (ref.api_version, ref.kind, ref.namespace, ref.name)
    fields = [(f.path, f.live, f.desired, f.manager, f.ignored) for f in change.fields]
    return repr((name, change.action.value, change.cost.value, _NUMBER.sub("#", change.reason), fields))


def _likeness(shoot: ShootPlan) -> str:
    """The same text for shoots that change in the same way."""
    return repr([change_likeness(change, shoot.shoot) for change in shoot.changes])


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
