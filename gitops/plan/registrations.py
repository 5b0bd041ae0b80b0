"""The changes of registrations, what forbids them, and the image vectors that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitops.desired.compose import Desired, Origin
from gitops.errors import Violation
from gitops.gardener.extension_use import Service, services_of
from gitops.gardener.registration_fields import (
    EXTENSION,
    IMAGE_VALUES,
    REGISTRATION,
    VALUES_AT,
    image_values,
    lists_of,
    missing_to_be_created,
)
from gitops.gardener.registration_merge import RegistrationMerge, merge_registration, read_registration_record
from gitops.gardener.rolling import SYNC_PERIOD, Vector, vector_digest
from gitops.manifest import GARDEN, Manifest, Path, Ref, get, is_prefix
from gitops.ownership.applyset import applyset_id
from gitops.ownership.field_record import RECORD_ANNOTATION, owned_fields
from gitops.ownership.field_set import FieldSet
from gitops.ownership.merge import ABSENT, lookup, with_fields
from gitops.ownership.owners import Tool, foreign_owner
from gitops.plan.changes import Action, Change, FieldChange
from gitops.plan.ignoring import ignored_by
from gitops.plan.masking import masked
from gitops.plan.observed import ObservedRegistrations
from gitops.plan.shoot import field_change

_WRITING = (("ControllerDeployment",), ("ControllerRegistration",), ("Extension",))


@dataclass(frozen=True)
class RegistrationsPlan:
    """What happens before all waves."""

    changes: tuple[Change, ...]
    """In the order of writing: a registration after the deployment that it names."""
    problems: tuple[Violation, ...]
    """Why the run must not write at all."""
    warnings: tuple[str, ...]


def plan_registrations(desired: Desired, observed: ObservedRegistrations) -> RegistrationsPlan:
    """The changes of everything declared for the garden wave.

    Raises:
        Refused: what the pipeline wrote on one of the objects earlier cannot be read.
    """
    changes: list[Change] = []
    problems: list[Violation] = []
    for ref in in_writing_order(desired.registrations):
        if obstacle := _obstacle(desired, ref, observed):
            rule, message = obstacle
            origin = desired.origins[ref]
            changes.append(Change(ref, Action.SKIPPED, reason=message))
            problems.append(Violation(origin.file, origin.line, str(ref), rule, message))
        else:
            changes.append(_change(desired, ref, observed.objects.get(ref)))
    problems += _without_registration(desired, observed)
    return RegistrationsPlan(tuple(changes), tuple(problems), tuple(_rolling(changes)))


def in_writing_order(refs: Iterable[Ref]) -> list[Ref]:
    """Deployments before the registrations that name them."""
    return sorted(refs, key=lambda ref: (_WRITING.index((ref.kind,)), ref))


def merged_registration(desired: Desired, ref: Ref, live: Manifest) -> RegistrationMerge:
    """What one live registration becomes.

    Raises:
        Refused: the record on it cannot be read.
    """
    return merge_registration(desired.registrations[ref], live, desired.overlay.name, ignored_fields(desired, ref))


def ignored_fields(desired: Desired, ref: Ref) -> Callable[[Path], str]:
    """Why the overlay leaves a path of a registration alone; rules for certain shoots do not concern it."""
    return ignored_by((rule for rule in desired.overlay.ignore if rule.shoots is None), ref.kind)


def registrations_to_be(desired: Desired, observed: ObservedRegistrations) -> Mapping[Ref, Manifest]:
    """Every registration as it will be once the garden wave has passed.

    Raises:
        Refused: a record on one of the objects cannot be read.
    """
    merged = {
        ref: merged_registration(desired, ref, observed.objects[ref]).merged if ref in observed.objects else declared
        for ref, declared in desired.registrations.items()
    }
    return {**observed.objects, **merged}


def with_left_images(desired: Desired, observed: ObservedRegistrations) -> Desired:
    """The same desired state, with every object whose images were declared before and are no longer.

    An image vector needs no other declaration of the object that carries it, so nothing else in git would ever lead
    back there. What the overlay owns of it besides stays as it is.

    Raises:
        Refused: a record on a registration cannot be read.
    """
    declared = {ref.identity for ref in desired.registrations}
    left: dict[Ref, Manifest] = {}
    for ref, live in observed.objects.items():
        places = VALUES_AT.get((ref.api_version, ref.kind), ())
        record = read_registration_record(live) if places and ref.identity not in declared else None
        if record is None or record.overlay != desired.overlay.name:
            continue
        kept = frozenset(path for path in record.fields if not _says_images(path, places))
        if kept != record.fields:
            left[ref] = _declared_as_it_is(ref, live, kept)
    if not left:
        return desired
    origins = {**dict.fromkeys(left, Origin(desired.overlay.file, 0)), **desired.origins}
    return replace(desired, registrations=dict(sorted({**desired.registrations, **left}.items())), origins=origins)


def _says_images(path: Path, places: Iterable[Path]) -> bool:
    return any(is_prefix((*place, key), path) for place in places for key in IMAGE_VALUES)


def _declared_as_it_is(ref: Ref, live: Manifest, fields: FieldSet) -> Manifest:
    """A declaration of these fields with their live values."""
    bare = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name}}
    return with_fields(bare, {path: lookup(live, path) for path in fields if lookup(live, path) is not ABSENT})


def with_vectors(desired: Desired, observed: ObservedRegistrations) -> Desired:
    """The same desired state, with the image vectors that every shoot must have been rolled with.

    Raises:
        Refused: a record on a registration cannot be read.
    """
    carriers = {ref: values for ref, manifest in desired.registrations.items() if (values := image_values(manifest))}
    if not carriers:
        return desired
    becoming = registrations_to_be(desired, observed)
    vectors = tuple(
        Vector(ref.name, vector_digest(values), _services(ref, becoming)) for ref, values in sorted(carriers.items())
    )
    shoots = {target: replace(shoot, vectors=vectors) for target, shoot in desired.shoots.items()}
    return replace(desired, shoots=shoots)


def _services(carrier: Ref, registrations: Mapping[Ref, Manifest]) -> tuple[Service, ...]:
    """What the extension that an object carries the chart of does for shoots."""
    if (carrier.api_version, carrier.kind) == EXTENSION:
        return services_of(get(registrations[carrier], "spec", "resources"))
    return tuple(
        service
        for registration in _registrations_of(carrier.name, registrations)
        for service in services_of(get(registration, "spec", "resources"))
    )


def _registrations_of(deployment: str, registrations: Mapping[Ref, Manifest]) -> Iterator[Manifest]:
    for ref, manifest in registrations.items():
        if (ref.api_version, ref.kind) == REGISTRATION and deployment in deployments_of(manifest):
            yield manifest


def deployments_of(registration: Manifest) -> tuple[str, ...]:
    """Names of the ControllerDeployments of a ControllerRegistration."""
    return tuple(str(get(ref, "name")) for ref in get(registration, "spec", "deployment", "deploymentRefs") or [])


def _change(desired: Desired, ref: Ref, live: Manifest | None) -> Change:
    if live is None:
        fields = tuple(
            FieldChange(path, ABSENT, masked(ref.kind, path, value), manager="")
            for path, value in owned_fields(desired.registrations[ref], lists_of(ref.kind)).items()
        )
        return Change(ref, Action.CREATED, fields)
    outcome = merged_registration(desired, ref, live)
    changed = tuple(field_change(ref.kind, difference, live) for difference in outcome.differences)
    if not outcome.writes:
        return Change(ref, Action.UNCHANGED, changed)
    written = any(not difference.kept for difference in outcome.differences)
    return Change(
        ref, Action.CONFIGURED, changed, reason="" if written else "records what is owned here; no field changes"
    )


def _obstacle(desired: Desired, ref: Ref, observed: ObservedRegistrations) -> tuple[str, str] | None:
    """The rule and the reason why one registration, and so the run, must not be written."""
    if (ref.target, ref.api_version, ref.kind) in observed.unserved:
        where = "this garden" if ref.target == GARDEN else "the runtime cluster"
        return "unserved-registration", f"{where} does not serve {ref.kind} of {ref.api_version}: {_instead(ref)}"
    live = observed.objects.get(ref)
    if live is None:
        return _missing(desired, ref, observed)
    if claim := _claim(live, ref, desired):
        return "foreign-owner", claim
    record = read_registration_record(live)
    if record is not None and record.overlay != desired.overlay.name:
        message = (
            f"overlay {record.overlay} declares it as well, and there is one for the whole garden: declare it in one "
            f"overlay, and remove its annotation {RECORD_ANNOTATION} once when it moves"
        )
        return "other-overlay", message
    return None


def _instead(ref: Ref) -> str:
    if ref.kind == "Extension":
        return "the kubeconfig leads to no cluster of gardener-operator; register with ControllerRegistrations instead"
    return "declare the version that it serves"


def _missing(desired: Desired, ref: Ref, observed: ObservedRegistrations) -> tuple[str, str] | None:
    lacking = missing_to_be_created(desired.registrations[ref])
    if not lacking:
        return None
    there = sorted(other.name for other in observed.objects if other.identity[:3] == ref.identity[:3])
    known = f"; there are {', '.join(there)}" if there else ""
    message = (
        f"there is no such {ref.kind}, and what is declared is too little to create it ({', '.join(lacking)} missing): "
        f"correct the name, or declare it whole under resources{known}"
    )
    return "missing-registration", message


def _claim(live: Manifest, ref: Ref, desired: Desired) -> str:
    """Why a registration is not ours to write; empty where it is."""
    owner = foreign_owner(live, applyset=applyset_id(desired.overlay.name))
    if owner is None or owner.tool in desired.overlay.adopt:
        return ""
    if owner.tool is Tool.GARDENER and ref.target == GARDEN:
        # gardener pkg/operator/controller/extension/extension/controllerregistration: both have the Extension's name.
        name = ref.name
        return (
            f"{owner.claim}: gardener-operator renders it from the Extension {name} ({EXTENSION[0]}) in the runtime "
            f"cluster and reverts every edit; declare that Extension instead (in imageVectors: `registration: "
            f"Extension`) and give the runtime cluster's kubeconfig with --runtime-kubeconfig"
        )
    return f"{owner.claim}: remove it there, or let this overlay take it over (spec.adopt)"


def _without_registration(desired: Desired, observed: ObservedRegistrations) -> Iterator[Violation]:
    """Image vectors of deployments that no registration names: they would reach no shoot, and nobody would know."""
    becoming = registrations_to_be(desired, observed)
    for ref, manifest in desired.registrations.items():
        if ref.kind != "ControllerDeployment" or not image_values(manifest):
            continue
        if not any(_registrations_of(ref.name, becoming)):
            origin = desired.origins[ref]
            message = (
                f"no ControllerRegistration names the ControllerDeployment {ref.name}: its image vector would reach "
                "nothing; correct the name, or declare the registration under resources"
            )
            yield Violation(origin.file, origin.line, str(ref), "missing-registration", message)


def _rolling(changes: Iterable[Change]) -> Iterator[str]:
    """A warning for each image vector that changes: shoots outside of this run take it too, in their own time."""
    for change in changes:
        places = VALUES_AT.get((change.ref.api_version, change.ref.kind), ())
        touched = any(_says_images(field.path, places) for field in change.fields if not field.ignored)
        if change.action is Action.CONFIGURED and touched:
            yield (
                f"the image vector of {change.ref.name} changes on all seeds at once: this run rolls its shoots wave "
                "by wave, and a shoot that it has not reached takes the new images by itself at its next periodic "
                f"reconcile ({SYNC_PERIOD})"
            )
