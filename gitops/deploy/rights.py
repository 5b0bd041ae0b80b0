"""What the pipeline may do outside the shoots: one `Right` for each thing that a run of the overlay asks for.

Least by what the overlay declares: who declares nothing inside shoots gets no way into them, who declares no
registration writes none. Inside a shoot rights come with its kubeconfig, see `gitops.kube.cluster.Access`.

Kubernetes authorizes a LIST with the field selector `metadata.name=x` as one of the object `x`, and a creation by
server-side apply under the object's name too (apiserver pkg/endpoints/request/requestinfo.go, handlers/patch.go), so
that `resourceNames` hold for both. A creation by POST has no name yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitops.control.store import control_name
from gitops.deploy.printed import Part
from gitops.desired.compose import Desired, DesiredShoot
from gitops.gardener.registration_fields import missing_to_be_created
from gitops.gardener.shoot_merge import missing_for_creation
from gitops.manifest import RUNTIME, Ref, get
from gitops.record.store import record_name

CORE = "core.gardener.cloud"
_REFERABLE = {
    "Secret": ("", "secrets"),
    "ConfigMap": ("", "configmaps"),
    "WorkloadIdentity": ("security.gardener.cloud", "workloadidentities"),
}
"""Group and plural of what a Shoot's `spec.resources` usually refers to."""
_PLURALS = {"ControllerDeployment": "controllerdeployments", "ControllerRegistration": "controllerregistrations"}


@dataclass(frozen=True)
class Right:
    """One rule of a Role or, without a namespace, of a ClusterRole."""

    part: Part
    namespace: str
    """Empty for a right that no namespace bounds."""
    group: str
    resource: str
    verbs: tuple[str, ...]
    why: str
    names: tuple[str, ...] = ()
    """Empty for objects of any name."""


def rights_of(desired: Desired) -> tuple[Right, ...]:
    """Everything that runs of an overlay ask for in the garden and in its runtime cluster."""
    rights: list[Right] = []
    for namespace in desired.overlay.garden.namespaces:
        shoots = [shoot for target, shoot in desired.shoots.items() if target.partition("/")[0] == namespace]
        rights += (
            *_of_shoots(namespace, shoots),
            *(_inside(namespace, shoots) if reaches_inside(desired, shoots) else ()),
            *_references(namespace, shoots),
            *(_events(namespace) if shoots else ()),
        )
    return (*rights, *_of_the_overlay(desired), *_of_the_garden(desired), *_registrations(desired))


def reaches_inside(desired: Desired, shoots: Sequence[DesiredShoot]) -> bool:
    """Whether a run looks into any of these shoots of an overlay."""
    return bool(shoots) and (desired.overlay.prerequisites.any or any(shoot.objects for shoot in shoots))


def _of_shoots(namespace: str, shoots: Sequence[DesiredShoot]) -> Iterator[Right]:
    why = "Read by one LIST of the namespace, or one by one by their names."
    yield Right(Part.PROJECT, namespace, CORE, "shoots", ("list",), why)
    if shoots:
        why = (
            "One JSON patch for each Shoot, guarded by its resourceVersion. Which Shoots of this namespace are written "
            "is decided in git: resourceNames would have to follow every commit. No run ever deletes a Shoot."
        )
        yield Right(Part.PROJECT, namespace, CORE, "shoots", ("patch",), why)
    whole = [shoot.shoot for shoot in shoots if not missing_for_creation(shoot.shoot)]
    if whole:
        why = "Shoots that git declares whole are created where they are missing; a creation has no name yet."
        yield Right(Part.PROJECT, namespace, CORE, "shoots", ("create",), why)
    bound = sorted(shoot["metadata"]["name"] for shoot in whole if get(shoot, "spec", "seedName"))
    if bound:  # gardener plugin/pkg/shoot/validator
        why = "Gardener lets nobody create a Shoot with a seedName who may not bind it to a seed. No run moves a Shoot."
        yield Right(Part.GARDEN, namespace, CORE, "shoots/binding", ("update",), why, tuple(bound))


def _inside(namespace: str, shoots: Sequence[DesiredShoot]) -> Iterator[Right]:
    if not all(any(ref.kind == "Secret" for ref in shoot.objects) for shoot in shoots):
        why = "To look into a shoot: everything but Secrets, for ten minutes. No Role here says what it may do there."
        yield Right(Part.PROJECT, namespace, CORE, "shoots/viewerkubeconfig", ("create",), why)
    why = (
        "To write into a shoot, and to dry-run what may differ: cluster-admin there, for ten minutes. Gardener issues "
        "nothing between this and a viewer's."
    )
    yield Right(Part.PROJECT, namespace, CORE, "shoots/adminkubeconfig", ("create",), why)
    why = "CPUs of machine types, where a Shoot names a profile of its project: will a policy be accepted?"
    yield Right(Part.PROJECT, namespace, CORE, "namespacedcloudprofiles", ("get",), why)


def _references(namespace: str, shoots: Sequence[DesiredShoot]) -> Iterator[Right]:
    """Whoever writes a Shoot's `spec.resources` must be allowed to read what they name.

    (gardener plugin/pkg/global/resourcereferencemanager)
    """
    named: dict[tuple[str, str], set[str]] = {}
    for shoot in shoots:
        for entry in get(shoot.shoot, "spec", "resources") or ():
            reference = entry["resourceRef"]
            if reference["kind"] in _REFERABLE:
                named.setdefault(_REFERABLE[reference["kind"]], set()).add(reference["name"])
    for (group, resource), names in sorted(named.items()):
        why = (
            "Gardener lets nobody write a Shoot's spec.resources who may not read what is named there. Add the names "
            "that others have put into the same list. Nothing is read."
        )
        yield Right(Part.PROJECT, namespace, group, resource, ("get",), why, tuple(sorted(names)))


def _events(namespace: str) -> Iterator[Right]:
    why = "An Event where a run changed how a Shoot stands. One that was said before is read and counted in place."
    yield Right(Part.GARDEN, namespace, "", "events", ("create", "get", "patch"), why)


def _of_the_overlay(desired: Desired) -> Iterator[Right]:
    namespace, record = desired.overlay.garden.namespaces[0], record_name(desired.overlay.name)
    why = (
        "The record of the last runs. It is written by server-side apply, whose creation knows its name: create can be "
        "limited to it, which a POST could not be."
    )
    yield Right(Part.PROJECT, namespace, "", "configmaps", ("list", "patch", "create"), why, (record,))
    why = "What people asked for: gitops approve, suspend, resume, rollback write it with rights of their own."
    yield Right(Part.PROJECT, namespace, "", "configmaps", ("list",), why, (control_name(desired.overlay.name),))
    why = "One run at a time: who holds it, and since when."
    yield Right(Part.GARDEN, namespace, "coordination.k8s.io", "leases", ("get", "patch"), why, (record,))
    why = "The first run ever makes the Lease, by POST, which has no name yet: create cannot be limited to one."
    yield Right(Part.GARDEN, namespace, "coordination.k8s.io", "leases", ("create",), why)


def _of_the_garden(desired: Desired) -> Iterator[Right]:
    why = (
        "Nothing is touched in a garden other than the overlay's. Gardens that gardener-operator manages let every "
        "authenticated user read it."
    )
    yield Right(Part.GARDEN, "kube-system", "", "configmaps", ("list",), why, ("cluster-identity",))
    if reaches_inside(desired, list(desired.shoots.values())):
        why = (
            "CPUs of machine types: will a policy be accepted? Gardens that gardener-operator manages let every "
            "authenticated user read them."
        )
        yield Right(Part.GARDEN, "", CORE, "cloudprofiles", ("get",), why)


def _registrations(desired: Desired) -> Iterator[Right]:
    garden = {ref: manifest for ref, manifest in desired.registrations.items() if ref.target != RUNTIME}
    if desired.overlay.extensions or desired.registrations:
        why = (
            "Is an extension registered before a Shoot enables it? Gardens that gardener-operator manages let every "
            "authenticated user read them."
        )
        yield Right(Part.GARDEN, "", CORE, "controllerregistrations", ("list",), why)
    if desired.registrations:
        why = "What is registered, and which image vectors are there already."
        yield Right(Part.GARDEN, "", CORE, "controllerdeployments", ("list",), why)
        why = "No Shoot is touched before every seed has caught up with its registrations and is well."
        yield Right(Part.GARDEN, "", CORE, "controllerinstallations", ("list",), why)
    for kind, plural in sorted(_PLURALS.items()):
        of_kind = {ref: manifest for ref, manifest in garden.items() if ref.kind == kind}
        yield from _written(Part.GARDEN, CORE, plural, of_kind)
    extensions = {ref: manifest for ref, manifest in desired.registrations.items() if ref.target == RUNTIME}
    if extensions:
        group, plural = "operator.gardener.cloud", "extensions"
        yield Right(Part.RUNTIME, "", group, plural, ("list",), "What gardener-operator has made of the Extensions.")
        yield from _written(Part.RUNTIME, group, plural, extensions)


def _written(part: Part, group: str, plural: str, declared: dict[Ref, dict[str, object]]) -> Iterator[Right]:
    """Rights to write declared objects of one kind."""
    if not declared:
        return
    names = tuple(sorted({ref.name for ref in declared}))
    why = "One JSON patch for each that git declares, or gives an image vector."
    yield Right(part, "", group, plural, ("patch",), why, names)
    if any(not missing_to_be_created(manifest) for manifest in declared.values()):
        why = "Those that git declares whole are created where they are missing; a creation has no name yet."
        yield Right(part, "", group, plural, ("create",), why)
