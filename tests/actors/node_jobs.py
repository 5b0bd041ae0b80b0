"""Plays the DaemonSet controller and the kubelets for the pipeline's jobs on nodes, and the nodes themselves.

A job's pod appears on every node that its DaemonSet chooses, runs `node.sh` at once as far as anybody can tell, and
goes with its DaemonSet. A repair restarts containerd: the Node is NotReady for one step.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.actors import nodes
from tests.control_plane.client import Client, HttpError

JOBS = "/apis/apps/v1/namespaces/kube-system/daemonsets"
PODS = "/api/v1/namespaces/kube-system/pods"
LABEL = "shoot-gitops/node-job"
Report: TypeAlias = dict[str, Any]

FINE: Report = {
    "v": 1,
    "dbus": "socket",
    "dbusDaemon": "active",
    "systemd": "running",
    "runtime": "containerd",
    "runtimeVersion": "1.7.27",
    "nri": "enabled",
    "nriSocket": True,
    "configVersion": 2,
    "cgroup": 2,
    "cgroupDriver": "systemd",
    "changed": [],
    "error": "",
}
BROKEN: Report = {**FINE, "dbus": "directory", "nri": "disabled", "nriSocket": False}


def mend(_node: str, _report: Report) -> Report:
    """What a repair makes of a node where everything works."""
    return {**FINE, "changed": ["restarted containerd"]}


class NodeJobs:
    """All nodes of one shoot.

    Attributes:
        machines: what each node says of itself, by name; a node that is not named is fine.
        log: what was done on nodes, in order, such as `probe w1-0`, `repair w1-0`, `w1-0 is Ready again`.
    """

    def __init__(
        self, shoot: Client, machines: dict[str, Report] | None = None, repair: Callable[[str, Report], Report] = mend
    ) -> None:
        self.machines = machines or {}
        self.log: list[str] = []
        self._shoot = shoot
        self._repair = repair
        self._recovering: list[str] = []
        self._lock = threading.Lock()

    def step(self) -> None:
        """Let everybody act once."""
        with self._lock:
            while self._recovering:
                self._recover(self._recovering.pop())
            jobs = self._listed(JOBS)
            pods = self._listed(PODS)
            self._collect(pods, {job["metadata"]["uid"] for job in jobs})
            for job in jobs:
                there = {p["spec"]["nodeName"] for p in pods if _owner(p) == job["metadata"]["uid"]}
                for node in self._chosen(job):
                    if node not in there:
                        self._run(job, node)

    def _listed(self, path: str) -> list[dict[str, Any]]:
        found = self._shoot.find(path)
        items = found["items"] if found else []
        return [item for item in items if LABEL in item["metadata"].get("labels", {})]

    def _chosen(self, job: dict[str, Any]) -> list[str]:
        present = [node["metadata"]["name"] for node in nodes.listed(self._shoot)]
        affinity = job["spec"]["template"]["spec"].get("affinity")
        if affinity is None:
            return present
        terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        wanted = {value for term in terms for field in term["matchFields"] for value in field["values"]}
        return [name for name in present if name in wanted]

    def _collect(self, pods: list[dict[str, Any]], living: set[str]) -> None:
        for pod in pods:
            if _owner(pod) not in living:
                self._shoot.request("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})

    def _run(self, job: dict[str, Any], node: str) -> None:
        kind = job["metadata"]["labels"][LABEL]
        self.log.append(f"{kind} {node}")
        before = self.machines.get(node, FINE)
        if kind == "repair":
            self.machines[node] = self._repair(node, before)
        said = {**self.machines.get(node, FINE)} if kind == "repair" else {**before, "changed": [], "error": ""}
        ready = kind != "repair" or not said["changed"]
        name = f"{job['metadata']['name']}-{node}-{job['metadata']['uid'][:8]}"
        self._create(name, job, node)
        if not ready:
            self._ready(node, "False")
            self._recovering.append(node)
        self._report(name, json.dumps(said))

    def _create(self, name: str, job: dict[str, Any], node: str) -> None:
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "controller": True}
        owner |= {key: job["metadata"][key] for key in ("name", "uid")}
        template = job["spec"]["template"]
        metadata = {"name": name, "labels": template["metadata"]["labels"], "ownerReferences": [owner]}
        self._shoot.post(PODS, {"metadata": metadata, "spec": {**template["spec"], "nodeName": node}})

    def _report(self, name: str, message: str) -> None:
        ended = {"exitCode": 0, "message": message, "reason": "Completed"}
        common = {"image": "x", "imageID": "x", "ready": True, "restartCount": 0}
        status = {
            "phase": "Running",
            "initContainerStatuses": [{**common, "name": "node", "state": {"terminated": ended}}],
            "containerStatuses": [{**common, "name": "stay", "state": {"running": {}}}],
        }
        self._shoot.strategic_patch(f"{PODS}/{name}/status", {"status": status})

    def _recover(self, node: str) -> None:
        self._ready(node, "True")
        self.log.append(f"{node} is Ready again")

    def _ready(self, node: str, status: str) -> None:
        condition = {"type": "Ready", "status": status, "reason": "Kubelet"}
        try:
            self._shoot.strategic_patch(f"{nodes.COLLECTION}/{node}/status", {"status": {"conditions": [condition]}})
        except HttpError as error:
            if error.status != 404:
                raise


def _owner(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["ownerReferences"][0]["uid"])
