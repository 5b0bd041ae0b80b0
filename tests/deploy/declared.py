"""An overlay that declares everything for which the pipeline needs a right outside the shoots."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from tests.control_plane import objects
from tests.control_plane.landscape import IDENTITY
from tests.desired.in_memory import Files
from tests.end_to_end.repository import TYPE, policy

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE, NEW = "garden-rights", "garden-rights-n"
"""The project of three Shoots that are there, and that of one which has to be created."""
ROLLER, OPERATED = "extension-roller", "extension-operated"
"""An extension that git registers itself, and one that gardener-operator registers."""
SEED = "seed-a"
OVERLAY = "overlays/dev/overlay.yaml"
Documents = dict[str, list[dict[str, Any]]]


def documents(version: str, *policies: str) -> Documents:
    """The files of a repository.

    Args:
        version: of images and charts; another one changes every registration.
        policies: their names.
    """
    files: Documents = {
        OVERLAY: [_overlay(version)],
        "clusters/new.yaml": [_new_shoot()],
        "clusters/extensions.yaml": _registrations(version),
    }
    for name, wave in (("one", "canary"), ("two", "fleet"), ("three", "fleet")):
        files[f"clusters/{name}.yaml"] = [_shoot(name, wave)]
    reference = {"apiVersion": "v1", "kind": "Secret", "name": objects.CREDENTIALS}
    files["clusters/three.yaml"][0]["spec"] = {"resources": [{"name": "secret", "resourceRef": reference}]}
    for name in policies:
        files[f"policies/{name}.yaml"] = [policy(name)]
    return files


def composed(files: Mapping[str, list[dict[str, Any]]], overlay: str = "dev") -> Desired:
    """What such files declare."""
    return compose_whole(Files({path: yaml.safe_dump_all(docs) for path, docs in files.items()}), overlay, NOW)


def _overlay(version: str) -> dict[str, Any]:
    image = {"name": "agent", "repository": "registry.example/agent", "tag": version}
    vector = {"form": "Object", "inline": {"images": [image]}}
    balloons = {"matchLabels": {"cpu": "balloons"}}
    spec = {
        "garden": {"identity": IDENTITY, "namespaces": [NAMESPACE, NEW]},
        "resources": ["../../clusters"],
        "policies": [{"path": "../../policies", "shoots": balloons}],
        "extensions": [
            {"type": TYPE, "state": "Enabled", "shoots": balloons},
            {"type": "roller", "state": "Enabled"},
            {"type": "operated", "state": "Enabled", "shoots": balloons},
        ],
        "imageVectors": [
            {"extension": ROLLER, "registration": "ControllerDeployment", **vector},
            {"extension": OPERATED, "registration": "Extension", **vector},
        ],
        "waves": [
            {"name": "canary", "shoots": {"matchLabels": {"wave": "canary"}}},
            {"name": "fleet", "maxConcurrent": "100%"},
        ],
        "gate": {"timeout": "60s"},
    }
    return {"apiVersion": "shoot-gitops/v1alpha1", "kind": "Overlay", "metadata": {"name": "dev"}, "spec": spec}


def _shoot(name: str, wave: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"wave": wave, "cpu": "balloons"}}
    return {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": metadata}


def _new_shoot() -> dict[str, Any]:
    manifest = objects.shoot("new", labels={"wave": "fleet"}, seedName=SEED)
    manifest["metadata"]["namespace"] = NEW
    return manifest


def _registrations(version: str) -> list[dict[str, Any]]:
    def chart(name: str) -> dict[str, Any]:
        return {"ociRepository": {"ref": f"registry.example/charts/{name}:v1"}}

    roller = [
        {"kind": "Extension", "type": "roller", "workerlessSupported": True, "reconcileTimeout": _minutes(version)}
    ]
    operated = [{"kind": "Extension", "type": "operated", "workerlessSupported": True}]
    return [
        {
            "apiVersion": "core.gardener.cloud/v1",
            "kind": "ControllerDeployment",
            "metadata": {"name": ROLLER},
            "helm": chart(ROLLER),
        },
        {
            "apiVersion": "core.gardener.cloud/v1beta1",
            "kind": "ControllerRegistration",
            "metadata": {"name": ROLLER},
            "spec": {"deployment": {"deploymentRefs": [{"name": ROLLER}]}, "resources": roller},
        },
        {
            "apiVersion": "operator.gardener.cloud/v1alpha1",
            "kind": "Extension",
            "metadata": {"name": OPERATED},
            "spec": {
                "deployment": {"extension": {"helm": chart(OPERATED), "policy": "OnDemand"}},
                "resources": operated,
            },
        },
    ]


def _minutes(version: str) -> str:
    return f"{int(version.removeprefix('v'))}0m0s"
