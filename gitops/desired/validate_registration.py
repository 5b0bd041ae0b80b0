"""What a registration in git must be: ControllerRegistration, ControllerDeployment, and the operator's Extension.

Rules are those of gardener v1.149: pkg/api/core/validation/controllerregistration.go and controllerdeployment.go, and
pkg/api/operator/validation/validation_extension.go; a registration may be partial here as everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gitops.desired.documents import Document
from gitops.desired.kinds import group_of
from gitops.desired.validate import object_violations
from gitops.errors import Violation
from gitops.gardener.registration_fields import CORE, CORE_V1, OPERATOR
from gitops.manifest import get

_VERSIONS = {
    ("core.gardener.cloud", "ControllerRegistration"): (CORE,),
    ("core.gardener.cloud", "ControllerDeployment"): (CORE_V1, CORE),
    ("operator.gardener.cloud", "Extension"): (OPERATOR,),
}
_CLUSTERS = ("shoot", "seed", "garden")
_POLICIES = ("OnDemand", "Always", "AlwaysExceptNoShoots")
_PINNED = re.compile(r"(:[\w][\w.-]*|@sha256:[0-9a-f]{64})$")
_OCI_PLACES = {
    CORE_V1: (("helm", "ociRepository"),),
    CORE: (("providerConfig", "ociRepository"),),
    OPERATOR: (
        ("spec", "deployment", "extension", "helm", "ociRepository"),
        ("spec", "deployment", "admission", "runtimeCluster", "helm", "ociRepository"),
        ("spec", "deployment", "admission", "virtualCluster", "helm", "ociRepository"),
    ),
}


def is_registration(document: Document) -> bool:
    """Whether a document is of a kind that the garden wave writes, in whatever version."""
    version, kind = document.manifest.get("apiVersion"), document.manifest.get("kind")
    return isinstance(version, str) and (group_of(version), kind) in _VERSIONS


def registration_violations(document: Document) -> list[Violation]:
    """Rules for a registration among an overlay's `resources`."""
    if wrong := object_violations(document):
        return wrong
    version, kind = document.manifest["apiVersion"], document.manifest["kind"]
    versions = _VERSIONS[group_of(version), kind]
    if version not in versions:
        message = f"apiVersion of a {kind} must be {' or '.join(versions)}, not {version}"
        return [document.violation("registration-version", message, "apiVersion")]
    if document.manifest["metadata"].get("namespace") is not None:
        message = f"{kind} is cluster-scoped: remove metadata.namespace"
        return [document.violation("needless-namespace", message, "metadata", "namespace")]
    found = [*_resources(document), *_deployment(document), *_charts(document)]
    return [*found, *_other_version(document)] if kind == "ControllerDeployment" else found


def _resources(document: Document) -> Iterator[Violation]:
    at = ("spec", "resources")
    resources = get(document.manifest, *at)
    if resources is None:
        return
    if not isinstance(resources, list) or not all(isinstance(resource, dict) for resource in resources):
        yield document.violation("wrong-type", "spec.resources must be a list of maps", *at)
        return
    seen: set[tuple[str, str]] = set()
    for position, resource in enumerate(resources):
        named = (resource.get("kind"), resource.get("type"))
        if not all(isinstance(part, str) and part for part in named):
            yield document.violation("no-list-key", "every resource needs its kind and type", *at, position)
        elif named in seen:
            message = f"spec.resources has kind {named[0]} and type {named[1]} twice: keep one"
            yield document.violation("duplicate-element", message, *at, position)
        else:
            seen.add((str(named[0]), str(named[1])))
        yield from _resource(document, resource, *at, position)


def _resource(document: Document, resource: dict[str, Any], *at: str | int) -> Iterator[Violation]:
    if "globallyEnabled" in resource:
        # Removed with gardener#12465; the field is pruned without a word since then.
        meant = "write `autoEnable: [shoot]`" if resource["globallyEnabled"] else "remove it, as that is the default"
        message = f"Gardener knows no globallyEnabled any more and would drop it silently: {meant}"
        yield document.violation("globally-enabled", message, *at, "globallyEnabled")
    compatible = resource.get("clusterCompatibility") or ["shoot"]
    for key in ("autoEnable", "clusterCompatibility"):
        value = resource.get(key)
        if value is None:
            continue
        allowed = _CLUSTERS if document.manifest["kind"] == "Extension" else _CLUSTERS[:2]
        if not isinstance(value, list) or any(cluster not in allowed for cluster in value):
            message = f"{key} is a list of {', '.join(allowed)}, not {value!r}"
            yield document.violation("cluster-type", message, *at, key)
        elif resource.get("kind") != "Extension":
            message = f"{key} is for resources of kind Extension only: {resource.get('kind')} is needed or it is not"
            yield document.violation("cluster-type", message, *at, key)
        elif key == "autoEnable" and (lacking := [cluster for cluster in value if cluster not in compatible]):
            message = (
                f"autoEnable names {', '.join(lacking)}, and clusterCompatibility ({', '.join(compatible)}) does not"
            )
            yield document.violation("cluster-type", message, *at, key)


def _deployment(document: Document) -> Iterator[Violation]:
    """How the extension is deployed: `spec.deployment` of a registration, one level deeper in an Extension."""
    if document.manifest["kind"] == "ControllerDeployment":
        return
    at = ("spec", "deployment", *(("extension",) if document.manifest["kind"] == "Extension" else ()))
    policy = get(document.manifest, *at, "policy")
    if policy is not None and policy not in _POLICIES:
        message = f"policy must be {', '.join(_POLICIES)}, not {policy!r}"
        yield document.violation("deployment-policy", message, *at, "policy")
    resources = get(document.manifest, "spec", "resources") or []
    primary = [r for r in resources if isinstance(r, dict) and r.get("primary") is not False]
    if get(document.manifest, *at, "seedSelector") is not None and primary:
        message = (
            f"seedSelector is forbidden where a resource is primary, and {primary[0].get('kind')} "
            f"{primary[0].get('type')} is: such an extension is on every seed that needs it"
        )
        yield document.violation("seed-selector", message, *at, "seedSelector")
    for position, reference in enumerate(get(document.manifest, *at, "deploymentRefs") or []):
        if not isinstance(get(reference, "name"), str):
            message = "every deploymentRef needs its name"
            yield document.violation("no-list-key", message, *at, "deploymentRefs", position)


def _charts(document: Document) -> Iterator[Violation]:
    for at in _OCI_PLACES.get(document.manifest["apiVersion"], ()):
        chart = get(document.manifest, *at)
        if chart is None:
            continue
        if not isinstance(chart, dict):
            yield document.violation("wrong-type", f"{'.'.join(at)} must be a map", *at)
            continue
        parts = [key for key in ("repository", "tag", "digest") if chart.get(key)]
        if chart.get("ref") and parts:
            message = f"ref already says everything: remove {', '.join(parts)}, or ref"
            yield document.violation("chart-reference", message, *at, "ref")
        elif chart.get("ref") and not _PINNED.search(str(chart["ref"]).rpartition("/")[2]):
            message = f"the chart reference {chart['ref']!r} has no version: add :<tag> or @sha256:<digest>"
            yield document.violation("chart-without-version", message, *at, "ref")
        elif parts == ["repository"]:
            message = f"the chart reference {chart['repository']!r} has no version: add tag or digest beside it"
            yield document.violation("chart-without-version", message, *at, "repository")


def _other_version(document: Document) -> Iterator[Violation]:
    """Fields of a ControllerDeployment that the other version has: the server would drop or refuse them."""
    manifest = document.manifest
    if manifest["apiVersion"] == CORE_V1:
        for key in ("type", "providerConfig"):
            if key in manifest:
                message = f"{key} is a field of {CORE}: with {CORE_V1} the chart and its values stand under helm"
                yield document.violation("registration-version", message, key)
        chart, oci = get(manifest, "helm", "rawChart"), get(manifest, "helm", "ociRepository")
    else:
        if "helm" in manifest:
            message = f"helm is a field of {CORE_V1}: with {CORE} the chart and its values stand under providerConfig"
            yield document.violation("registration-version", message, "helm")
        if manifest.get("type", "helm") != "helm":
            message = f"type must be helm, not {manifest['type']!r}: Gardener deploys nothing else"
            yield document.violation("deployment-type", message, "type")
        chart, oci = get(manifest, "providerConfig", "chart"), get(manifest, "providerConfig", "ociRepository")
    if chart and oci:
        message = "a chart is either inline or in an OCI repository: keep one of the two"
        yield document.violation("two-charts", message)
