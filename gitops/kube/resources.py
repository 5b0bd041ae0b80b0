"""From a kind to its REST path: a table of the kinds we meet every day, discovery for all others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gitops.kube.statuses import Unserved


@dataclass(frozen=True)
class Resource:
    """How a kind is addressed."""

    api_version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The percent-encoded path of an object, or of a list when `name` is empty.

        An empty namespace on a namespaced kind addresses the list over all namespaces.
        """
        root = "/apis" if "/" in self.api_version else "/api"
        parts = [root, self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/".join(parts)


def _kinds(group: str, scope: str, *kinds: str) -> Iterable[tuple[tuple[str, str], tuple[str, bool]]]:
    """Table rows; `Kind` has the plural `kinds`, or the one after a colon."""
    for kind in kinds:
        name, _, plural = kind.partition(":")
        yield (group, name), (plural or name.lower() + "s", scope == "namespaced")


_WELL_KNOWN: dict[tuple[str, str], tuple[str, bool]] = dict(
    [
        *_kinds("", "namespaced", "ConfigMap", "Secret", "Pod", "Service", "ServiceAccount", "Event"),
        *_kinds("", "namespaced", "PersistentVolumeClaim", "ResourceQuota", "LimitRange"),
        *_kinds("", "cluster", "Namespace", "Node", "PersistentVolume"),
        *_kinds("apps", "namespaced", "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet"),
        *_kinds("batch", "namespaced", "Job", "CronJob"),
        *_kinds("coordination.k8s.io", "namespaced", "Lease"),
        *_kinds("rbac.authorization.k8s.io", "namespaced", "Role", "RoleBinding"),
        *_kinds("rbac.authorization.k8s.io", "cluster", "ClusterRole", "ClusterRoleBinding"),
        *_kinds("apiextensions.k8s.io", "cluster", "CustomResourceDefinition"),
        *_kinds("authentication.k8s.io", "cluster", "SelfSubjectReview"),
        *_kinds("networking.k8s.io", "namespaced", "NetworkPolicy:networkpolicies"),
        *_kinds("config.nri", "namespaced", "BalloonsPolicy:balloonspolicies"),
        *_kinds("config.nri", "namespaced", "TopologyAwarePolicy:topologyawarepolicies"),
        *_kinds("config.nri", "namespaced", "TemplatePolicy:templatepolicies"),
        *_kinds("topology.node.k8s.io", "cluster", "NodeResourceTopology:noderesourcetopologies"),
        *_kinds("core.gardener.cloud", "namespaced", "Shoot", "SecretBinding", "Quota", "InternalSecret"),
        *_kinds("core.gardener.cloud", "cluster", "Project", "Seed", "CloudProfile", "ControllerDeployment"),
        *_kinds("core.gardener.cloud", "cluster", "ControllerRegistration", "ControllerInstallation"),
        *_kinds("core.gardener.cloud", "cluster", "ExposureClass:exposureclasses"),
        *_kinds("security.gardener.cloud", "namespaced", "CredentialsBinding", "WorkloadIdentity:workloadidentities"),
        *_kinds("resources.gardener.cloud", "namespaced", "ManagedResource"),
        *_kinds("seedmanagement.gardener.cloud", "namespaced", "ManagedSeed", "Gardenlet"),
        *_kinds("operator.gardener.cloud", "cluster", "Garden", "Extension"),
    ]
)

Discover = Callable[[str], dict[str, Any]]
"""The APIResourceList of an apiVersion, or Unserved."""


class Resources:
    """Looks kinds up; what discovery said of one server serves for others too, so it may be shared.

    Only what a server serves is remembered: a CRD that is missing now may be there in a minute.
    """

    def __init__(self) -> None:
        self._discovered: dict[tuple[str, str], Resource] = {}
        self._lock = threading.Lock()

    def find(self, api_version: str, kind: str, discover: Discover) -> Resource:
        """The resource of a kind, with one discovery request where it is neither well known nor seen before.

        Raises:
            Unserved: discovery does not list it. A well-known kind can still be unserved: its request says so.
        """
        group = api_version.rpartition("/")[0]
        if known := _WELL_KNOWN.get((group, kind)):
            return Resource(api_version, *known)
        with self._lock:
            found = self._discovered.get((api_version, kind))
        if found is None:
            served = {r.kind: r.resource for r in _served(api_version, discover(api_version))}
            with self._lock:
                self._discovered.update({(api_version, name): r for name, r in served.items()})
            found = served.get(kind)
        if found is None:
            raise Unserved(f"the server does not serve the kind {kind} of {api_version}", status=404)
        return found


@dataclass(frozen=True)
class _Served:
    kind: str
    resource: Resource


def _served(api_version: str, resource_list: dict[str, Any]) -> Iterable[_Served]:
    """Every kind in an APIResourceList; a name with a slash is a subresource."""
    for entry in resource_list.get("resources") or ():
        if "/" not in entry["name"]:
            yield _Served(entry["kind"], Resource(api_version, entry["name"], bool(entry["namespaced"])))
