"""Whether a shoot may be written now: what people asked, what they approved of, and when its wave may start shoots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property

from gitops.control.control import NOTHING_ASKED, Control
from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import ApprovalRule, Overlay, Wave
from gitops.desired.windows import Window, next_open
from gitops.gardener.maintenance_window import DailyWindow, confining_window
from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Target
from gitops.plan.observed import Observed
from gitops.plan.planning import plan_shoot
from gitops.plan.shoot import shoot_after
from gitops.rollout.approval import Sight, is_covered
from gitops.rollout.step import PrepareNodes, Write

HORIZON = timedelta(days=366)
"""Windows that do not meet within it are taken to meet never."""
_NAMES = 3


class HeldBy(Enum):
    """What a shoot waits for, that is nobody's fault and no gate."""

    SUSPENSION = "suspension"
    APPROVAL = "approval"
    WINDOW = "window"


@dataclass(frozen=True)
class Held:
    """A shoot that must not be written now."""

    by: HeldBy
    message: str
    """Why, as a sentence without its full stop."""
    until: datetime | None = None
    """When it goes on by itself; None when somebody must do something first."""


@dataclass(frozen=True)
class Admission:
    """Who may be written, by what is known at one moment."""

    overlay: Overlay
    control: Control = NOTHING_ASKED
    revision: str = ""
    """The commit that is being rolled out."""
    begun: frozenset[Target] = frozenset()
    """Shoots that earlier runs have begun with the same, and not come to an end with."""

    def suspended(self, target: Target) -> Held | None:
        """Why a shoot is none of the rollout's business; None where it is."""
        asked = self.control.shoots.get(target)
        return None if asked is None else Held(HeldBy.SUSPENSION, f"suspended {asked}")

    def held(
        self, desired: DesiredShoot, observed: Observed, step: Write, now: datetime, *, begun: bool = False
    ) -> Held | None:
        """Why a shoot must not be written now; None where it may.

        Args:
            desired: what is declared for it.
            observed: how it is now.
            step: what would be written.
            now: what time it is.
            begun: whether this run has written to it before. As after an earlier run that was interrupted, no window
                that closes leaves it half done.
        """
        begun = begun or desired.target in self.begun
        wave = self._waves[desired.wave]
        closed = None if begun or not wave.windows else self._closed(wave, desired, observed, now)
        if closed is not None and closed.until is None:
            return closed
        if wave.approval is ApprovalRule.REQUIRED and (unapproved := self._unapproved(desired, observed, step)):
            return unapproved
        return closed

    @cached_property
    def _waves(self) -> Mapping[str, Wave]:
        return {wave.name: wave for wave in self.overlay.waves}

    def _closed(self, wave: Wave, desired: DesiredShoot, observed: Observed, now: datetime) -> Held | None:
        after = shoot_after(desired, observed.shoot, self.overlay.name)
        confining = confining_window(after) if observed.shoot is not None else None
        opening = next_opening(wave.windows, confining, now)
        named = f"a window of wave {wave.name}, {' or '.join(map(str, wave.windows))}"
        if confining is not None:
            named += f", while the shoot's own is open, {confining} (spec.maintenance.confineSpecUpdateRollout)"
        if opening is None:
            message = f"would wait for ever for {named}: within a year they are never open together; change one of them"
            return Held(HeldBy.WINDOW, message)
        if opening == now:
            return None
        return Held(HeldBy.WINDOW, f"waits until {timestamp(opening)} for {named}", opening)

    def _unapproved(self, desired: DesiredShoot, observed: Observed, step: Write) -> Held | None:
        plan, _ = plan_shoot(desired, self.overlay, observed)
        sight = Sight(desired, self.overlay, observed, plan, self.revision)
        if is_covered(sight.asks(nodes=isinstance(step, PrepareNodes)), desired.target, self.control):
            return None
        former = [approval for approval in self.control.approvals if desired.target in approval.shoots]
        if not former:
            return Held(HeldBy.APPROVAL, "waits for approval")
        last = former[-1]
        message = (
            f"waits for another approval: what is pending differs from what {last.by} approved at {timestamp(last.at)}"
        )
        return Held(HeldBy.APPROVAL, message)


def next_opening(windows: tuple[Window, ...], confining: DailyWindow | None, now: datetime) -> datetime | None:
    """The first moment, not before now, at which a wave's window and the shoot's own are open.

    None when that does not come within `HORIZON`.

    Args:
        windows: the wave's, at least one.
        confining: the shoot's own; None where it confines nothing.
        now: what time it is.
    """
    moment = now
    while moment - now <= HORIZON:
        opening = next_open(windows, moment)
        moment = confining.next_open(opening) if confining is not None else opening
        if moment == opening:
            return opening
    return None


def waiting_text(held: Iterable[tuple[Target, Held]], overlay: str, digest: str) -> str:
    """What shoots wait for, and what a person does about it, or when they go on by themselves.

    Args:
        held: the shoots, and why.
        overlay: its name, for commands.
        digest: of the plan that may be approved now; empty where it is not known, as something was written since.
    """
    by: dict[HeldBy, list[tuple[Target, Held]]] = {}
    for target, why in held:
        by.setdefault(why.by, []).append((target, why))
    parts = []
    if unapproved := by.get(HeldBy.APPROVAL):
        parts.append(f"approval is needed for {_named(unapproved)}: {how_to_approve(overlay, digest)}")
    closed = by.get(HeldBy.WINDOW, [])
    if openings := [why.until for _, why in closed if why.until is not None]:
        coming = [(target, why) for target, why in closed if why.until is not None]
        parts.append(f"the next window for {_named(coming)} opens at {timestamp(min(openings))}")
    if never := [(target, why) for target, why in closed if why.until is None]:
        parts.append(f"the windows of the wave and of {_named(never)} are never open together: change one of them")
    return "; ".join(parts)


def how_to_approve(overlay: str, digest: str) -> str:
    """The command in a sentence; the digest may be empty, as one that is known no longer fits."""
    command = f"`{approve_command(overlay, digest)}`"
    return command if digest else f"{command} with the digest that `gitops plan {overlay}` shows"


def approve_command(overlay: str, digest: str) -> str:
    """What somebody types who approves."""
    return f"gitops approve {overlay} --digest {digest or 'sha256:…'}"


def _named(held: list[tuple[Target, Held]]) -> str:
    names = [target for target, _ in held]
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")
