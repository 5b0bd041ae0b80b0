"""Has an extension arrived on a seed, and is it well there?

What makes this harder than it looks (gardener v1.149, paths below github.com/gardener/gardener):

- A ControllerInstallation has no observedGeneration. That it is about the present chart shows in
  `spec.deploymentRef.resourceVersion` and `spec.registrationRef.resourceVersion`, which the controller manager copies
  from the two objects (pkg/controllermanager/controller/controllerregistration/seed/reconciler.go).
- Its conditions are written by a periodic look, every 30 seconds by default
  (pkg/gardenlet/controller/controllerinstallation/care), and their `lastUpdateTime` moves only when something in them
  does. So right after it caught up they still speak of the old chart. They count when they were written since, or
  when enough time has passed for two looks.
- Progressing must be False here, as for a Deployment that is done.

An extension that is broken or on its way on a seed fails every operation of every shoot there that needs it
(`WaitUntilRequiredExtensionsReady` in pkg/utils/gardener/seed.go), so shoots are not touched before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gitops.gardener.times import read_time
from gitops.manifest import Manifest, get
from gitops.ownership.managers import writer_of
from gitops.verdict import Status, Verdict, current, failed, in_progress

TWO_LOOKS = timedelta(seconds=60)
"""After so long every condition has been looked at since the installation caught up."""
_WANTED = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}
_HOPELESS = frozenset({"ChartCannotBeRendered", "ChartInformationInvalid", "RegistrationInvalid"})
"""Reasons of `Valid: False` that no waiting mends (pkg/gardenlet/controller/controllerinstallation)."""
_REQUIRED_OF_EXTENSIONS = ("Installed",)
_HEALTH_OF_EXTENSIONS = ("ControllerInstallationsHealthy", "RuntimeHealthy", "AdmissionHealthy")


@dataclass(frozen=True)
class SeedVerdict:
    """What the gate says about one extension on one seed."""

    extension: str
    """The ControllerRegistration; or the operator Extension, where it is about that itself."""
    seed: str
    """Empty where it is about no seed."""
    verdict: Verdict


def seed_of(installation: Manifest) -> str:
    """The seed that an installation is for."""
    return str(get(installation, "spec", "seedRef", "name") or "")


def installation_gate(
    installation: Manifest, registration: Manifest, deployment: Manifest | None, now: datetime
) -> Verdict:
    """Whether one seed runs the present chart of an extension, and runs it well.

    Args:
        installation: the ControllerInstallation, of any shape; what cannot be read counts as not there.
        registration: the ControllerRegistration that it belongs to.
        deployment: the ControllerDeployment that the registration names; None when there is none.
        now: when the three were read, by the server's clock.
    """
    return (
        _behind(installation, "registrationRef", registration)
        or (_behind(installation, "deploymentRef", deployment) if deployment is not None else None)
        or _conditions(installation, now)
        or current("it runs the present chart, and is healthy")
    )


def extension_gate(extension: Manifest) -> Verdict:
    """Whether gardener-operator has done what an operator Extension asks for (pkg/operator/controller/extension)."""
    generation, observed = get(extension, "metadata", "generation"), get(extension, "status", "observedGeneration")
    if generation is None or observed != generation:
        return in_progress(f"gardener-operator has not done generation {generation}: it has observed {observed}")
    conditions = _by_type(extension)
    for kind in (*_REQUIRED_OF_EXTENSIONS, *(kind for kind in _HEALTH_OF_EXTENSIONS if kind in conditions)):
        if get(conditions.get(kind), "status") != "True":
            return in_progress(_told(kind, conditions.get(kind)))
    return current("gardener-operator has installed it, and it is healthy")


def worst(verdicts: Iterable[SeedVerdict]) -> Verdict:
    """The verdict over all of them: what failed first, then what is waited for."""
    order = [Status.FAILED, Status.TERMINATING, Status.NOT_FOUND, Status.UNKNOWN, Status.IN_PROGRESS]
    closed = [found for found in verdicts if not found.verdict.open]
    if not closed:
        return current("every seed is well")
    closed.sort(key=lambda found: order.index(found.verdict.status))
    named = "; ".join(f"{_place(found)}: {found.verdict.message}" for found in closed)
    return Verdict(closed[0].verdict.status, named)


def _place(found: SeedVerdict) -> str:
    return f"{found.extension} on seed {found.seed}" if found.seed else found.extension


def _behind(installation: Manifest, reference: str, wanted: Manifest | None) -> Verdict | None:
    name, version = get(wanted, "metadata", "name"), get(wanted, "metadata", "resourceVersion")
    seen = get(installation, "spec", reference)
    if get(seen, "name") == name and get(seen, "resourceVersion") == version and version is not None:
        return None
    kind = get(wanted, "kind")
    return in_progress(f"it has not caught up with {kind} {name}: {reference} is at {get(seen, 'resourceVersion')}")


def _conditions(installation: Manifest, now: datetime) -> Verdict | None:
    conditions = _by_type(installation)
    caught_up = _caught_up_at(installation)
    looked_twice = caught_up is None or now - caught_up >= TWO_LOOKS
    for kind, wanted in _WANTED.items():
        condition = conditions.get(kind)
        fresh = looked_twice or _written_since(condition, caught_up)
        if get(condition, "status") != wanted:
            hopeless = kind == "Valid" and get(condition, "reason") in _HOPELESS and fresh
            return (failed if hopeless else in_progress)(_told(kind, condition))
    if looked_twice or _written_since(conditions.get("Progressing"), caught_up):
        return None
    return in_progress("it has caught up, and nobody has looked yet how it fares")


def _caught_up_at(installation: Manifest) -> datetime | None:
    """When the controller manager last wrote what the installation is about; None where nobody keeps that."""
    writers = [
        writer_of(installation, ("spec", reference, "resourceVersion"))
        for reference in ("deploymentRef", "registrationRef")
    ]
    times = [time for writer in writers if writer is not None and (time := read_time(writer.time)) is not None]
    created = read_time(get(installation, "metadata", "creationTimestamp"))
    return max(times, default=created)


def _written_since(condition: Any, moment: datetime | None) -> bool:
    written = read_time(get(condition, "lastUpdateTime"))
    return moment is not None and written is not None and written >= moment


def _by_type(manifest: Manifest) -> dict[str, Mapping[str, Any]]:
    conditions = get(manifest, "status", "conditions")
    found = conditions if isinstance(conditions, list) else []
    return {str(condition.get("type")): condition for condition in found if isinstance(condition, Mapping)}


def _told(kind: str, condition: Any) -> str:
    if condition is None:
        return f"not reported yet: condition {kind}"
    reason, message = get(condition, "reason"), " ".join(str(get(condition, "message") or "").split()).rstrip(".")
    because = f" ({reason})" if reason else ""
    return f"condition {kind} is {get(condition, 'status')}{because}{f': {message}' if message else ''}"
