"""A git repository that declares a small fleet, and changes of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

TYPE = "cri-resmgr-extension"
"""The extension whose CRDs bring the policies."""
SUCCESSOR = "nri-resource-policy"
"""The extension that takes over from it, and brings the same CRDs."""


def balloons(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """The spec of a BalloonsPolicy."""
    return {"reservedResources": {"cpu": cpu}, "pinCPU": True, **spec}


def policy(name: str = "default", **spec: Any) -> dict[str, Any]:
    """A BalloonsPolicy where the agents look for it."""
    return {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": spec or balloons(),
    }


class Repository:
    """A work tree whose every change is a commit.

    `clusters/` holds partial Shoots that declare labels only, `policies/` one file per policy, and the overlay `dev`
    enables the extension and applies all policies everywhere.
    """

    def __init__(self, path: Path, namespace: str, identity: str) -> None:
        self.path = path
        self.namespace = namespace
        self.overlay: dict[str, Any] = {
            "apiVersion": "shoot-gitops/v1alpha1",
            "kind": "Overlay",
            "metadata": {"name": "dev"},
            "spec": {
                "garden": {"identity": identity, "namespaces": [namespace]},
                "resources": ["../../clusters"],
                "policies": [{"path": "../../policies"}],
                "extensions": [{"type": TYPE, "state": "Enabled"}],
                "waves": [
                    {"name": "canary", "shoots": {"matchLabels": {"wave": "canary"}}},
                    {"name": "fleet", "maxConcurrent": "100%"},
                ],
                "gate": {"timeout": "60s", "quarantineAfter": "3s"},
            },
        }
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "tests")
        self.git("config", "user.email", "tests@example.invalid")

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, path: str, *documents: Mapping[str, Any]) -> None:
        """Write a YAML file; it is committed by `commit`."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump_all(map(dict, documents), sort_keys=False))

    def shoot(self, name: str, *, wave: str, **spec: Any) -> None:
        """Declare a Shoot by its labels, and whatever else of its spec."""
        manifest = {
            "apiVersion": "core.gardener.cloud/v1beta1",
            "kind": "Shoot",
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"wave": wave}},
        }
        self.write(f"clusters/{name}.yaml", {**manifest, "spec": spec} if spec else manifest)

    def policy(self, name: str = "default", **spec: Any) -> None:
        """Declare a policy."""
        self.write(f"policies/{name}.yaml", policy(name, **spec))

    def registration(self, name: str, *resources: dict[str, Any], version: str = "v1", **values: Any) -> None:
        """Declare an extension: its ControllerDeployment, in either version, and its ControllerRegistration."""
        chart = {"ref": f"registry.example/charts/{name}:v1.0.0"}
        helm: dict[str, Any] = {"ociRepository": chart, "values": values}
        body = {"helm": helm} if version == "v1" else {"type": "helm", "providerConfig": helm}
        deployment = {
            "apiVersion": f"core.gardener.cloud/{version}",
            "kind": "ControllerDeployment",
            "metadata": {"name": name},
            **body,
        }
        registration = {
            "apiVersion": "core.gardener.cloud/v1beta1",
            "kind": "ControllerRegistration",
            "metadata": {"name": name},
            "spec": {"deployment": {"deploymentRefs": [{"name": name}]}, "resources": list(resources)},
        }
        self.write(f"clusters/{name}.yaml", deployment, registration)

    def remove(self, path: str) -> None:
        """Declare a file no longer."""
        (self.path / path).unlink()

    def commit(self, message: str = "change") -> str:
        """Commit everything, the overlay included; returns the revision."""
        self.write("overlays/dev/overlay.yaml", self.overlay)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")
