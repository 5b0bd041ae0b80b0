"""What an approval covers: exactly what the approver could see.

Somebody approves of one plan, by its digest. What that permits is kept shoot by shoot and change by change, so that a
commit or a change of the world voids it where it makes a difference and nowhere else, and so that a run that was killed
half-way can go on. Before each write to a shoot whose wave requires approval, everything that is pending there *as it
is observed then* must be covered by one and the same approval:

- A change of fields is covered when the plan showed the same change: the same object, the same fields, from the same
  values to the same values. The Shoot's also names the image vectors that it rolls.
- An object to be created is covered when the plan showed its creation with the same content. Where the plan changed
  the Shoot as well, so is every declared object that it saw: an extension that is exchanged takes its objects along,
  and they are applied again.
- What could not be there yet, as its Shoot did not exist or did not serve its kind, is covered with its content
  *whatever is there by then*: it came with what was approved.
- A deletion is covered when the plan showed it.
- What nobody could look at, in a shoot that did not answer or was hibernated, is not covered: the approval permits the
  change of its Shoot, and what is inside needs another one once it can be seen.
- Work on nodes is covered by every approval of the shoot, for as long as the overlay asks the same of nodes.

Values that are masked because they may be secret cannot be told apart, so that what holds any is bound to the
revision. Registrations, which come before all waves, need no approval.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.control.control import Approval, Control
from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import ApprovalRule, Overlay
from gitops.errors import Absent
from gitops.manifest import GARDEN, Manifest, Ref, Target, pointer
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Plan, ShootPlan
from gitops.plan.masking import MASK, masked
from gitops.plan.observed import Inside, Observed
from gitops.plan.outlook import Outlook
from gitops.plan.shoot import merge_of

PENDING = frozenset({Action.CREATED, Action.CONFIGURED, Action.PRUNED})


@dataclass(frozen=True)
class Sight:
    """One shoot as somebody, or a run, sees it."""

    desired: DesiredShoot
    overlay: Overlay
    observed: Observed
    plan: ShootPlan
    revision: str

    def covers(self) -> frozenset[str]:
        """Names of everything that an approval of this plan permits."""
        names = {name for change in self.plan.changes for name in self._covered_by(change)}
        if self.overlay.prerequisites.any:
            names.add(self._nodes())
        return frozenset(names)

    def asks(self, *, nodes: bool) -> tuple[frozenset[str], ...]:
        """For each thing that is pending, the names of which one must be covered.

        Args:
            nodes: whether work on nodes is next.
        """
        asked = [self._asked_for(change) for change in self.plan.changes if change.action in PENDING]
        return (*asked, *([frozenset({self._nodes()})] if nodes else []))

    def _covered_by(self, change: Change) -> Iterator[str]:
        manifest = self._declared(change.ref)
        if change.action in {Action.CONFIGURED, Action.PRUNED}:
            yield self._exactly(change)
        if change.ref.target == GARDEN:
            if change.action is Action.CREATED:
                yield self._content("create", change.ref, manifest)
        elif manifest is not None and self._could_not_be_there(change.ref):
            yield self._content("whatever", change.ref, manifest)
        elif manifest is not None and (change.action is Action.CREATED or self._applied_again(change)):
            yield self._content("create", change.ref, manifest)

    def _asked_for(self, change: Change) -> frozenset[str]:
        manifest = self._declared(change.ref)
        if change.action is Action.CREATED:
            kinds = ("create",) if change.ref.target == GARDEN else ("create", "whatever")
            return frozenset(self._content(kind, change.ref, manifest) for kind in kinds)
        names = {self._exactly(change)}
        if manifest is not None and change.action is Action.CONFIGURED and change.ref.target != GARDEN:
            names.add(self._content("whatever", change.ref, manifest))
        return frozenset(names)

    def _declared(self, ref: Ref) -> Manifest | None:
        return self.desired.shoot if ref.target == GARDEN else self.desired.objects.get(ref)

    def _could_not_be_there(self, ref: Ref) -> bool:
        inside = self.observed.inside
        if not isinstance(inside, Inside):
            return self.observed.shoot is None
        unserved = (ref.api_version, ref.kind) in inside.unserved or isinstance(inside.dry_runs.get(ref), Absent)
        return unserved and ref not in inside.objects

    def _applied_again(self, change: Change) -> bool:
        """Whether the object may go and come back with the change of the Shoot."""
        rewritten = any(other.ref.target == GARDEN and other.action in PENDING for other in self.plan.changes)
        return rewritten and change.action in {Action.UNCHANGED, Action.CONFIGURED}

    def _exactly(self, change: Change) -> str:
        fields = [
            [pointer(field.path), *map(_told, (field.live, field.desired))]
            for field in change.fields
            if not field.ignored
        ]
        rolled: list[Any] = []
        if change.ref.target == GARDEN and self.observed.shoot is not None:
            merge = merge_of(self.desired, self.observed.shoot, self.overlay.name)
            rolled = sorted(map(list, merge.record.vectors)) if merge.rolls else []
        return self._named("exactly", change.action.value, _place(change.ref), fields, rolled)

    def _content(self, kind: str, ref: Ref, manifest: Manifest | None) -> str:
        shown = {key: masked(ref.kind, (key,), value) for key, value in (manifest or {}).items()}
        if ref.target == GARDEN:
            shown["metadata"] = {**shown["metadata"], "name": ""}  # of many shoots alike
        return self._named(kind, _place(ref), shown)

    def _nodes(self) -> str:
        return self._named("nodes", repr(self.overlay.prerequisites))

    def _named(self, *what: Any) -> str:
        """A name for something, 128 bits of a SHA-256 in hex; the same for every shoot that it is done to."""
        text = json.dumps(what, sort_keys=True, separators=(",", ":"))
        bound = text + self.revision if MASK in text else text
        return hashlib.sha256(bound.encode()).hexdigest()[:32]


def approval_of(plan: Plan, digest: str, outlook: Outlook, by: str, at: datetime) -> Approval:
    """What it means to approve of a plan.

    Args:
        plan: what was looked at.
        digest: of this plan.
        outlook: what the plan was drawn from.
        by: who approves.
        at: when.
    """
    shoots = {
        sight.plan.shoot: sight.covers() for sight in sights(plan, outlook) if _needs(sight, outlook.desired.overlay)
    }
    return Approval(by, at, plan.revision, digest, {target: names for target, names in shoots.items() if names})


def sights(plan: Plan, outlook: Outlook) -> Iterator[Sight]:
    """Every shoot of a plan, as it was seen for it."""
    desired = outlook.desired
    for wave in plan.waves:
        for shoot in wave.shoots:
            wanted, seen = desired.shoots[shoot.shoot], outlook.shoots[shoot.shoot]
            yield Sight(wanted, desired.overlay, seen, shoot, plan.revision)


def approved(control: Control, approval: Approval, outlook: Outlook) -> Control:
    """The same with another approval; of earlier ones only what it cannot speak about is left.

    It covers all that is pending where its approver could look, so that earlier ones match nothing there any more.
    """
    unseen = {target for target, seen in outlook.shoots.items() if not _seen(seen)}
    kept = tuple(left for earlier in control.approvals if (left := _reduced(earlier, unseen)).shoots)
    approvals = (*kept, approval) if approval.shoots else kept
    return Control(control.suspension, control.shoots, approvals, control.hold, control.version)


def is_covered(asks: tuple[frozenset[str], ...], target: Target, control: Control) -> bool:
    """Whether one approval covers all that is pending in a shoot."""
    agreed = [approval.shoots[target] for approval in control.approvals if target in approval.shoots]
    return not asks or any(all(names & asked for asked in asks) for names in agreed)


def _needs(sight: Sight, overlay: Overlay) -> bool:
    pending = any(change.action in {*PENDING, Action.DEFERRED} for change in sight.plan.changes)
    return _required(overlay, sight.desired.wave) and (pending or overlay.prerequisites.any)


def _required(overlay: Overlay, wave: str) -> bool:
    return any(one.approval is ApprovalRule.REQUIRED for one in overlay.waves if one.name == wave)


def _seen(observed: Observed) -> bool:
    return observed.shoot is None or isinstance(observed.inside, Inside)


def _reduced(approval: Approval, shoots: set[Target]) -> Approval:
    left = {target: names for target, names in approval.shoots.items() if target in shoots}
    return Approval(approval.by, approval.at, approval.revision, approval.digest, left)


def _place(ref: Ref) -> list[str]:
    """Which object, in whatever shoot: a Shoot itself is named by whose approval it is."""
    return [ref.kind] if ref.target == GARDEN else [ref.api_version, ref.kind, ref.namespace, ref.name]


def _told(value: Any) -> list[Any]:
    """A value, such that an absent one is told from a null."""
    return [] if value is ABSENT else [value]
