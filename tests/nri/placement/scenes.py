"""A shoot under a policy, as it is observed when all is well, and ways to spoil it."""

from __future__ import annotations

from typing import Any

from gitops.manifest import Manifest
from gitops.nri.placement.told import Balloon, Told, Voice
from gitops.nri.placement.verification import Scene

SPEC: dict[str, Any] = {
    "reservedResources": {"cpu": "1"},
    "reservedPoolNamespaces": ["monitoring-*"],
    "balloonTypes": [
        {"name": "fast", "minCPUs": 2, "maxCPUs": 4, "namespaces": ["latency"]},
        {
            "name": "slow",
            "matchExpressions": [{"key": "pod/labels/tier", "operator": "In", "values": ["batch", "bulk"]}],
        },
    ],
}


def policy(name: str = "default", **changes: Any) -> Manifest:
    """A BalloonsPolicy."""
    metadata = {"name": name, "namespace": "kube-system", "generation": 1}
    return {"kind": "BalloonsPolicy", "metadata": metadata, "spec": {**SPEC, **changes}}


def pod(name: str, *containers: str, node: str = "w1-0", owner: str = "", **metadata: Any) -> Manifest:
    """A pod that runs, by `<namespace>/<name>`."""
    namespace, _, own = name.partition("/")
    statuses = [{"name": container, "ready": True, "state": {"running": {}}} for container in containers or ("main",)]
    return {
        "metadata": {"namespace": namespace, "name": own, "ownerReferences": [{"uid": owner}], **metadata},
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "qosClass": "Burstable", "containerStatuses": statuses},
    }


def node(name: str, **labels: str) -> Manifest:
    """A Node."""
    return {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux", **labels}}}


def plugin(uid: str = "plugin", *, generation: int = 1, desired: int = 1, updated: int = 1) -> Manifest:
    """The plugin's DaemonSet."""
    return {
        "metadata": {"namespace": "kube-system", "name": "balloons", "uid": uid, "generation": generation},
        "spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/os": "linux"}}}},
        "status": {
            "observedGeneration": 1,
            "desiredNumberScheduled": desired,
            "updatedNumberScheduled": updated,
        },
    }


def told(assignments: dict[str, str] | None = None, voice: Voice = Voice.TOPOLOGY, **cpus: tuple[int, ...]) -> Told:
    """What the plugin tells; `fast_0=(2, 3)` is balloon fast[0]."""
    sizes = {"reserved_0": (0,), "default_0": (1,), "fast_0": (2, 3), "slow_0": (4, 5), **cpus}
    balloons = {
        name: Balloon(name, frozenset(numbers))
        for name, numbers in ((f"{key[:-2]}[{key[-1]}]", numbers) for key, numbers in sizes.items())
    }
    return Told(voice, balloons, {**ASSIGNED, **(assignments or {})})


ASSIGNED = {
    "kube-system/plugin-0/main": "reserved[0]",
    "latency/db-0/main": "fast[0]",
    "latency/db-0/sidecar": "fast[0]",
    "work/job-0/main": "slow[0]",
    "work/web-0/main": "default[0]",
}
PODS = (
    pod("kube-system/plugin-0", owner="plugin"),
    pod("latency/db-0", "main", "sidecar"),
    pod("work/job-0", labels={"tier": "batch"}),
    pod("work/web-0"),
)


def scene(**changes: Any) -> Scene:
    """One node with four pods, all as they should be."""
    well: dict[str, Any] = {
        "nodes": (node("w1-0"),),
        "pods": PODS,
        "policies": (policy(),),
        "plugins": (plugin(),),
        "told": {"w1-0": told()},
    }
    return Scene(**{**well, **changes})
