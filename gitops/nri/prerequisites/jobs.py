"""The DaemonSets that look at nodes and repair them; both run `node.sh` once, in an init container.

What it prints is the init container's termination message. The container after it only keeps the pod there, so that
nothing is restarted and the message stays to be read. That it runs also shows that kubelet and container runtime are
at work again after a repair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from enum import Enum
from importlib import resources
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.prerequisites.ledger import NAMESPACE
from gitops.nri.prerequisites.wanted import Demand, Prerequisites

NODE_SCRIPT = resources.files("gitops.nri.prerequisites").joinpath("node.sh").read_text()
SCRIPT_DIGEST = hashlib.sha256(NODE_SCRIPT.encode()).hexdigest()[:16]

JOB_LABEL = "shoot-gitops/node-job"
DIGEST_LABEL = "shoot-gitops/node-script"
INIT_CONTAINER = "node"

_IN_A_CHROOT = 'chroot /host /bin/sh -c "$0" node.sh "$@" >/dev/termination-log'
_IN_THE_NODES_NAMESPACES = 'nsenter -t 1 -m -u -i -n -p -- /bin/sh -c "$0" node.sh "$@" >/dev/termination-log'
_STAY = "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done"


class Job(Enum):
    """What is done on a node."""

    PROBE = "probe"
    """Looks, and changes nothing."""
    REPAIR = "repair"


def probe(wanted: Prerequisites, nodes: Collection[str] | None) -> Manifest:
    """The DaemonSet that looks at nodes: at these, or with None at all there are.

    It may read the node's files and ask its systemd, and nothing more: no capability but SYS_CHROOT, everything
    read-only.
    """
    container = {
        "args": ["probe"],
        "command": ["/bin/sh", "-c", _IN_A_CHROOT, NODE_SCRIPT],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], "add": ["SYS_CHROOT"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {"name": "host", "mountPath": "/host", "readOnly": True, "recursiveReadOnly": "IfPossible"},
        ],
    }
    volumes = [{"name": "host", "hostPath": {"path": "/", "type": "Directory"}}]
    return _daemon_set(Job.PROBE, wanted, container, nodes, volumes)


def repair(wanted: Prerequisites, node: str) -> Manifest:
    """The DaemonSet that repairs one node; it is privileged, as it acts as root in the node's own namespaces."""
    what = [word for word, demand in (("dbus", wanted.dbus), ("nri", wanted.nri)) if demand is Demand.REPAIR]
    container = {
        "args": ["repair", *what],
        "command": ["/bin/sh", "-c", _IN_THE_NODES_NAMESPACES, NODE_SCRIPT],
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "securityContext": {"privileged": True, "runAsUser": 0},
    }
    return _daemon_set(Job.REPAIR, wanted, container, (node,), [])


def job_of(manifest: Manifest) -> Job | None:
    """Which job a DaemonSet or Pod of ours belongs to; None for anything else."""
    label = get(manifest, "metadata", "labels", JOB_LABEL)
    return next((job for job in Job if job.value == label), None)


def nodes_of_job(daemon_set: Manifest) -> frozenset[str] | None:
    """Where a DaemonSet of ours runs; None for everywhere."""
    terms = get(
        daemon_set,
        *("spec", "template", "spec", "affinity", "nodeAffinity"),
        *("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
    )
    if not isinstance(terms, list):
        return None
    return frozenset(name for term in terms for field in get(term, "matchFields") or () for name in field["values"])


def is_outdated(daemon_set: Manifest, wanted: Prerequisites) -> bool:
    """Whether it was made by another version of this program, or with another image."""
    images = {container.get("image") for container in get(daemon_set, "spec", "template", "spec", "containers") or ()}
    return get(daemon_set, "metadata", "labels", DIGEST_LABEL) != SCRIPT_DIGEST or images != {wanted.image}


def _daemon_set(
    job: Job,
    wanted: Prerequisites,
    container: dict[str, Any],
    nodes: Collection[str] | None,
    volumes: Sequence[dict[str, Any]],
) -> Manifest:
    labels = {JOB_LABEL: job.value, DIGEST_LABEL: SCRIPT_DIGEST, "app.kubernetes.io/name": "shoot-gitops-node"}
    spec: dict[str, Any] = {
        "hostPID": True,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "priorityClassName": "system-node-critical",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 1,
        "initContainers": [{"name": INIT_CONTAINER, "image": wanted.image, **container}],
        "containers": [_staying(wanted.image)],
        "volumes": list(volumes),
    }
    if wanted.pull_secret:
        spec["imagePullSecrets"] = [{"name": wanted.pull_secret}]
    if nodes is not None:
        spec["affinity"] = _only_on(nodes)
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"shoot-gitops-{job.value}", "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": {JOB_LABEL: job.value}},
            # A pod that did its work is never replaced by one that does it again.
            "updateStrategy": {"type": "OnDelete"},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _staying(image: str) -> dict[str, Any]:
    return {
        "name": "stay",
        "image": image,
        "command": ["/bin/sh", "-c", _STAY],
        "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}, "limits": {"memory": "16Mi"}},
        "securityContext": {
            "runAsUser": 65534,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }


def _only_on(nodes: Collection[str]) -> dict[str, Any]:
    """By name; a term holds one name (k8s.io/kubernetes pkg/apis/core/validation, node field selectors)."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in sorted(nodes)]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
