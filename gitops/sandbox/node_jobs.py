"""The pretend DaemonSet controller and kubelets, for the jobs that look at nodes and repair them.

Such a job is a DaemonSet whose init container says in its termination message what it found. No image runs here: every
node has what NRI plugins need, and its pod says so. Other DaemonSets get no pods.
"""

import json

from gitops.sandbox import inside
from gitops.sandbox.clock import Clock
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.store import Event
from gitops.sandbox.wire import Manifest

LABEL = "shoot-gitops/node-job"
STARTUP = 5.0
"""Landscape seconds from a DaemonSet to what its pods say."""
FOUND = {
    "v": 1,
    "dbus": "socket",
    "dbusDaemon": "active",
    "systemd": "running",
    "runtime": "containerd",
    "runtimeVersion": "2.1.4",
    "nri": "enabled",
    "nriSocket": True,
    "configVersion": 3,
    "cgroup": 2,
    "cgroupDriver": "systemd",
    "changed": [],
    "error": "",
}


class NodeJobs:
    """All pods of such jobs in a landscape."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def notice(self, cluster: Cluster, event: Event) -> None:
        """Start the pods of a job that came or changed, and take those of one that went."""
        if event.collection.plural != "daemonsets":
            return
        job = event.stored.manifest()
        if LABEL in (job["metadata"].get("labels") or {}):
            pause = 0 if event.type == "DELETED" else STARTUP
            self._clock.call_later(pause, lambda: self._act(cluster, job["metadata"]["namespace"]))

    def _act(self, cluster: Cluster, namespace: str) -> None:
        with cluster.store.changed:
            jobs = {job["metadata"]["uid"]: job for job in cluster.all_of("daemonsets") if _is_job(job)}
            there = set()
            for pod in list(cluster.all_of("pods")):
                if _is_job(pod) and pod["metadata"]["ownerReferences"][0]["uid"] not in jobs:
                    inside.delete(cluster, "", "v1", "pods", pod["metadata"]["name"], namespace)
                elif _is_job(pod):
                    there.add((pod["metadata"]["ownerReferences"][0]["uid"], pod["spec"]["nodeName"]))
            nodes = [node["metadata"]["name"] for node in cluster.all_of("nodes")]
            for uid, job in jobs.items():
                for node in _chosen(job, nodes):
                    if (uid, node) not in there:
                        _run(cluster, job, node)


def _is_job(manifest: Manifest) -> bool:
    return LABEL in (manifest["metadata"].get("labels") or {})


def _chosen(job: Manifest, nodes: list[str]) -> list[str]:
    """Return the nodes of a job; it names them one by one, or takes all."""
    affinity = job["spec"]["template"]["spec"].get("affinity")
    if affinity is None:
        return nodes
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    named = {value for term in terms for field in term.get("matchFields") or () for value in field["values"]}
    return [node for node in nodes if node in named]


def _run(cluster: Cluster, job: Manifest, node: str) -> None:
    metadata = job["metadata"]
    template = job["spec"]["template"]
    name = f"{metadata['name']}-{node}-{metadata['uid'][:5]}"
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": metadata["name"], "uid": metadata["uid"]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": template["metadata"]["labels"],
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {**template["spec"], "nodeName": node},
    }
    inside.create(cluster, pod, "daemonset-controller")
    said = {"exitCode": 0, "reason": "Completed", "message": json.dumps(FOUND)}
    common = {"image": "", "imageID": "", "ready": True, "restartCount": 0}
    status = {
        "phase": "Running",
        "initContainerStatuses": [
            {**common, "name": container["name"], "state": {"terminated": said}}
            for container in template["spec"].get("initContainers") or ()
        ],
        "containerStatuses": [
            {**common, "name": container["name"], "state": {"running": {"startedAt": cluster.now()}}}
            for container in template["spec"]["containers"]
        ],
    }
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{name}/status"
    inside.patch(cluster, path, {"status": status}, "kubelet")
