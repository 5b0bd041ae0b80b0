"""What people ask of a rollout, and what it waits for, as plans and statuses show it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gitops.control.control import Control, Hold, Suspension
from gitops.control.document import hold_document, suspension_document
from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.plan.changes import Plan
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.record.store import Stored, begun_before
from gitops.report.next_step import step_of
from gitops.report.words import counted, printable
from gitops.rollout.admission import Admission, Held, HeldBy, approve_command, how_to_approve
from gitops.rollout.step import Write


@dataclass(frozen=True)
class Controlled:
    """What keeps an overlay's shoots from being written now."""

    overlay: str
    digest: str
    """Of the present plan, for whom it would be approved; empty where that is not known, as something was written."""
    suspension: Suspension | None
    hold: Hold | None
    """Why another revision than git's is meant; None where it is git's."""
    held: Mapping[Target, Held]
    """The shoots that wait; a suspended one waits whether or not anything is to be written."""

    def command(self, target: Target) -> str:
        """What somebody types to let a shoot go on; empty where nothing is to be typed."""
        if self.suspension is not None:
            return f"gitops resume {self.overlay}"
        held = self.held.get(target)
        if held is None:
            return ""
        if held.by is HeldBy.SUSPENSION:
            return f"gitops resume {self.overlay} {target}"
        if held.by is HeldBy.APPROVAL:
            return approve_command(self.overlay, self.digest) if self.digest else f"gitops plan {self.overlay}"
        return ""

    @property
    def waits_for_somebody(self) -> bool:
        """Whether anything goes on only once somebody has typed something."""
        return self.suspension is not None or any(self.command(target) for target in self.held)

    def after_writes(self, done: Container[Target]) -> Controlled:
        """The same once a run has written something: its plan's digest is of no use to anybody who approves.

        Args:
            done: shoots that wait no longer.
        """
        held = {target: why for target, why in self.held.items() if target not in done}
        return replace(self, digest="", held=held)


def controlled(
    plan: Plan,
    outlook: Outlook,
    control: Control,
    hold: Hold | None,
    now: datetime,
    stored: Stored | None = None,
) -> Controlled:
    """What keeps shoots from being written, if a run came to them now.

    Args:
        plan: what is to be written.
        outlook: what the plan was drawn from.
        control: what people ask.
        hold: why another revision than git's is meant; None where it is git's.
        now: what time it is.
        stored: what is remembered of earlier runs, which may have been interrupted; None where nobody looked.
    """
    admission = Admission(outlook.desired.overlay, control, plan.revision, begun_before(stored, outlook.desired))
    held: dict[Target, Held] = {}
    for shoot in (shoot for wave in plan.waves for shoot in wave.shoots):
        step = step_of(outlook.desired, outlook.shoots, shoot)
        found = admission.suspended(shoot.shoot)
        if found is None and isinstance(step, Write):
            found = admission.held(outlook.desired.shoots[shoot.shoot], outlook.shoots[shoot.shoot], step, now)
        if found is not None:
            held[shoot.shoot] = found
    return Controlled(plan.overlay, digest(plan), control.suspension, hold, held)


def control_document(control: Controlled) -> dict[str, Any]:
    """For scripts: null wherever nobody asked, and nothing waits."""
    unapproved = _held_by(control, HeldBy.APPROVAL)
    openings = [held.until for held in control.held.values() if held.until is not None]
    return {
        "suspended": suspension_document(control.suspension) if control.suspension else None,
        "rollback": hold_document(control.hold) if control.hold else None,
        "approval": {
            "digest": control.digest,
            "command": approve_command(control.overlay, control.digest),
            "shoots": unapproved,
        }
        if unapproved
        else None,
        "nextWindow": timestamp(min(openings)) if openings else None,
        "held": [
            {
                "shoot": target,
                "by": held.by.value,
                "message": held.message,
                "until": timestamp(held.until) if held.until is not None else None,
                "command": control.command(target) or None,
            }
            for target, held in control.held.items()
        ],
    }


def control_lines(control: Controlled) -> list[str]:
    """For people: a sentence for each thing that is asked or waited for; none where there is nothing."""
    lines = []
    if control.suspension is not None:
        lines.append(
            f"Suspended {printable(str(control.suspension))}. `gitops resume {control.overlay}` lets it go on."
        )
    if control.hold is not None:
        back = f"Until git moves on, or `gitops resume {control.overlay}`"
        lines.append(f"{back}, {printable(str(control.hold))}.")
    if stopped := _held_by(control, HeldBy.SUSPENSION):
        lines.append(f"{counted(len(stopped), 'shoot')} suspended, and left out of every run.")
    if unapproved := _held_by(control, HeldBy.APPROVAL):
        how = how_to_approve(control.overlay, control.digest)
        lines.append(f"{counted(len(unapproved), 'shoot')} not written before an approval: {how}")
    if openings := [held.until for held in control.held.values() if held.until is not None]:
        lines.append(
            f"{counted(len(openings), 'shoot')} not written before a window opens: the next one at "
            f"{timestamp(min(openings))}."
        )
    never = [t for t, held in control.held.items() if held.by is HeldBy.WINDOW and held.until is None]
    lines += [f"Problem: {target} {control.held[target].message}." for target in never]
    return lines


def _held_by(control: Controlled, by: HeldBy) -> list[Target]:
    return [target for target, held in control.held.items() if held.by is by]
