"""Carries out what the state machine asks for, on the garden and in the shoots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gitops.clock import Clock
from gitops.desired.compose import Desired
from gitops.errors import Absent, ApiError, Conflict, Forbidden, GitopsError, Rejected
from gitops.kube.cluster import Access, Cluster, Conflicts, Mode
from gitops.live.access import ShootAccess
from gitops.live.cloud_profiles import CloudProfiles
from gitops.live.garden import SHOOT, observe_garden
from gitops.live.nodes import observe_node_work
from gitops.live.placement import observe_scene
from gitops.live.registrations import observe_registrations
from gitops.live.shoots import observe_shoot
from gitops.live.surroundings import observe_surroundings
from gitops.manifest import GARDEN, RUNTIME, Manifest, Ref, Target, ref_of
from gitops.nri.placement.verification import Scene
from gitops.nri.resolution import is_policy
from gitops.ownership.applyset import applyset_id
from gitops.plan.changes import Action as PlanAction
from gitops.plan.inside import pending_policies, plan_inside, suspects
from gitops.plan.observed import Inside
from gitops.plan.planning import kinds_inside
from gitops.rollout.actions import (
    Action,
    Event,
    InsideObserved,
    NotWritten,
    ObserveInside,
    ObserveRegistrations,
    ObserveShoots,
    RegistrationsObserved,
    RegistrationsUnobserved,
    RegistrationsWritten,
    ShootsObserved,
    ShootsUnobserved,
    WriteRegistrations,
    WriteTo,
    Written,
)
from gitops.rollout.registrations_step import CreateRegistration, PatchRegistration
from gitops.rollout.step import ApplyObjects, CreateShoot, PatchShoot, PrepareNodes, PruneObjects, object_gate

FEW = 16
"""Up to so many Shoots are read one by one; more by a LIST of their namespaces."""


@dataclass(frozen=True)
class Effects:
    """The world that a run acts on. Any number of threads may perform actions at once."""

    desired: Desired
    garden: Cluster
    access: ShootAccess
    clock: Clock
    run: str
    """Which run this is, unlike every other."""
    runtime: Cluster | None = None
    """The cluster that gardener-operator runs in; None where nobody said how to reach it."""
    allow: Callable[[Target | None], None] = lambda _: None
    """Called before each write, with the shoot it is for; raises where it must not be done."""

    @cached_property
    def _profiles(self) -> CloudProfiles:
        return CloudProfiles(self.garden)

    def perform(self, action: Action) -> Event:
        """Do one action; what goes wrong with it is part of the event."""
        match action:
            case ObserveShoots(targets):
                return self._observe_shoots(targets)
            case ObserveInside(target, shoot):
                return InsideObserved(target, self.observe_inside(target, shoot))
            case WriteTo():
                return self._write(action)
            case ObserveRegistrations():
                return self._observe_registrations()
            case WriteRegistrations(writes):
                return self._write_registrations(writes)

    def observe_inside(self, target: Target, shoot: Manifest) -> Inside | GitopsError:
        """What one shoot holds, read with the least rights; what may differ is then applied as a dry run."""
        desired = self.desired.shoots[target]
        try:
            kinds = kinds_inside(desired, shoot)
            sensitive = any(kind == "Secret" for _, kind in kinds)  # viewers may not read Secrets
            cluster = self.access.cluster(target, Access.ADMIN if sensitive else Access.VIEWER)
            found = observe_shoot(
                cluster,
                target,
                kinds,
                wanted=tuple(desired.objects),
                applyset=applyset_id(self.desired.overlay.name),
            )
            inside = Inside(found.objects, found.nodes, found.unserved)
            if self.desired.overlay.prerequisites.any:
                inside = replace(inside, node_work=observe_node_work(cluster, self.run))
            differing = suspects(desired, self.desired.overlay, inside)
            inside = replace(inside, dry_runs=self._dry_runs(target, differing))
            if policies := pending_policies(desired, self.desired.overlay, inside.objects):
                around = observe_surroundings(cluster, policies, self._profiles.of(shoot))
                inside = replace(inside, surroundings=around)
            return replace(inside, scene=self._scene(target, cluster, inside))
        except GitopsError as error:
            return error

    def _scene(self, target: Target, viewer: Cluster, inside: Inside) -> Scene | None:
        """Where containers run, once everything else is as declared, as it takes several requests to know."""
        overlay, declared = self.desired.overlay, self.desired.shoots[target].objects
        if not overlay.verification.placement or not any(map(is_policy, inside.objects.values())):
            return None
        changes = plan_inside(self.desired.shoots[target], overlay, inside).changes
        pending = any(change.action not in {PlanAction.UNCHANGED, PlanAction.PRUNED} for change in changes)
        if pending or not all(object_gate(ref, inside).open for ref in declared):
            return None
        return observe_scene(viewer, inside, instance=overlay.verification.instance)

    def _dry_runs(self, target: Target, manifests: Mapping[Ref, Manifest]) -> dict[Ref, Manifest | ApiError]:
        if not manifests:
            return {}
        cluster = self.access.cluster(target, Access.ADMIN)
        return {ref: _dry_run(cluster, manifest) for ref, manifest in manifests.items()}

    def _observe_shoots(self, targets: tuple[Target, ...]) -> Event:
        try:
            if len(targets) <= FEW:
                return self._observe_each(targets)
            namespaces = sorted({target.partition("/")[0] for target in targets})
            found = observe_garden(self.garden, namespaces)
        except GitopsError as error:
            return ShootsUnobserved(targets, error)
        time = found.server_time or self.clock.now()
        return ShootsObserved({target: found.shoots.get(target) for target in targets}, time)

    def _observe_each(self, targets: tuple[Target, ...]) -> Event:
        shoots: dict[Target, Manifest | None] = {}
        times = []
        for target in targets:
            namespace, _, name = target.partition("/")
            listing = self.garden.list(*SHOOT, namespace=namespace, field_selector=f"metadata.name={name}")
            shoots[target] = listing.items[0] if listing.items else None
            times.append(listing.server_time or self.clock.now())
        return ShootsObserved(shoots, min(times))

    def _observe_registrations(self) -> Event:
        try:
            return RegistrationsObserved(observe_registrations(self.garden, self.runtime, self.desired.registrations))
        except GitopsError as error:
            return RegistrationsUnobserved(error)

    def _write_registrations(self, writes: tuple[CreateRegistration | PatchRegistration, ...]) -> Event:
        for written, write in enumerate(writes):
            cluster = self.runtime if write.ref.target == RUNTIME and self.runtime is not None else self.garden
            try:
                self.allow(None)
                if isinstance(write, CreateRegistration):
                    cluster.create(write.manifest)
                else:
                    cluster.patch(write.ref, write.operations)
            except GitopsError as error:
                return RegistrationsWritten(written, error)
        return RegistrationsWritten(len(writes), None)

    def _write(self, action: WriteTo) -> Event:
        written = _Count()
        try:
            return Written(action.target, *self._carry_out(action, written))
        except GitopsError as error:
            return NotWritten(action.target, written.objects, error)

    def _carry_out(self, action: WriteTo, written: _Count) -> tuple[int, Manifest | None]:
        match action.write:
            case CreateShoot(manifest):
                self.allow(action.target)
                return 1, self.garden.create(manifest)
            case PatchShoot(operations):
                self.allow(action.target)
                namespace, _, name = action.target.partition("/")
                return 1, self.garden.patch(Ref(GARDEN, *SHOOT, namespace, name), operations)
            case ApplyObjects(parent, manifests):
                self._apply(action.target, parent)
                for manifest in manifests:
                    self._apply(action.target, manifest)
                    written.objects += 1
            case PruneObjects(manifests, parent):
                for manifest in manifests:
                    self._delete(action.target, manifest)
                    written.objects += 1
                self._apply(action.target, parent)
            case PrepareNodes(_, manifests, gone):
                for manifest in manifests:
                    self._apply(action.target, manifest)
                    written.objects += 1
                for manifest in gone:
                    self._delete(action.target, manifest)
        return written.objects, None

    def _apply(self, target: Target, manifest: Manifest) -> None:
        shoot = self.access.cluster(target, Access.ADMIN)
        self.allow(target)
        shoot.apply(manifest, ownership=Conflicts.FORCE, mode=Mode.WRITE)

    def _delete(self, target: Target, manifest: Manifest) -> None:
        shoot = self.access.cluster(target, Access.ADMIN)
        self.allow(target)
        _delete(shoot, manifest)


@dataclass
class _Count:
    """How far a write of several objects has come, for when it ends early."""

    objects: int = 0


def _dry_run(cluster: Cluster, manifest: Manifest) -> Manifest | ApiError:
    """What the server would make of it, or its refusal. No answer is neither: it is raised."""
    try:
        return cluster.apply(manifest, ownership=Conflicts.FORCE, mode=Mode.DRY_RUN)
    except (Rejected, Absent, Forbidden, Conflict) as refusal:
        return refusal


def _delete(cluster: Cluster, live: Manifest) -> None:
    """Delete an object as it was observed; one that is gone already is as it should be."""
    metadata = live["metadata"]
    try:
        cluster.delete(
            ref_of(cluster.target, live),
            uid=metadata["uid"],
            resource_version=metadata["resourceVersion"],
            mode=Mode.WRITE,
        )
    except Absent:
        return
