"""Plays the controller manager and the gardenlets of some seeds for extensions: ControllerInstallations.

After gardener/gardener pkg/controllermanager/controller/controllerregistration/seed/reconciler.go, which writes what an
installation is about, and pkg/gardenlet/controller/controllerinstallation, which deploys it and looks after it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.control_plane.client import Client

Manifest = dict[str, Any]
_CORE = "/apis/core.gardener.cloud/v1beta1"
_WELL = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class Installations:
    """Every extension with a deployment, installed on every seed.

    Attributes:
        unhealthy: by seed, the conditions that are not as they should be, such as `{"Healthy": "False"}`.
    """

    def __init__(self, garden: Client, *seeds: str, now: Callable[[], dt.datetime] = utc_now) -> None:
        self.unhealthy: dict[str, Mapping[str, str]] = {}
        self._garden = garden
        self._seeds = seeds
        self._now = now

    def step(self) -> list[str]:
        """Make at most one transition per installation; returns them, such as `nri on seed-a: caught up`."""
        registrations = self._garden.get(f"{_CORE}/controllerregistrations")["items"]
        return [
            f"{registration['metadata']['name']} on {seed}: {done}"
            for registration in registrations
            for seed in self._seeds
            for done in self._follow(registration, seed)
        ]

    def _follow(self, registration: Manifest, seed: str) -> Iterator[str]:
        references = registration["spec"].get("deployment", {}).get("deploymentRefs") or []
        if not references:
            return
        deployment = self._garden.find(f"{_CORE}/controllerdeployments/{references[0]['name']}")
        if deployment is None:
            return
        about = {"registrationRef": _reference(registration), "deploymentRef": _reference(deployment)}
        path = f"{_CORE}/controllerinstallations/{registration['metadata']['name']}-{seed}"
        installation = self._garden.find(path)
        if installation is None:
            metadata = {"name": path.rpartition("/")[2]}
            body = {"metadata": metadata, "spec": {"seedRef": {"name": seed}, **about}}
            self._garden.post(f"{_CORE}/controllerinstallations", body)
            self._report(path, seed, "True")
            yield "installed"
        elif any(
            not reference.items() <= installation["spec"].get(key, {}).items() for key, reference in about.items()
        ):
            self._garden.merge_patch(path, {"spec": about})
            self._report(path, seed, "True")
            yield "caught up"
        elif self._differs(installation, seed):
            self._report(path, seed, "False")
            yield "looked after"

    def _differs(self, installation: Manifest, seed: str) -> bool:
        found = {c["type"]: c["status"] for c in installation.get("status", {}).get("conditions") or []}
        return found != {**_WELL, **self.unhealthy.get(seed, {})}

    def _report(self, path: str, seed: str, progressing: str) -> None:
        """Write conditions; their times move, as something in them does."""
        now = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        wanted = {**_WELL, "Progressing": progressing, **self.unhealthy.get(seed, {})}
        conditions = [
            {
                "type": kind,
                "status": status,
                "reason": "Looked",
                "message": f"{kind} is {status}",
                "lastTransitionTime": now,
                "lastUpdateTime": now,
            }
            for kind, status in wanted.items()
        ]
        self._garden.merge_patch(f"{path}/status", {"status": {"conditions": conditions}})


def _reference(manifest: Manifest) -> dict[str, str]:
    metadata = manifest["metadata"]
    return {"name": metadata["name"], "resourceVersion": metadata["resourceVersion"]}
