"""What a shoot holds: its nodes, and what its extensions bring."""

import json
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from gitops.sandbox import builtins, inside, nodes
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.wire import Manifest


def furnish(
    cluster: Cluster, shoot: Manifest, extensions: Collection[str], known: Mapping[str, tuple[str, ...]]
) -> None:
    """Make a shoot's API look as its spec asks: nodes, and the CRDs of enabled extensions.

    `known` names the CRDs that each extension type brings.
    """
    wanted = {crd["metadata"]["name"]: crd for kind in extensions for crd in _crds(known[kind])}
    brought = {crd["metadata"]["name"] for files in known.values() for crd in _crds(files)}
    with cluster.store.changed:
        for name in sorted(brought):
            there = cluster.find(builtins.CRDS, "", name)
            if name in wanted and there is None:
                inside.create(cluster, json.loads(json.dumps(wanted[name])), "gardener-resource-manager")
            elif name not in wanted and there is not None:
                inside.delete(cluster, "apiextensions.k8s.io", "v1", builtins.CRDS, name)
        _align_nodes(cluster, nodes.wanted(shoot, cluster.now()))


def _align_nodes(cluster: Cluster, wanted: list[Manifest]) -> None:
    there = {node["metadata"]["name"]: node for node in cluster.all(cluster.resource("", "v1", "nodes"))}
    for node in wanted:
        name = node["metadata"]["name"]
        old = there.pop(name, None)
        if old is None:
            status = node.pop("status")
            inside.create(cluster, node, "kubelet")
            inside.patch(cluster, f"/api/v1/nodes/{name}/status", {"status": status}, "kubelet")
        elif old["metadata"].get("labels") != node["metadata"]["labels"]:
            gone = dict.fromkeys(old["metadata"].get("labels") or {})
            patch = {"metadata": {"labels": {**gone, **node["metadata"]["labels"]}}}
            inside.patch(cluster, f"/api/v1/nodes/{name}", patch, "machine-controller-manager")
    for name in there:
        inside.delete(cluster, "", "v1", "nodes", name)


@cache
def _crds(files: tuple[str, ...]) -> tuple[Manifest, ...]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    folder = resources.files(__package__).joinpath("data")
    texts = (folder.joinpath(f"{name}.yaml").read_text("utf-8") for name in files)
    return tuple(yaml.load(text, Loader=loader) for text in texts)  # noqa: S506 - a safe loader
