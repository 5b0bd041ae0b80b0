"""Nodes of a shoot, as machine-controller-manager and kubelet make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.control_plane.client import Client

COLLECTION = "/api/v1/nodes"
POOL_LABEL = "worker.gardener.cloud/pool"


def create(shoot: Client, name: str, labels: Mapping[str, str]) -> None:
    """A Node that is Ready."""
    shoot.post(COLLECTION, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    shoot.strategic_patch(f"{COLLECTION}/{name}/status", {"status": {"conditions": [ready]}})


def follow_workers(shoot: Client, workers: list[dict[str, Any]]) -> None:
    """Make the Nodes those of the worker pools: `minimum` of each, with the pool's labels.

    Nodes without a pool label are somebody else's.
    """
    wanted = {
        f"{pool['name']}-{number}": {**pool.get("labels", {}), POOL_LABEL: pool["name"]}
        for pool in workers
        for number in range(pool.get("minimum", 0))
    }
    present = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in listed(shoot)}
    for name, labels in wanted.items():
        if name not in present:
            create(shoot, name, labels)
        elif not labels.items() <= present[name].items():
            shoot.merge_patch(f"{COLLECTION}/{name}", {"metadata": {"labels": labels}})
    for name, labels in present.items():
        if POOL_LABEL in labels and name not in wanted:
            shoot.delete(f"{COLLECTION}/{name}")


def listed(shoot: Client) -> list[dict[str, Any]]:
    """All Nodes."""
    items: list[dict[str, Any]] = shoot.get(COLLECTION)["items"]
    return items
