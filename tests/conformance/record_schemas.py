"""Write gitops/sandbox/data/schemas.json from the OpenAPI v3 documents of a running control plane.

usage: kubectl proxy --port 8001 & python tests/conformance/record_schemas.py http://127.0.0.1:8001 >
gitops/sandbox/data/schemas.json

The sandbox knows the built-in kinds by the real server's own schemas, without their descriptions and without
the kinds it does not serve. One definition a line, so that an upgrade shows as a readable diff.
"""

import json
import re
import sys
import urllib.request
from typing import Any

KINDS = {
    "api/v1": ("Namespace", "Node", "ConfigMap", "Secret", "Pod", "Event", "ServiceAccount"),
    "apis/apps/v1": ("DaemonSet",),
    "apis/rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "apis/coordination.k8s.io/v1": ("Lease",),
    "apis/apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "apis/core.gardener.cloud/v1": ("ControllerDeployment",),
    "apis/core.gardener.cloud/v1beta1": (
        "Shoot",
        "Project",
        "CloudProfile",
        "Seed",
        "ControllerRegistration",
        "ControllerDeployment",
        "ControllerInstallation",
        "InternalSecret",
    ),
    "apis/security.gardener.cloud/v1alpha1": ("CredentialsBinding",),
}


def stripped(schema: Any) -> Any:
    """Return a schema without descriptions and without the empty defaults that Go's zero values bring."""
    if isinstance(schema, dict):
        return {
            key: stripped(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str)) and not (key == "default" and value in ({}, "", 0))
        }
    return [stripped(item) for item in schema] if isinstance(schema, list) else schema


def main(server: str) -> None:
    """Fetch every document and print what the sandbox needs of it."""
    found: dict[str, Any] = {}
    for path, kinds in KINDS.items():
        with urllib.request.urlopen(f"{server}/openapi/v3/{path}") as answer:  # noqa: S310 - the caller's own proxy
            definitions = json.load(answer)["components"]["schemas"]
        group, _, version = path.partition("/")[2].rpartition("/")
        todo = [
            name
            for name, schema in definitions.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
            if gvk["kind"] in kinds and gvk["group"] == group and gvk["version"] == version
        ]
        while todo:
            name = todo.pop()
            if name not in found:
                found[name] = stripped(definitions[name])
                todo += re.findall(r'#/components/schemas/([^"]+)"', json.dumps(found[name]))
    lines = (f"{json.dumps(name)}: {json.dumps(found[name], separators=(',', ':'))}" for name in sorted(found))
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
