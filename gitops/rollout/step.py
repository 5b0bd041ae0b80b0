"""What one shoot needs next, decided from what was observed alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Any

from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import Overlay
from gitops.errors import ApiError, GitopsError, Refused, Throttled, Unreachable
from gitops.gardener.shoot_gate import shoot_gate
from gitops.gardener.shoot_merge import OPERATION, ShootMerge, new_shoot, patch_of
from gitops.gardener.shoot_record import read_record
from gitops.manifest import GARDEN, Manifest, Ref, get, pointer, ref_of
from gitops.nri.placement.verification import verify
from gitops.nri.policy_gate import policy_gate
from gitops.nri.prerequisites.course import Do, Stop, Wait, next_move
from gitops.nri.resolution import is_policy
from gitops.ownership.applyset import members, parent
from gitops.plan.changes import Action, Change
from gitops.plan.inside import to_apply, writing_order
from gitops.plan.node_work import situation
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.plan.planning import Prune, kinds_inside, plan_shoot
from gitops.plan.shoot import merge_of, terms_of
from gitops.rollout.kstatus import kstatus
from gitops.verdict import Status, Verdict, current


class Where(Enum):
    """Where the answer to a wait will show."""

    GARDEN = "garden"
    SHOOT = "shoot"


@dataclass(frozen=True)
class CreateShoot:
    """The garden has no such Shoot: create it."""

    manifest: Manifest


@dataclass(frozen=True)
class PatchShoot:
    """One guarded patch of the live Shoot."""

    operations: tuple[dict[str, Any], ...]
    fields: tuple[str, ...] = ()
    """Pointers to the declared fields that it changes, as the plan names them; none where only the record changes."""


@dataclass(frozen=True)
class LookInside:
    """The Shoot is as it should be; what it holds is not known yet."""


@dataclass(frozen=True)
class ApplyObjects:
    """Objects of one stage that differ."""

    parent: Manifest
    """Of our ApplySet, wide enough for what is in it and what comes; applied first."""
    manifests: tuple[Manifest, ...]
    """In the order of writing; one that exists carries the resourceVersion it was compared at."""


@dataclass(frozen=True)
class PruneObjects:
    """Our objects that are declared no longer."""

    manifests: tuple[Manifest, ...]
    """Each as it was observed, in the order of deletion."""
    parent: Manifest
    """Of our ApplySet, for what is left in it; applied last."""


@dataclass(frozen=True)
class PrepareNodes:
    """Jobs on the shoot's nodes come and go, and what they found is noted."""

    about: str
    """What it is for."""
    apply: tuple[Manifest, ...]
    delete: tuple[Manifest, ...]
    """Each as it was observed; after what is applied."""


@dataclass(frozen=True)
class Await:
    """Somebody else is at work; look again later."""

    where: Where
    message: str
    hint: str = ""
    """What may be behind it when waiting takes too long."""


@dataclass(frozen=True)
class Unanswered:
    """The shoot's API server cannot be reached."""

    message: str
    retry_after: float | None = None
    """Seconds, where the server asked for them."""


@dataclass(frozen=True)
class Settled:
    """Nothing is left to do by this run."""

    outcome: ShootOutcome
    message: str = ""


class ShootOutcome(Enum):
    """Where a run left one shoot."""

    CONVERGED = "Converged"
    WAITING = "Waiting"
    DEFERRED = "Deferred"
    QUARANTINED = "Quarantined"
    FAILED = "Failed"
    NOT_STARTED = "NotStarted"


Write = CreateShoot | PatchShoot | ApplyObjects | PruneObjects | PrepareNodes
Step = Write | LookInside | Await | Unanswered | Settled


def subject(write: Write) -> str:
    """What a write is about, in words that are the same whenever the same is written again."""
    match write:
        case CreateShoot(manifest):
            return str(ref_of(GARDEN, manifest))
        case PatchShoot(_, fields):
            return ", ".join(sorted(fields)) or "what is owned of the Shoot"
        case ApplyObjects(manifests=manifests) | PruneObjects(manifests=manifests):
            return ", ".join(str(ref_of(GARDEN, manifest)) for manifest in manifests)
        case PrepareNodes(about):
            return about


def next_step(desired: DesiredShoot, overlay: Overlay, observed: Observed, prune: Prune) -> Step:
    """What to do about one shoot: the same observation always gives the same step.

    The order is that of design: the nodes' prerequisites, the Shoot itself, its gate, then inside it what others need,
    other objects, policies (`default`, `group.*`, `node.*`, or the overlay's node waves), each stage with its gate, the
    placement of containers, and the prune last. A change of the Shoot may bring new nodes, so that prerequisites are
    asked for after its gate too.
    """
    try:
        plan, problems = plan_shoot(desired, overlay, observed)
    except Refused as error:
        return _failed(str(error))
    if problems:
        return _failed("; ".join(str(problem) for problem in problems))
    shoot, *inside = plan.changes
    if shoot.action is not Action.UNCHANGED or observed.shoot is None:
        preparing = _prepare_nodes(overlay, observed) if _has_nodes(observed.shoot) else None
        return preparing or _write_shoot(desired, overlay, observed, shoot)
    return (
        _shoot_gate(desired, observed.shoot)
        or _prepare_nodes(overlay, observed)
        or _inside_step(desired, overlay, observed, inside, prune)
        or Settled(ShootOutcome.CONVERGED)
    )


def _write_shoot(desired: DesiredShoot, overlay: Overlay, observed: Observed, change: Change) -> Step:
    live = observed.shoot
    if change.action is Action.SKIPPED:
        return _failed(change.reason)
    if live is None:
        return CreateShoot(new_shoot(desired.shoot, terms_of(desired, overlay.name)))
    if get(live, "metadata", "deletionTimestamp"):
        return _failed("the Shoot is being deleted")
    outcome = merge_of(desired, live, overlay.name)
    fields = tuple(pointer(difference.path) for difference in outcome.differences if not difference.kept)
    return _held_back(desired, outcome) or PatchShoot(tuple(patch_of(outcome, observed.server_time)), fields)


def _held_back(desired: DesiredShoot, outcome: ShootMerge) -> Step | None:
    """Why a patch must not be sent now; None where it may."""
    live = outcome.live
    state = get(live, "status", "lastOperation", "state")
    if outcome.confined and (outcome.changes_spec or outcome.rolls) and state == "Processing":
        # An operation that runs already would end after our write without having seen it (see shoot_gate).
        return Await(Where.GARDEN, "an operation is running; its end would be mistaken for the roll-out of our change")
    if outcome.rolls and not outcome.changes_spec and state == "Failed":
        return _shoot_gate(desired, live) or _failed(f"image vector of {', '.join(outcome.rolls)} not rolled")
    if outcome.triggers and (pending := get(live, "metadata", "annotations", OPERATION)):
        return Await(Where.GARDEN, f"the annotation {OPERATION}={pending} is still waiting for Gardener")
    return None


def _has_nodes(live: Manifest | None) -> bool:
    """Whether there may be nodes that can be reached: not before a Shoot was created, and not while it sleeps."""
    operation = get(live, "status", "lastOperation")
    asleep = get(live, "spec", "hibernation", "enabled") or get(live, "status", "hibernated")
    created = get(operation, "type") != "Create" or get(operation, "state") == "Succeeded"
    return operation is not None and created and not asleep and not get(live, "metadata", "deletionTimestamp")


def _prepare_nodes(overlay: Overlay, observed: Observed) -> Step | None:
    """What the nodes need before anything that relies on them is written."""
    if not overlay.prerequisites.any or not _has_nodes(observed.shoot):
        return None
    if not isinstance(observed.inside, Inside):
        return _not_seen(observed.inside)
    match next_move(overlay.prerequisites, situation(observed.inside, observed.server_time)):
        case Do(about, apply, delete):
            return PrepareNodes(about, apply, delete)
        case Wait(message, hint):
            return Await(Where.SHOOT, message, hint)
        case Stop(message):
            return _failed(message)
        case None:
            return None


def _place(overlay: Overlay, inside: Inside) -> Step | None:
    """Whether containers run where the policies say."""
    if not overlay.verification.placement or not any(is_policy(live) for live in inside.objects.values()):
        return None
    if inside.scene is None:
        return Await(Where.SHOOT, "where containers run is not known yet")
    return _closed(verify(inside.scene).verdict, Where.SHOOT)


def _shoot_gate(desired: DesiredShoot, live: Manifest) -> Step | None:
    record = read_record(live)
    verdict = shoot_gate(live, changed_at=record.changed_at if record else None)
    if verdict.status is Status.DEFERRED and not kinds_inside(desired, live) and _hibernated(live):
        return None
    return _closed(verdict, Where.GARDEN)


def _hibernated(live: Manifest) -> bool:
    return bool(get(live, "spec", "hibernation", "enabled"))


def _inside_step(
    desired: DesiredShoot, overlay: Overlay, observed: Observed, changes: list[Change], prune: Prune
) -> Step | None:
    if not kinds_inside(desired, observed.shoot):
        return None
    if not isinstance(observed.inside, Inside):
        return _not_seen(observed.inside)
    writing = _write_objects(desired, overlay, observed.inside, changes) or _place(overlay, observed.inside)
    return writing or _prune(desired, overlay, observed.inside, changes) if prune is Prune.ALLOWED else writing


def _not_seen(inside: Unobserved | GitopsError) -> Step:
    if isinstance(inside, Unobserved):
        return LookInside()
    if isinstance(inside, Throttled):
        return Unanswered(str(inside), inside.retry_after)
    if isinstance(inside, Unreachable):
        return Unanswered(str(inside))
    return _failed(str(inside))


def _write_objects(desired: DesiredShoot, overlay: Overlay, inside: Inside, changes: list[Change]) -> Step | None:
    manifests = to_apply(desired, overlay, inside.objects)
    wanted = {change.ref: change for change in changes if change.ref in manifests}
    for _, stage in groupby(wanted, key=lambda ref: writing_order(ref, overlay.node_waves)[:2]):
        refs = list(stage)
        differing = [ref for ref in refs if wanted[ref].action is not Action.UNCHANGED]
        if blocked := [ref for ref in differing if _not_served(ref, inside)]:
            return Await(Where.SHOOT, f"{blocked[0]}: {wanted[blocked[0]].reason}")
        if differing:
            parent = _parent(overlay, (*desired.objects, *members(inside.objects, overlay.name)))
            return ApplyObjects(parent, tuple(_guarded(manifests[ref], inside.objects.get(ref)) for ref in differing))
        if waiting := _closed(_stage_verdict(refs, inside), Where.SHOOT):
            return waiting
    return None


def _not_served(ref: Ref, inside: Inside) -> bool:
    return (ref.api_version, ref.kind) in inside.unserved or isinstance(inside.dry_runs.get(ref), ApiError)


def _stage_verdict(refs: Iterable[Ref], inside: Inside) -> Verdict:
    verdicts = [(ref, object_gate(ref, inside)) for ref in refs]
    for status in (Status.FAILED, Status.TERMINATING, Status.NOT_FOUND, Status.UNKNOWN, Status.IN_PROGRESS):
        for ref, verdict in verdicts:
            if verdict.status is status:
                return Verdict(status, f"{ref}: {verdict.message}", verdict.hint)
    return current("all objects are current")


def object_gate(ref: Ref, inside: Inside) -> Verdict:
    """The verdict on one object inside a shoot."""
    live = inside.objects.get(ref)
    if live is None:
        return Verdict(Status.NOT_FOUND, "it is not there")
    if is_policy(live):
        return policy_gate(live, nodes=inside.nodes, policy_names=_rivals(ref, inside.objects))
    return kstatus(live)


def _rivals(ref: Ref, objects: Mapping[Ref, Manifest]) -> set[str]:
    """Names of all policies that compete for a node with this one: same kind, same namespace."""
    return {other.name for other in objects if (other.kind, other.namespace) == (ref.kind, ref.namespace)}


def _closed(verdict: Verdict, where: Where) -> Step | None:
    """How a verdict that is not open is waited for; None for an open one."""
    match verdict.status:
        case Status.CURRENT:
            return None
        case Status.FAILED | Status.TERMINATING:
            return _failed(verdict.message)
        case Status.DEFERRED:
            return Settled(ShootOutcome.DEFERRED, verdict.message)
        case Status.IN_PROGRESS | Status.NOT_FOUND | Status.UNKNOWN:
            return Await(where, verdict.message, verdict.hint)


def _prune(desired: DesiredShoot, overlay: Overlay, inside: Inside, changes: list[Change]) -> Step | None:
    stale = tuple(inside.objects[change.ref] for change in changes if change.action is Action.PRUNED)
    return PruneObjects(stale, _parent(overlay, desired.objects)) if stale else None


def _parent(overlay: Overlay, refs: Iterable[Ref]) -> Manifest:
    found = list(refs)
    return parent(overlay.name, {(ref.group, ref.kind) for ref in found}, {ref.namespace for ref in found})


def _guarded(manifest: Manifest, live: Manifest | None) -> Manifest:
    """With the version it was compared at, so that an object that changed since is looked at again."""
    if live is None:
        return manifest
    version = live["metadata"]["resourceVersion"]
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


def _failed(message: str) -> Settled:
    return Settled(ShootOutcome.FAILED, message)
