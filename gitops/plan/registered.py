"""Whether every type of extension that a Shoot lists is registered.

Gardener asks this of every change of a Shoot's spec, of entries that are only disabled too (gardener
plugin/pkg/global/extensionvalidation/admission.go), and answers for one Shoot after the other. Asked here it is one
answer for all, before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitops.desired.compose import Desired, DesiredShoot
from gitops.errors import Violation
from gitops.manifest import GARDEN, Manifest, Target, get, ref_of
from gitops.plan.changes import Action, Plan, ShootPlan
from gitops.plan.observed import Observed


def touches_extensions(plan: Plan) -> tuple[Target, ...]:
    """The shoots whose extensions the plan changes."""
    return tuple(shoot.shoot for wave in plan.waves for shoot in wave.shoots if _touches(shoot))


def _touches(shoot: ShootPlan) -> bool:
    change = shoot.changes[0]
    return change.action in {Action.CREATED, Action.CONFIGURED} and any(
        field.path[:2] == ("spec", "extensions") and not field.ignored for field in change.fields
    )


def unregistered(
    desired: Desired, targets: Iterable[Target], observed: Mapping[Target, Observed], registrations: Iterable[Manifest]
) -> Iterator[Violation]:
    """A violation for each entry of these Shoots that Gardener would refuse.

    Args:
        desired: what git declares.
        targets: the shoots whose extensions change.
        observed: the Shoots as they are.
        registrations: ControllerRegistrations and operator Extensions as they will be before the first wave.
    """
    known = {
        str(get(resource, "type")): resource
        for registration in registrations
        for resource in get(registration, "spec", "resources") or []
        if get(resource, "kind") == "Extension" and get(resource, "primary") is not False
    }
    for target in targets:
        yield from _of_shoot(desired.shoots[target], observed[target].shoot, known)


def _of_shoot(shoot: DesiredShoot, live: Manifest | None, known: Mapping[str, Any]) -> Iterator[Violation]:
    declared = {entry["type"]: entry for entry in get(shoot.shoot, "spec", "extensions") or []}
    there = {entry["type"]: entry for entry in get(live, "spec", "extensions") or []}
    workers = get(shoot.shoot, "spec", "provider", "workers") or get(live, "spec", "provider", "workers")
    origin = shoot.origins[ref_of(GARDEN, shoot.shoot)]
    for type_, entry in sorted({**there, **declared}.items()):
        if message := _objection(type_, entry, known, workerless=not workers):
            whose = (
                "" if type_ in declared else "; the entry is not from git, and Gardener refuses every change with it"
            )
            title = f"{ref_of(GARDEN, shoot.shoot)}, extension {type_}"
            yield Violation(origin.file, origin.line, title, "unregistered-extension", message + whose)


def _objection(type_: str, entry: Mapping[str, Any], known: Mapping[str, Any], *, workerless: bool) -> str:
    """Why Gardener would refuse an entry; empty where it would not."""
    if type_ not in known:
        remedy = (
            "an entry that is only disabled must be registered too: leave it out (of `replaces`, or of the overlay's "
            "extensions), or declare its registration"
            if entry.get("disabled")
            else "declare its ControllerRegistration and ControllerDeployment under resources, which come before all "
            "waves, or correct the type"
        )
        return f"no registration in this garden has a primary resource of kind Extension and type {type_}: {remedy}"
    resource = known[type_]
    if "shoot" not in (get(resource, "clusterCompatibility") or ["shoot"]):
        return f"extension {type_} is registered, but not for shoots (clusterCompatibility)"
    if workerless and not get(resource, "workerlessSupported") and not entry.get("disabled"):
        return f"extension {type_} does not support shoots without workers (workerlessSupported)"
    return ""
