"""The pretend policy agents: one per node and policy kind, answering in status.nodes.

Follows containers/nri-plugins pkg/agent: the effective policy is node.NAME, else group.LABEL, else (without a
group label) default; nothing is merged and nothing falls through. A policy is answered once per uid and
generation. Without an effective policy the old one stays in force, and so does its entry. The one thing
these agents check themselves is that a reserved number of CPUs exists.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

from gitops.sandbox.clock import Clock, stamp
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.faults import Faults
from gitops.sandbox.store import Event
from gitops.sandbox.wire import Manifest

GROUP = "config.nri"
KINDS = ("balloonspolicies", "topologyawarepolicies", "templatepolicies")
GROUP_LABEL = "config.nri/group"

PatchStatus = Callable[[str, str, str, str, Manifest], None]
"""Patches a status in a shoot: cluster, plural, namespace, name, merge patch."""


@dataclass(frozen=True)
class _Seen:
    """The policy an agent runs."""

    name: str
    uid: str
    generation: int


class Agents:
    """All agents of a landscape."""

    def __init__(
        self, clock: Clock, faults: Faults, patch_status: PatchStatus, *, namespace: str, reaction: float
    ) -> None:
        self._clock, self._faults, self._patch_status = clock, faults, patch_status
        self._namespace, self._reaction = namespace, reaction
        self._running: dict[tuple[str, str, str], _Seen] = {}
        self._due: set[tuple[str, str]] = set()

    def notice(self, cluster: Cluster, event: Event) -> None:
        """Look again at every node of a shoot where a policy or a node has changed."""
        if event.collection.group == GROUP and event.collection.plural in KINDS:
            if event.previous is not None and event.type == "MODIFIED":
                now, before = event.stored.manifest(), event.previous.manifest()
                if now["metadata"]["generation"] == before["metadata"]["generation"]:
                    return
            names = [node["metadata"]["name"] for node in _nodes(cluster)]
        elif event.collection.plural == "nodes" and event.type != "DELETED":
            names = [event.stored.name]
        else:
            return
        for name in names:
            self._schedule(cluster, name)

    def _schedule(self, cluster: Cluster, node: str) -> None:
        if (cluster.name, node) not in self._due:
            self._due.add((cluster.name, node))
            jitter = zlib.crc32(node.encode()) % 1000 / 1000
            self._clock.call_later(self._reaction * (1 + jitter), lambda: self._act(cluster, node))

    def _act(self, cluster: Cluster, name: str) -> None:
        self._due.discard((cluster.name, name))
        node = cluster.find("nodes", "", name)
        for plural in KINDS:
            resource = cluster.any_version(GROUP, plural)
            if node is not None and resource is not None:
                policies = {item["metadata"]["name"]: item for item in cluster.all(resource, self._namespace)}
                self._answer(cluster, plural, node, policies)

    def _answer(self, cluster: Cluster, plural: str, node: Manifest, policies: dict[str, Manifest]) -> None:
        name = node["metadata"]["name"]
        policy = policies.get(effective(node, policies))
        key = (cluster.name, plural, name)
        before = self._running.get(key)
        if policy is None:
            return
        metadata = policy["metadata"]
        seen = _Seen(metadata["name"], metadata["uid"], metadata["generation"])
        if seen == before:
            return
        if before is not None and before.name != seen.name and before.name in policies:
            gone = {"status": {"nodes": {name: None}}}
            self._patch_status(cluster.name, plural, self._namespace, before.name, gone)
        fault = self._faults.node(cluster.name, name, seen.name)
        message = fault.message if fault else refusal(policy, node)
        answer = {
            "status": "Failure" if message else "Success",
            "generation": seen.generation,
            "errors": message,
            "timestamp": stamp(self._clock.now()),
        }
        self._running[key] = seen
        patch = {"status": {"nodes": {name: answer}}}
        self._patch_status(cluster.name, plural, self._namespace, seen.name, patch)


def effective(node: Manifest, policies: dict[str, Manifest]) -> str:
    """Return the name of the policy a node resolves to, whether it exists or not."""
    own = f"node.{node['metadata']['name']}"
    if own in policies:
        return own
    group = (node["metadata"].get("labels") or {}).get(GROUP_LABEL)
    return f"group.{group}" if group else "default"


def refusal(policy: Manifest, node: Manifest) -> str:
    """Return why a node cannot run a policy; empty where it can."""
    reserved = str((policy["spec"].get("reservedResources") or {}).get("cpu", ""))
    capacity = int(node["status"]["capacity"]["cpu"])
    number = reserved.removesuffix("m")
    if number.isdigit():
        millis = int(number) * (1 if reserved.endswith("m") else 1000)
        if millis > capacity * 1000:
            return f"failed to apply update: cannot reserve {reserved} CPUs, the node has {capacity}"
    return ""


def _nodes(cluster: Cluster) -> list[Manifest]:
    resource = cluster.any_version("", "nodes")
    return list(cluster.all(resource)) if resource else []
