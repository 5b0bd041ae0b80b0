"""Which lists of the built-in kinds strategic merge patch merges, and by which keys.

As the OpenAPI document that kustomize carries says (kyaml/openapi/kubernetesapi); tests compare each line with
`kubectl kustomize`. A kind that is not here has no schema for kustomize: its lists are replaced as a whole.
"""

from __future__ import annotations

from typing import TypeAlias

ListPath: TypeAlias = tuple[str, ...]
"""Map keys from the root of the object; elements of lists add nothing."""

PRIMITIVES: tuple[str, ...] = ()
"""The keys of a list of plain values, merged as a set."""

_POD: dict[ListPath, tuple[str, ...]] = {
    ("containers",): ("name",),
    ("ephemeralContainers",): ("name",),
    ("hostAliases",): ("ip",),
    ("imagePullSecrets",): ("name",),
    ("initContainers",): ("name",),
    ("topologySpreadConstraints",): ("topologyKey", "whenUnsatisfiable"),
    ("volumes",): ("name",),
    **{
        (containers, *path): keys
        for containers in ("containers", "ephemeralContainers", "initContainers")
        for path, keys in {
            ("env",): ("name",),
            ("ports",): ("containerPort", "protocol"),
            ("volumeDevices",): ("devicePath",),
            ("volumeMounts",): ("mountPath",),
        }.items()
    },
}
_POD_SPEC = {
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template", "spec"),
    ("", "ReplicationController"): ("spec", "template", "spec"),
    ("apps", "DaemonSet"): ("spec", "template", "spec"),
    ("apps", "Deployment"): ("spec", "template", "spec"),
    ("apps", "ReplicaSet"): ("spec", "template", "spec"),
    ("apps", "StatefulSet"): ("spec", "template", "spec"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
    ("batch", "Job"): ("spec", "template", "spec"),
}
_OTHER: dict[tuple[str, str], dict[ListPath, tuple[str, ...]]] = {
    ("", "ConfigMap"): {},
    ("", "Namespace"): {},
    ("", "Secret"): {},
    ("", "Service"): {("spec", "ports"): ("port", "protocol")},
    ("", "ServiceAccount"): {("secrets",): ("name",)},
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): {("webhooks",): ("name",)},
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): {("webhooks",): ("name",)},
    ("rbac.authorization.k8s.io", "ClusterRole"): {},
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): {},
    ("rbac.authorization.k8s.io", "Role"): {},
    ("rbac.authorization.k8s.io", "RoleBinding"): {},
}
_METADATA: dict[ListPath, tuple[str, ...]] = {
    ("metadata", "finalizers"): PRIMITIVES,
    ("metadata", "ownerReferences"): ("uid",),
}


def merge_keys(group: str, kind: str, path: ListPath) -> tuple[str, ...] | None:
    """The keys that name the elements of the list at `path`; None where the list is replaced as a whole."""
    if (group, kind) in _POD_SPEC:
        spec = _POD_SPEC[group, kind]
        inside = path[len(spec) :] if path[: len(spec)] == spec else None
        return _POD.get(inside) if inside is not None else _METADATA.get(path)
    if (group, kind) in _OTHER:
        return (_OTHER[group, kind] | _METADATA).get(path)
    return None
