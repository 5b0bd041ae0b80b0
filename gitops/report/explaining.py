"""Explanations of shoots from what a run has observed anyway; nothing is asked of any server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.gardener.shoot_gate import shoot_gate
from gitops.gardener.shoot_record import read_record
from gitops.manifest import Manifest, Target
from gitops.nri.placement.verification import verify
from gitops.nri.prerequisites.facts import static_cpu_pools
from gitops.nri.prerequisites.ledger import read_ledger
from gitops.nri.resolution import is_policy
from gitops.plan.changes import Action, Change, ShootPlan
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.report.explain import Explanation
from gitops.report.placement import ShootPlacement
from gitops.report.preflight import ShootPreflight
from gitops.report.standing import Standing
from gitops.report.status import ShootStatus, shoot_status
from gitops.rollout.preflight import known_nodes
from gitops.rollout.step import ShootOutcome, object_gate
from gitops.rollout.track import Track
from gitops.verdict import Verdict

_STANDINGS = {
    ShootOutcome.CONVERGED: Standing.CURRENT,
    ShootOutcome.FAILED: Standing.FAILED,
    ShootOutcome.DEFERRED: Standing.DEFERRED,
    ShootOutcome.QUARANTINED: Standing.UNKNOWN,
    ShootOutcome.WAITING: Standing.IN_PROGRESS,
    ShootOutcome.NOT_STARTED: Standing.IN_PROGRESS,
}


def explain_planned(plan: ShootPlan, outlook: Outlook, last: Mapping[str, Any] | None) -> Explanation:
    """A shoot as it was when a plan was drawn.

    Args:
        plan: its part of the plan.
        outlook: what was observed.
        last: the last record, by contract; None when the overlay never ran.
    """
    status = shoot_status(outlook.desired, outlook.shoots, plan, last)
    return _explanation(outlook.desired, status, plan.changes, outlook.shoots[plan.shoot])


def explain_begun(plan: ShootPlan, desired: Desired, track: Track) -> Explanation:
    """A shoot as far as a rollout has come with it, or as it left it."""
    changes, wave = plan.changes, desired.shoots[plan.shoot].wave
    converged = track.outcome is ShootOutcome.CONVERGED
    if converged:
        kept = (change for change in changes if change.action is not Action.PRUNED)
        changes = tuple(replace(change, action=Action.UNCHANGED, fields=(), reason="") for change in kept)
    in_sync, standing = True if converged else None, _STANDINGS[track.outcome]
    status = ShootStatus(plan.shoot, wave, in_sync, standing, track.message, track.outcome.value)
    return _explanation(desired, status, changes, track.observed)


def explain_left(plan: ShootPlan, outlook: Outlook) -> Explanation:
    """A shoot whose wave a run has not begun: as it was when the plan was drawn, told without drawing it again."""
    desired, target = outlook.desired, plan.shoot
    pending = any(change.action is not Action.UNCHANGED for change in plan.changes)
    closed = next(
        (
            f"{name}: {verdict.message}"
            for name, verdict in gates(desired, target, outlook.shoots[target])
            if not verdict.open
        ),
        "",
    )
    standing = Standing.PENDING if pending else Standing.IN_PROGRESS if closed else Standing.CURRENT
    message = "its wave has not begun" if pending else closed
    status = ShootStatus(
        target, desired.shoots[target].wave, not pending, standing, message, ShootOutcome.NOT_STARTED.value
    )
    return _explanation(desired, status, plan.changes, outlook.shoots[target])


def _explanation(desired: Desired, status: ShootStatus, changes: tuple[Change, ...], seen: Observed) -> Explanation:
    target = status.shoot
    return Explanation(
        desired.overlay.name,
        desired.revision,
        target,
        status,
        changes,
        tuple(gates(desired, target, seen)),
        desired.overlay.prerequisites,
        _preflight(target, seen),
        _placement(desired, target, seen),
    )


def gates(desired: Desired, target: Target, seen: Observed) -> Iterator[tuple[str, Verdict]]:
    """What is gated in a shoot, such as `Shoot garden-dev/one`, with the gate's verdict."""
    if seen.shoot is not None:
        record = read_record(seen.shoot)
        yield f"Shoot {target}", shoot_gate(seen.shoot, changed_at=record.changed_at if record else None)
    if isinstance(seen.inside, Inside):
        for ref in desired.shoots[target].objects:
            yield str(ref), object_gate(ref, seen.inside)


def has_policies(desired: Desired, target: Target) -> bool:
    """Whether git declares any policy inside a shoot."""
    return any(is_policy(manifest) for manifest in desired.shoots[target].objects.values())


def _unobserved(seen: Observed) -> str:
    """Why nobody knows what a shoot holds; empty where that is known."""
    match seen.inside:
        case Inside():
            return ""
        case Unobserved(reason):
            return reason
        case GitopsError() as error:
            return str(error)


def _preflight(target: Target, seen: Observed) -> ShootPreflight:
    shoot: Manifest = seen.shoot or {}
    pools = static_cpu_pools(shoot)
    if not isinstance(seen.inside, Inside):
        return ShootPreflight(target, None, _unobserved(seen), pools)
    if seen.inside.node_work is None:
        return ShootPreflight(target, None, "the overlay asks nothing of nodes", pools)
    return ShootPreflight(target, known_nodes(seen.inside, seen.server_time), "", pools)


def _placement(desired: Desired, target: Target, seen: Observed) -> ShootPlacement | None:
    if not has_policies(desired, target):
        return None
    if not isinstance(seen.inside, Inside):
        return ShootPlacement(target, None, _unobserved(seen), {})
    if seen.inside.scene is None:
        asked = desired.overlay.verification.placement
        why = "it is looked at once every gate is open" if asked else "the overlay does not ask for it"
        return ShootPlacement(target, None, f"{why} (gitops verify looks now)", {})
    ledger = read_ledger(seen.inside.node_work.ledger) if seen.inside.node_work is not None else {}
    topologies = {node: entry.report.cpus for node, entry in ledger.items() if entry.report.cpus is not None}
    return ShootPlacement(target, verify(seen.inside.scene), "", topologies)
