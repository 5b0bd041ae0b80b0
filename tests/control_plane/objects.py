"""Manifests of a landscape: what Gardener must know before it accepts a Shoot, and Shoots themselves."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

CORE = "/apis/core.gardener.cloud/v1beta1"
SECURITY = "/apis/security.gardener.cloud/v1alpha1"

PROVIDER = "local"
REGION = "local"
CLOUD_PROFILE = "local"
CREDENTIALS = "local"
"""Name of the Secret and of the CredentialsBinding in every namespace of a Project."""
NETWORKS = ("calico", "cilium")
KUBERNETES_VERSIONS = ("1.35.2", "1.35.1", "1.34.5", "1.34.4", "1.33.9")
MACHINE_TYPES = {
    "local": ("16", "64Gi"),
    "small": ("2", "8Gi"),
    "medium": ("8", "32Gi"),
    "large": ("32", "128Gi"),
    "metal": ("112", "1Ti"),
}
"""CPUs and memory by name."""
IMAGES = {"local": ("1.0.0", "1.1.0"), "gardenlinux": ("1877.1.0", "1877.2.0")}
"""Versions of machine images by name; each name is also a type of OperatingSystemConfig."""
EXTENSION_TYPES = (
    "audit",
    "cri-resmgr-extension",
    "csi-driver-lvm",
    "fits-accounting",
    "nri-resource-policy",
    "ontap",
    "registry-cache",
    "shoot-cert-service",
    "shoot-dns-service",
    "shoot-falco-service",
    "shoot-flux",
    "shoot-networking-problemdetector",
    "shoot-oidc-service",
    "shoot-rsyslog-relp",
)
"""Types of extensions that the garden knows; admission refuses a Shoot that lists any other."""


def cloud_profile() -> Manifest:
    machine_types = [
        {"name": name, "cpu": cpu, "gpu": "0", "memory": memory, "usable": True, "architecture": "amd64"}
        for name, (cpu, memory) in MACHINE_TYPES.items()
    ]
    images = [{"name": name, "versions": [_image_version(v) for v in versions]} for name, versions in IMAGES.items()]
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "CloudProfile",
        "metadata": {"name": CLOUD_PROFILE},
        "spec": {
            "type": PROVIDER,
            "regions": [{"name": REGION, "zones": [{"name": "0"}]}],
            "kubernetes": {"versions": [{"version": version} for version in KUBERNETES_VERSIONS]},
            "machineImages": images,
            "machineTypes": machine_types,
        },
    }


def _image_version(version: str) -> Manifest:
    return {"version": version, "cri": [{"name": "containerd"}], "architectures": ["amd64"]}


def controller_registrations() -> list[Manifest]:
    """One for the infrastructure, one for every extension type, as operators register them."""
    platform = [{"kind": kind, "type": PROVIDER} for kind in ("ControlPlane", "Infrastructure", "Worker")]
    platform += [{"kind": "Network", "type": network} for network in NETWORKS]
    platform += [{"kind": "OperatingSystemConfig", "type": image} for image in IMAGES]
    platform += [{"kind": "ContainerRuntime", "type": "gvisor"}]
    registrations = [_registration("platform", platform)]
    registrations += [controller_registration(extension) for extension in EXTENSION_TYPES]
    return registrations


def controller_registration(extension: str) -> Manifest:
    """Of one extension type."""
    return _registration(
        f"extension-{extension}", [{"kind": "Extension", "type": extension, "workerlessSupported": True}]
    )


def _registration(name: str, resources: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "ControllerRegistration",
        "metadata": {"name": name},
        "spec": {"resources": resources},
    }


def project(name: str, namespace: str) -> Manifest:
    owner = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "admin"}
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Project",
        "metadata": {"name": name},
        "spec": {"namespace": namespace, "owner": owner},
    }


def project_namespace(name: str, project_name: str) -> Manifest:
    """With the labels that Gardener's project controller gives it."""
    labels = {"gardener.cloud/role": "project", "project.gardener.cloud/name": project_name}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def credentials_binding(namespace: str) -> Manifest:
    return {
        "apiVersion": "security.gardener.cloud/v1alpha1",
        "kind": "CredentialsBinding",
        "metadata": {"name": CREDENTIALS, "namespace": namespace},
        "provider": {"type": PROVIDER},
        "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "name": CREDENTIALS, "namespace": namespace},
    }


def worker(name: str, **fields: Any) -> Manifest:
    """A worker pool that Gardener accepts; `fields` replace or add to it."""
    pool = {
        "name": name,
        "machine": {"type": "local", "image": {"name": "local", "version": "1.1.0"}},
        "minimum": 1,
        "maximum": 2,
        "cri": {"name": "containerd"},
    }
    return {**pool, **copy.deepcopy(fields)}


def shoot(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """A complete Shoot without a namespace that Gardener accepts; keys of `spec` replace or add to its own."""
    metadata: Manifest = {"name": name}
    if labels:
        metadata["labels"] = dict(labels)
    base = {
        "cloudProfile": {"kind": "CloudProfile", "name": CLOUD_PROFILE},
        "credentialsBindingName": CREDENTIALS,
        "region": REGION,
        "networking": {
            "type": "calico",
            "pods": "10.3.0.0/16",
            "services": "10.4.0.0/16",
            "nodes": "10.10.0.0/16",
        },
        "provider": {"type": PROVIDER, "workers": [worker("w1")]},
        "kubernetes": {"version": KUBERNETES_VERSIONS[0]},
    }
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": metadata,
        "spec": {**base, **copy.deepcopy(spec)},
    }


def shoots_in(path: Path) -> Iterator[Manifest]:
    """The Shoots in a YAML file, or in all of a folder."""
    for file in sorted(path.rglob("*.yaml")) if path.is_dir() else [path]:
        for document in yaml.safe_load_all(file.read_text()):
            if document and document.get("kind") == "Shoot":
                yield document
