"""What a Node object tells without anybody looking at the node, and what a Shoot tells of its kubelets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gitops.manifest import Manifest, get
from gitops.nri.resolution import GROUP_LABELS, node_name

POOL_LABEL = "worker.gardener.cloud/pool"

LEAST_VERSIONS = {"containerd": (1, 7), "cri-o": (1, 26)}
"""The first releases that speak NRI (containerd#9744, cri-o 1.26.2; nri-plugins docs/resource-policy/setup.md)."""
ENABLED_BY_DEFAULT = {"containerd": (2, 0)}

_RUNTIME = re.compile(r"([a-z-]+)://v?(\d+)\.(\d+)\S*")


@dataclass(frozen=True)
class NodeFacts:
    """One node, by its Node object."""

    name: str
    boot_id: str
    """Another after every boot; empty where the kubelet did not say."""
    runtime: str
    """As the kubelet says, such as `containerd://1.7.27`."""
    kubelet: str
    os_image: str
    kernel: str
    ready: bool
    pool: str
    """The worker pool; empty outside Gardener."""
    group: str
    """What policies of a group go by; empty outside all groups."""

    @property
    def runtime_name(self) -> str:
        """Such as `containerd`; empty where it cannot be read."""
        found = _RUNTIME.fullmatch(self.runtime)
        return found[1] if found else ""

    @property
    def runtime_version(self) -> tuple[int, int] | None:
        """Major and minor version; None where they cannot be read."""
        found = _RUNTIME.fullmatch(self.runtime)
        return (int(found[2]), int(found[3])) if found else None


def node_facts(node: Manifest) -> NodeFacts:
    """Read a Node of any shape; what is missing is empty."""
    info = get(node, "status", "nodeInfo")
    labels = get(node, "metadata", "labels")
    return NodeFacts(
        name=node_name(node),
        boot_id=_text(get(info, "bootID")),
        runtime=_text(get(info, "containerRuntimeVersion")),
        kubelet=_text(get(info, "kubeletVersion")),
        os_image=_text(get(info, "osImage")),
        kernel=_text(get(info, "kernelVersion")),
        ready=_ready(node),
        pool=_text(get(labels, POOL_LABEL)),
        group=next((_text(value) for label in GROUP_LABELS if (value := get(labels, label))), ""),
    )


def no_nri(facts: NodeFacts) -> str:
    """Why the node's container runtime has no NRI at all; empty where it has, or where its version is not known."""
    if not facts.runtime:
        return ""
    least = LEAST_VERSIONS.get(facts.runtime_name)
    if least is None:
        return f"the container runtime {facts.runtime} has no NRI: it needs containerd or CRI-O"
    if facts.runtime_version is not None and facts.runtime_version < least:
        return f"{facts.runtime} has no NRI: it needs {facts.runtime_name} {least[0]}.{least[1]} or newer"
    return ""


def static_cpu_pools(shoot: Manifest) -> tuple[str, ...]:
    """Worker pools whose kubelet has the static CPU manager, which competes with NRI plugins for cpusets.

    A pool's own `kubernetes.kubelet` replaces the Shoot's as a whole (gardener pkg/apis/core/types_shoot.go,
    WorkerKubernetes).
    """
    return tuple(_static(shoot))


def _static(shoot: Manifest) -> Iterator[str]:
    everywhere = get(shoot, "spec", "kubernetes", "kubelet")
    for worker in get(shoot, "spec", "provider", "workers") or ():
        own = get(worker, "kubernetes", "kubelet")
        if get(everywhere if own is None else own, "cpuManagerPolicy") == "static":
            yield _text(get(worker, "name"))


def _ready(node: Manifest) -> bool:
    conditions = get(node, "status", "conditions")
    found = [c for c in conditions if get(c, "type") == "Ready"] if isinstance(conditions, list) else []
    return bool(found) and get(found[0], "status") == "True"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
