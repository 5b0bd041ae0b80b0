"""What people have asked of an overlay's rollouts, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target


@dataclass(frozen=True)
class Suspension:
    """Somebody wants nothing to be written, to an overlay's shoots or to one of them."""

    by: str
    at: datetime
    reason: str = ""
    """In the words of who asked; may be empty."""

    def __str__(self) -> str:
        """As a sentence goes on: `by jane since 2026-11-30T10:00:00Z: disks are failing`."""
        since = f"by {self.by} since {timestamp(self.at)}"
        return f"{since}: {self.reason}" if self.reason else since


@dataclass(frozen=True)
class Approval:
    """Somebody has seen a plan, and agrees to what it does to the shoots whose waves ask for that."""

    by: str
    at: datetime
    revision: str
    """Of the plan: 40 hex digits."""
    digest: str
    """Of the whole plan, `sha256:…`."""
    shoots: Mapping[Target, frozenset[str]]
    """For each shoot, names of everything that may be done to it; see `gitops.rollout.approval`."""


@dataclass(frozen=True)
class Hold:
    """Somebody went back: wherever git says `bad`, or declares the same, `good` is meant, until git has moved on."""

    bad: str
    """The commit that was gone back from, 40 hex digits."""
    good: str
    """The commit that holds instead."""
    by: str
    at: datetime
    content: str = ""
    """What the bad commit declares, as `Desired.content` has it; empty where that is not known."""

    def __str__(self) -> str:
        """As a sentence: `revision 1234… holds instead of 5678… and whatever declares the same, which jane …`."""
        alike = " and whatever declares the same" if self.content else ""
        back = f"which {self.by} rolled back at {timestamp(self.at)}"
        return f"revision {self.good[:12]} holds instead of {self.bad[:12]}{alike}, {back}"


@dataclass(frozen=True)
class Control:
    """Everything that people have asked of one overlay; nothing, where nobody ever did."""

    suspension: Suspension | None = None
    """Of the whole overlay."""
    shoots: Mapping[Target, Suspension] = field(default_factory=dict)
    """Of single shoots."""
    approvals: tuple[Approval, ...] = ()
    hold: Hold | None = None
    version: str = ""
    """The resourceVersion of what this was read from; empty where there was nothing to read."""

    def hold_on(self, revision: str, content: str = "") -> Hold | None:
        """What holds instead of a revision; None where it is to be used itself, as git has moved on.

        A repository moves with every commit to anything in it. Git has moved on from what was rolled back once it
        declares something else for the overlay.

        Args:
            revision: the commit.
            content: what it declares, as `Desired.content` has it; empty where that is not known.
        """
        if self.hold is None or self.hold.good == revision:
            return None
        alike = bool(content) and self.hold.content == content
        return self.hold if alike or self.hold.bad == revision else None

    def held(self, hold: Hold) -> Control:
        """The same after a rollback, which takes the place of an earlier one."""
        return replace(self, hold=hold)

    def suspended(self, suspension: Suspension, shoot: Target | None) -> Control:
        """The same with an overlay, or one shoot, standing still."""
        if shoot is None:
            return replace(self, suspension=suspension)
        return replace(self, shoots={**self.shoots, shoot: suspension})

    def resumed(self, shoot: Target | None) -> Control:
        """The same with an overlay, or one shoot, going on.

        A suspended overlay goes on with what holds: who suspends, rolls back and resumes wants the rollback. One that
        is not suspended goes on where git is, so that no hold is left. Shoots that were suspended by themselves stay
        so.
        """
        if shoot is None:
            return replace(self, suspension=None) if self.suspension else replace(self, hold=None)
        return replace(self, shoots={name: asked for name, asked in self.shoots.items() if name != shoot})


NOTHING_ASKED = Control()
