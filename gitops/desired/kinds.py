"""What can be known about a kind without asking a server: is it cluster-scoped, namespaced, or somebody's own."""

from __future__ import annotations

from enum import Enum


class Scope(Enum):
    """Whether objects of a kind live in a namespace."""

    CLUSTER = "cluster"
    NAMESPACED = "namespaced"
    UNKNOWN = "unknown"
    """A custom kind: only the server that has its definition knows."""


# kubectl api-resources --namespaced=false, Kubernetes 1.36
_CLUSTER = {
    "": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
    "admissionregistration.k8s.io": {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    },
    "apiextensions.k8s.io": {"CustomResourceDefinition"},
    "apiregistration.k8s.io": {"APIService"},
    "certificates.k8s.io": {"CertificateSigningRequest", "ClusterTrustBundle"},
    "flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
    "networking.k8s.io": {"IPAddress", "IngressClass", "ServiceCIDR"},
    "node.k8s.io": {"RuntimeClass"},
    "rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding"},
    "resource.k8s.io": {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
    "scheduling.k8s.io": {"PriorityClass"},
    "storage.k8s.io": {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
    "topology.node.k8s.io": {"NodeResourceTopology"},
}
# Groups all of whose other kinds are namespaced. config.nri: nri-plugins deployment/base/crds, three policies.
_NAMESPACED = {
    *_CLUSTER,
    "apps",
    "autoscaling",
    "batch",
    "config.nri",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "policy",
}


def scope_of(group: str, kind: str) -> Scope:
    """The scope of a kind; unknown for kinds that Kubernetes and nri-plugins do not bring."""
    if kind in _CLUSTER.get(group, ()):
        return Scope.CLUSTER
    return Scope.NAMESPACED if group in _NAMESPACED else Scope.UNKNOWN


def group_of(api_version: str) -> str:
    """The group of an apiVersion; empty for the core group."""
    return api_version.rpartition("/")[0]
