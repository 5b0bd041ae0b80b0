"""Discovery and OpenAPI, as far as kubectl needs them to find, explain and validate resources."""

import re
from typing import Any

from gitops.sandbox.cluster import Cluster
from gitops.sandbox.kinds import Resource
from gitops.sandbox.schema import definitions
from gitops.sandbox.wire import Manifest

VERSION: Manifest = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3-sandbox",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def document(cluster: Cluster, path: str) -> Manifest | None:
    """Return the discovery or OpenAPI document at a path, or None where there is none."""
    parts = [part for part in path.split("/") if part]
    if parts == ["version"]:
        return VERSION
    if parts[:2] == ["openapi", "v3"]:
        return _openapi_at(cluster, "/".join(parts[2:]))
    return _discovered(cluster, parts)


def _discovered(cluster: Cluster, parts: list[str]) -> Manifest | None:
    found: Manifest | None = None
    match parts:
        case ["api"]:
            found = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            groups = [_group(cluster, name) for name in _groups(cluster)]
            found = {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        case ["api", version]:
            found = _resources(cluster, "", version)
        case ["apis", group] if group in _groups(cluster):
            found = {"kind": "APIGroup", "apiVersion": "v1", **_group(cluster, group)}
        case ["apis", group, version]:
            found = _resources(cluster, group, version)
    return found


def _openapi_at(cluster: Cluster, api_path: str) -> Manifest | None:
    known = _api_paths(cluster)
    if not api_path:
        return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}"} for name in known}}
    return _openapi(cluster, api_path) if api_path in known else None


def _groups(cluster: Cluster) -> list[str]:
    return sorted({resource.group for resource in cluster.resources() if resource.group})


def _group(cluster: Cluster, name: str) -> Manifest:
    versions = {item.version for item in cluster.resources() if item.group == name}
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in sorted(versions, key=_rank)]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _rank(version: str) -> tuple[int, int, int]:
    """Order versions as the server prefers them: stable first, then newest."""
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        return 3, 0, 0
    stage = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return stage, -int(found[1]), -int(found[3] or 0)


def _resources(cluster: Cluster, group: str, version: str) -> Manifest | None:
    found = [item for item in cluster.resources() if (item.group, item.version) == (group, version)]
    if not found:
        return None
    listed = []
    for item in sorted(found, key=lambda item: item.plural):
        names: Manifest = {
            "name": item.plural,
            "singularName": item.kind.lower(),
            "namespaced": item.namespaced,
            "kind": item.kind,
        }
        optional = {"shortNames": list(item.short_names), "categories": list(item.categories)}
        listed.append({**names, "verbs": _VERBS, **{key: value for key, value in optional.items() if value}})
        for subresource in item.subresources:
            verbs = ["get", "patch", "update"] if subresource == "status" else ["create"]
            listed.append({**names, "name": f"{item.plural}/{subresource}", "singularName": "", "verbs": verbs})
    api_version = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": listed}


def _api_paths(cluster: Cluster) -> list[str]:
    return sorted({_api_path(item) for item in cluster.resources()})


def _api_path(resource: Resource) -> str:
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


_PARAMETERS = [
    {"name": name, "in": "query", "schema": {"type": "string"}}
    for name in ("dryRun", "fieldManager", "fieldValidation")
]


def _openapi(cluster: Cluster, api_path: str) -> Manifest:
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for item in (item for item in cluster.resources() if _api_path(item) == api_path):
        gvk = {"group": item.group, "version": item.version, "kind": item.kind}
        base = f"/{api_path}/namespaces/{{namespace}}" if item.namespaced else f"/{api_path}"
        read = {"get": {"x-kubernetes-group-version-kind": gvk, "responses": {}}}
        write = {"x-kubernetes-group-version-kind": gvk, "parameters": _PARAMETERS, "responses": {}}
        paths[f"{base}/{item.plural}"] = {**read, "post": write}
        paths[f"{base}/{item.plural}/{{name}}"] = {**read, "put": write, "patch": write}
        if item.custom:
            name = ".".join([*reversed(item.group.split(".")), item.version, item.kind])
            schemas[name] = {**item.schema.raw, "x-kubernetes-group-version-kind": [gvk]}
    schemas |= definitions()
    info = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}
