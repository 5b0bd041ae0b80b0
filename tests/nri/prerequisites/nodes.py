"""Nodes, their reports, and pods of our jobs on them, for tests of what is decided about them."""

from __future__ import annotations

import json
from typing import Any

from gitops.manifest import Manifest
from gitops.nri.prerequisites.node_report import NodeReport, read_report
from tests.actors.node_jobs import FINE


def report(**differences: Any) -> NodeReport:
    """The report of a node that is fine but for these keys."""
    read = read_report({**FINE, **differences})
    assert read is not None
    return read


def node(name: str, *, runtime: str = "containerd://1.7.27", boot: str = "boot-1", ready: str = "True") -> Manifest:
    """A Node."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"worker.gardener.cloud/pool": name.partition("-")[0]}},
        "status": {
            "nodeInfo": {
                "bootID": boot,
                "containerRuntimeVersion": runtime,
                "kubeletVersion": "v1.33.2",
                "osImage": "Garden Linux 1877.3",
                "kernelVersion": "6.12.30",
            },
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def pod(daemon_set: Manifest, on: str, said: dict[str, Any] | str | None, *, running: bool = True) -> Manifest:
    """The pod of a job on a node; None: it has said nothing yet."""
    message = said if isinstance(said, str) else json.dumps(said)
    state = {"running": {}} if said is None else {"terminated": {"exitCode": 0, "message": message}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{daemon_set['metadata']['name']}-{on}",
            "namespace": "kube-system",
            "labels": daemon_set["metadata"]["labels"],
            "ownerReferences": [{"kind": "DaemonSet", "uid": daemon_set["metadata"]["uid"]}],
        },
        "spec": {"nodeName": on},
        "status": {
            "initContainerStatuses": [{"name": "node", "state": state}],
            "containerStatuses": [{"name": "stay", "state": {"running": {}} if running else {"waiting": {}}}],
        },
    }
