"""Rights that gardenlet gives in every shoot to those who come with adminkubeconfig or viewerkubeconfig.

After gardener/gardener pkg/component/shoot/system: admins are cluster-admin; viewers read everything but Secrets.
"""

from __future__ import annotations

from typing import Any

from tests.control_plane.client import Client

_ADMINS = ("gardener.cloud:system:admins", "gardener.cloud:project:admins")
_VIEWERS = ("gardener.cloud:system:viewers", "gardener.cloud:project:viewers")
_READ_ONLY = "gardener.cloud:system:read-only"
_CUSTOM_GROUPS = ("config.nri", "topology.node.k8s.io")
"""API groups that extensions may bring later; gardenlet would add them when it next reconciles the shoot."""
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def grant(shoot: Client) -> None:
    """Bind the groups of both kinds of kubeconfig."""
    shoot.post(f"{_RBAC}/clusterroles", {"metadata": {"name": _READ_ONLY}, "rules": _read_only_rules(shoot)})
    for name, role, groups in (
        ("gardener.cloud:system:admins", "cluster-admin", _ADMINS),
        (_READ_ONLY, _READ_ONLY, _VIEWERS),
    ):
        subjects = [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": group} for group in groups]
        role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        binding = {"metadata": {"name": name}, "roleRef": role_ref, "subjects": subjects}
        shoot.post(f"{_RBAC}/clusterrolebindings", binding)


def _read_only_rules(shoot: Client) -> list[dict[str, Any]]:
    core = [resource["name"] for resource in shoot.get("/api/v1")["resources"]]
    groups = [group["name"] for group in shoot.get("/apis")["groups"]]
    verbs = ["get", "list", "watch"]
    return [
        {"apiGroups": [""], "resources": sorted(set(core) - {"secrets"}), "verbs": verbs},
        {"apiGroups": sorted({*groups, *_CUSTOM_GROUPS}), "resources": ["*"], "verbs": verbs},
    ]
