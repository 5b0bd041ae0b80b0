"""What the registrations need next, decided from what was observed alone: write, wait, or let the waves begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.desired.compose import Desired
from gitops.errors import Refused
from gitops.gardener.extension_use import services_of
from gitops.gardener.installation_gate import (
    SeedVerdict,
    extension_gate,
    installation_gate,
    seed_of,
    worst,
)
from gitops.gardener.registration_fields import EXTENSION, REGISTRATION, VALUES_AT
from gitops.gardener.registration_merge import new_registration
from gitops.manifest import GARDEN, Manifest, Ref, get
from gitops.ownership.field_set import declared_fields
from gitops.ownership.lists import NO_LISTS
from gitops.ownership.merge import lookup
from gitops.plan.changes import Action
from gitops.plan.observed import ObservedRegistrations
from gitops.plan.registrations import deployments_of, ignored_fields, merged_registration, plan_registrations
from gitops.rollout.step import Await, Settled, ShootOutcome, Where
from gitops.verdict import Status, Verdict, in_progress


@dataclass(frozen=True)
class CreateRegistration:
    """A registration that is not there yet."""

    ref: Ref
    manifest: Manifest


@dataclass(frozen=True)
class PatchRegistration:
    """One guarded patch of a live registration."""

    ref: Ref
    operations: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class WriteAll:
    """Every registration that differs, each once."""

    writes: tuple[CreateRegistration | PatchRegistration, ...]
    """A deployment before the registration that names it."""


RegistrationsStep = WriteAll | Await | Settled


def registrations_step(desired: Desired, observed: ObservedRegistrations, now: datetime) -> RegistrationsStep:
    """What to do about the registrations: the same observation always gives the same step.

    Args:
        desired: what git declares.
        observed: what the servers have.
        now: when it was observed, by the garden's clock.
    """
    try:
        plan = plan_registrations(desired, observed)
    except Refused as error:
        return Settled(ShootOutcome.FAILED, str(error))
    if plan.problems:
        return Settled(ShootOutcome.FAILED, "; ".join(map(str, plan.problems)))
    writes = [_write(desired, change.ref, observed) for change in plan.changes if change.action is not Action.UNCHANGED]
    if writes:
        return WriteAll(tuple(writes))
    verdict = worst(seed_verdicts(desired, observed, now))
    if verdict.open:
        return Settled(ShootOutcome.CONVERGED)
    if verdict.status is Status.FAILED:
        return Settled(ShootOutcome.FAILED, verdict.message)
    return Await(Where.GARDEN, verdict.message, verdict.hint)


def seed_verdicts(desired: Desired, observed: ObservedRegistrations, now: datetime) -> tuple[SeedVerdict, ...]:
    """How every declared extension fares, seed by seed; operator Extensions first."""
    return tuple(_verdicts(desired, observed, now))


def _write(desired: Desired, ref: Ref, observed: ObservedRegistrations) -> CreateRegistration | PatchRegistration:
    live = observed.objects.get(ref)
    if live is None:
        declared = desired.registrations[ref]
        return CreateRegistration(ref, new_registration(declared, desired.overlay.name, ignored_fields(desired, ref)))
    return PatchRegistration(ref, tuple(merged_registration(desired, ref, live).patch()))


def _verdicts(desired: Desired, observed: ObservedRegistrations, now: datetime) -> Iterator[SeedVerdict]:
    for ref in desired.registrations:
        if (ref.api_version, ref.kind) == EXTENSION:
            yield SeedVerdict(str(ref), "", _extension_verdict(ref, observed))
    concerned = _concerned(desired)
    for ref, registration in sorted(observed.objects.items()):
        named = {("ControllerDeployment", name) for name in deployments_of(registration)}
        if (ref.api_version, ref.kind) == REGISTRATION and {(ref.kind, ref.name), *named} & concerned:
            yield from _on_seeds(registration, observed, now)


def _concerned(desired: Desired) -> set[tuple[str, str]]:
    """Kind and name of what is declared in the garden, or is rendered there from what is declared."""
    named = {(ref.kind, ref.name) for ref in desired.registrations}
    return named | {("ControllerRegistration", name) for kind, name in named if kind == "Extension"}


def _on_seeds(registration: Manifest, observed: ObservedRegistrations, now: datetime) -> Iterator[SeedVerdict]:
    name = registration["metadata"]["name"]
    deployments = deployments_of(registration)
    deployment = _deployment(deployments[0], observed.objects) if deployments else None
    if deployments and deployment is None:
        yield SeedVerdict(name, "", in_progress(f"there is no ControllerDeployment {deployments[0]}, which it names"))
        return
    seen = False
    for installation in observed.installations:
        leaving = get(installation, "metadata", "deletionTimestamp") is not None
        if get(installation, "spec", "registrationRef", "name") != name or leaving:
            continue
        seen = True
        verdict = installation_gate(installation, registration, deployment, now)
        yield SeedVerdict(name, seed_of(installation), verdict)
    if not seen and get(registration, "spec", "deployment", "policy") == "Always":
        yield SeedVerdict(name, "", in_progress("its policy is Always, and no seed has a ControllerInstallation of it"))


def _deployment(name: str, objects: Mapping[Ref, Manifest]) -> Manifest | None:
    found = (
        m for ref, m in objects.items() if (ref.target, ref.kind, ref.name) == (GARDEN, "ControllerDeployment", name)
    )
    return next(found, None)


def _extension_verdict(ref: Ref, observed: ObservedRegistrations) -> Verdict:
    live = observed.objects.get(ref)
    if live is None:
        return Verdict(Status.NOT_FOUND, "it is not there")
    verdict = extension_gate(live)
    return _rendered(live, _deployment(ref.name, observed.objects)) or verdict if verdict.open else verdict


def _rendered(extension: Manifest, deployment: Manifest | None) -> Verdict | None:
    """What is still missing in the garden of what the operator renders from an Extension; None where nothing is.

    One that does nothing for shoots is not rendered into the garden.
    """
    if deployment is None:
        serves_shoots = services_of(get(extension, "spec", "resources"))
        deployed = get(extension, "spec", "deployment", "extension") is not None
        waiting = in_progress("gardener-operator has not rendered its ControllerDeployment into the garden yet")
        return waiting if serves_shoots and deployed else None
    source, *_ = VALUES_AT[EXTENSION]
    target, *_ = VALUES_AT[deployment["apiVersion"], deployment["kind"]]
    wanted, rendered = get(extension, *source) or {}, get(deployment, *target) or {}
    behind = [path for path, value in declared_fields(wanted, NO_LISTS) if lookup(rendered, path) != value]
    if not behind:
        return None
    return in_progress(
        "gardener-operator has not rendered its values into the ControllerDeployment yet: "
        f"{'.'.join(map(str, behind[0]))}"
    )
