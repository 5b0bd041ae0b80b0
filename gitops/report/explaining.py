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
from gitops.plan.changes import Action, Plan
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.report.explain import Explanation
from gitops.report.placement import ShootPlacement
from gitops.report.preflight import ShootPreflight
from gitops.report.status import ShootStatus, Standing, overlay_status
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


def explanations(plan: Plan, outlook: Outlook, last: Mapping[str, Any] | None) -> Iterator[Explanation]:
    """Every shoot as it was when a plan was drawn.

    Args:
        plan: drawn from the outlook.
        outlook: what was observed.
        last: the last record, by contract; None when the overlay never ran.
    """
    desired = outlook.desired
    changes = {shoot.shoot: shoot.changes for wave in plan.waves for shoot in wave.shoots}
    for status in overlay_status(desired, outlook.shoots, plan, last).shoots:
        target = status.shoot
        seen = outlook.shoots[target]
        yield Explanation(
            desired.overlay.name,
            desired.revision,
            target,
            status,
            changes[target],
            tuple(gates(desired, target, seen)),
            desired.overlay.prerequisites,
            _preflight(target, seen),
            _placement(desired, target, seen),
        )


def explained_again(before: Explanation, desired: Desired, track: Track) -> Explanation:
    """A shoot as a rollout left it, or as far as it has come with it."""
    seen, target, changes = track.observed, track.target, before.changes
    converged = track.outcome is ShootOutcome.CONVERGED
    if converged:
        kept = (change for change in changes if change.action is not Action.PRUNED)
        changes = tuple(replace(change, action=Action.UNCHANGED, fields=(), reason="") for change in kept)
    standing, outcome = _STANDINGS[track.outcome], track.outcome.value
    status = ShootStatus(target, before.status.wave, True if converged else None, standing, track.message, outcome)
    if not isinstance(seen.inside, Inside) and not converged:
        return replace(before, status=status)
    return replace(
        before,
        status=status,
        changes=changes,
        gates=tuple(gates(desired, target, seen)),
        preflight=_preflight(target, seen),
        placement=_placement(desired, target, seen),
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
