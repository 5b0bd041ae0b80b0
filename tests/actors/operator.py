"""Plays gardener-operator for Extensions: renders their registrations into the garden and reports.

After gardener/gardener pkg/operator/controller/extension/extension: ControllerRegistration and ControllerDeployment
have the Extension's name and come by a ManagedResource, whose marks they carry.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from tests.control_plane.client import Client

Manifest = dict[str, Any]
EXTENSIONS = "/apis/operator.gardener.cloud/v1alpha1/extensions"
MARKS = {
    "labels": {"resources.gardener.cloud/managed-by": "gardener"},
    "annotations": {"resources.gardener.cloud/origin": "runtime:garden/extension-registration"},
}
_GARDEN = {"core.gardener.cloud/v1beta1": "controllerregistrations", "core.gardener.cloud/v1": "controllerdeployments"}


class Operator:
    """One gardener-operator.

    Attributes:
        healthy: whether the extension's installations are, as far as the operator knows.
        down: whether it does nothing at all.
    """

    def __init__(self, runtime: Client, garden: Client) -> None:
        self.healthy = True
        self.down = False
        self._runtime = runtime
        self._garden = garden

    def step(self) -> None:
        """Do what every Extension asks for."""
        for extension in [] if self.down else self._runtime.get(EXTENSIONS)["items"]:
            for rendered in _rendered(extension):
                self._bring(rendered)
            self._report(extension)

    def _bring(self, manifest: Manifest) -> None:
        version, name = manifest["apiVersion"], manifest["metadata"]["name"]
        collection = f"/apis/{version}/{_GARDEN[version]}"
        live = self._garden.find(f"{collection}/{name}")
        if live is None:
            self._garden.post(collection, manifest)
        elif any(live.get(key) != manifest[key] for key in ("helm",) if key in manifest):
            self._garden.merge_patch(f"{collection}/{name}", {"helm": manifest["helm"]})

    def _report(self, extension: Manifest) -> None:
        wanted = {"Installed": "True", "ControllerInstallationsHealthy": str(self.healthy)}
        status = extension.get("status") or {}
        found = {c["type"]: c["status"] for c in status.get("conditions") or []}
        generation = extension["metadata"]["generation"]
        if found == wanted and status.get("observedGeneration") == generation:
            return
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        rest = {"reason": "Looked", "message": "looked", "lastTransitionTime": now, "lastUpdateTime": now}
        conditions = [{"type": kind, "status": state, **rest} for kind, state in wanted.items()]
        status = {"observedGeneration": generation, "conditions": conditions}
        self._runtime.merge_patch(f"{EXTENSIONS}/{extension['metadata']['name']}/status", {"status": status})


def _rendered(extension: Manifest) -> list[Manifest]:
    name, spec = extension["metadata"]["name"], extension["spec"]
    metadata = {"name": name, **MARKS}
    deployment = spec["deployment"]["extension"]
    return [
        {
            "apiVersion": "core.gardener.cloud/v1",
            "kind": "ControllerDeployment",
            "metadata": metadata,
            "helm": {**deployment["helm"], "values": deployment.get("values") or {}},
        },
        {
            "apiVersion": "core.gardener.cloud/v1beta1",
            "kind": "ControllerRegistration",
            "metadata": metadata,
            "spec": {"resources": spec["resources"], "deployment": {"deploymentRefs": [{"name": name}]}},
        },
    ]
