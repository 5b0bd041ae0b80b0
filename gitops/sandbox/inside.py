"""Writes of those who live in the landscape: through the API, but without credentials or faults."""

import json

from gitops.sandbox.access import Identity
from gitops.sandbox.api import ApiServer
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.wire import MERGE_PATCH, Manifest, Request, encoded


def patch(cluster: Cluster, path: str, change: Manifest, manager: str) -> None:
    """Merge a patch into an object; one that has gone is left alone."""
    request = Request("PATCH", path, (("fieldManager", manager),), encoded(change), MERGE_PATCH)
    response = ApiServer(cluster).handle(request, Identity(cluster.name, manager, "admin", None))
    if response.status not in {200, 404}:
        raise RuntimeError(f"{manager}: {path}: {response.body.decode()}")


def create(cluster: Cluster, manifest: Manifest, manager: str = "kubectl-create") -> None:
    """Create an object; raises ValueError where the API refuses it."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    found = next(
        item
        for item in cluster.resources()
        if (item.group, item.version, item.kind) == (group, version, manifest["kind"])
    )
    base = f"/apis/{group}/{version}" if group else f"/api/{version}"
    namespace = manifest["metadata"].get("namespace")
    where = f"/namespaces/{namespace}" if namespace else ""
    request = Request("POST", f"{base}{where}/{found.plural}", (("fieldManager", manager),), encoded(manifest))
    response = ApiServer(cluster).handle(request, Identity(cluster.name, "admin", "admin", None))
    if response.status != 201:
        raise ValueError(f"{manifest['kind']} {manifest['metadata']['name']}: {json.loads(response.body)['message']}")


def delete(cluster: Cluster, group: str, version: str, plural: str, name: str) -> None:
    """Delete a cluster-scoped object; one that has gone is fine."""
    base = f"/apis/{group}/{version}" if group else f"/api/{version}"
    identity = Identity(cluster.name, "gardener-resource-manager", "admin", None)
    ApiServer(cluster).handle(Request("DELETE", f"{base}/{plural}/{name}"), identity)
