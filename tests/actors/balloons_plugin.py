"""Plays the balloons plugin of one shoot, and the workload that it places: DaemonSet, pods, NodeResourceTopologies.

Everything is as it should be unless a test says otherwise: what runs in kube-system is in `reserved[0]`, everything
else in `default[0]`.
"""

from __future__ import annotations

import threading
from typing import Any

from tests.actors import nodes
from tests.control_plane.client import Client

TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
NAME = "nri-resource-policy-balloons"
LABELS = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/instance": "balloons"}
CPUS = {"reserved[0]": "0", "default[0]": "1-3"}


class BalloonsPlugin:
    """The plugin and the workload of one shoot.

    Attributes:
        placed: where each container is told to be, by `<namespace>/<pod>/<container>`; others are where they belong.
        hidden: containers that the plugin tells nothing of.
        topologies: whether the plugin tells of containers in NodeResourceTopologies.
    """

    def __init__(self, shoot: Client) -> None:
        self.placed: dict[str, str] = {}
        self.hidden: set[str] = set()
        self.topologies = True
        self._shoot = shoot
        self._lock = threading.Lock()

    def step(self) -> None:
        """Bring what is missing, and tell once there is somebody to tell."""
        with self._lock:
            present = [node["metadata"]["name"] for node in nodes.listed(self._shoot)]
            owner = self._daemon_set(len(present))
            for node in present:
                self._pod("kube-system", f"plugin-{node}", node, owner)
                self._pod("default", f"web-{node}", node, None)
                if self.topologies and self._shoot.find(TOPOLOGIES) is not None:
                    self._tell(node)

    def containers(self, node: str) -> dict[str, str]:
        """What the plugin tells of a node: balloons by container."""
        right = {f"kube-system/plugin-{node}/main": "reserved[0]", f"default/web-{node}/main": "default[0]"}
        return {name: self.placed.get(name, balloon) for name, balloon in right.items() if name not in self.hidden}

    def log(self, node: str) -> str:
        """What its log says of a node."""
        return "".join(
            f'level=INFO msg="assigning container {name} to balloon {balloon}{{cpus:\\"{CPUS[balloon]}\\", '
            f'mems:\\"0\\"}}"\n'
            for name, balloon in self.containers(node).items()
        )

    def _daemon_set(self, desired: int) -> dict[str, Any]:
        path = "/apis/apps/v1/namespaces/kube-system/daemonsets"
        if (found := self._shoot.find(f"{path}/{NAME}")) is None:
            template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
            spec = {"selector": {"matchLabels": LABELS}, "template": template}
            found = self._shoot.post(path, {"metadata": {"name": NAME, "labels": LABELS}, "spec": spec})
        counts = ("currentNumberScheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled")
        status = {**dict.fromkeys(counts, desired), "numberMisscheduled": 0, "observedGeneration": 1}
        self._shoot.merge_patch(f"{path}/{NAME}/status", {"status": status})
        return found

    def _pod(self, namespace: str, name: str, node: str, owner: dict[str, Any] | None) -> None:
        path = f"/api/v1/namespaces/{namespace}/pods"
        if self._shoot.find(f"{path}/{name}") is not None:
            return
        metadata: dict[str, Any] = {"name": name}
        if owner is not None:
            reference = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": NAME, "uid": owner["metadata"]["uid"]}
            metadata["ownerReferences"] = [reference]
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "x"}]}
        self._shoot.post(path, {"metadata": metadata, "spec": spec})
        state = {"name": "main", "image": "x", "imageID": "x", "ready": True, "restartCount": 0}
        status = {"phase": "Running", "containerStatuses": [{**state, "state": {"running": {}}}]}
        self._shoot.strategic_patch(f"{path}/{name}/status", {"status": status})

    def _tell(self, node: str) -> None:
        zones: list[dict[str, Any]] = [
            {"name": name, "type": "balloon", "attributes": [{"name": "cpuset", "value": cpus}]}
            for name, cpus in CPUS.items()
        ]
        zones += [
            {"name": container, "type": "allocation for container", "parent": balloon}
            for container, balloon in self.containers(node).items()
        ]
        manifest = {
            "apiVersion": "topology.node.k8s.io/v1alpha2",
            "kind": "NodeResourceTopology",
            "metadata": {"name": node},
            "topologyPolicies": ["balloons"],
            "zones": zones,
        }
        found = self._shoot.find(f"{TOPOLOGIES}/{node}")
        if found is None:
            self._shoot.post(TOPOLOGIES, manifest)
        elif found["zones"] != zones:
            self._shoot.merge_patch(f"{TOPOLOGIES}/{node}", {"zones": zones})
