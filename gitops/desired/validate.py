"""What a manifest in git must be, whatever server it is for; every rule that needs no cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gitops.desired.documents import Document
from gitops.desired.kinds import Scope, group_of, scope_of
from gitops.desired.string_fields import not_strings
from gitops.errors import Violation
from gitops.manifest import get

SHOOT_API = "core.gardener.cloud/v1beta1"
_GARDENER = "core.gardener.cloud"
_OURS = "shoot-gitops"
# Served by the garden only; cert.gardener.cloud, dns.gardener.cloud and the like do live inside shoots.
_GARDEN_GROUPS = {
    _GARDENER,
    "authentication.gardener.cloud",
    "operations.gardener.cloud",
    "operator.gardener.cloud",
    "security.gardener.cloud",
    "seedmanagement.gardener.cloud",
    "settings.gardener.cloud",
}
_SERVER_OWNED = (
    "managedFields",
    "resourceVersion",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "selfLink",
    "ownerReferences",
)
# gardener pkg/apis/core/v1beta1/constants: orders that Gardener carries out and takes away.
_ORDERS = {
    "confirmation.gardener.cloud/deletion": "it lets anybody delete the Shoot; set it by hand, when you delete",
    "confirmation.gardener.cloud/force-deletion": "it deletes the Shoot; set it by hand",
    "gardener.cloud/operation": "Gardener carries it out and removes it, so git would order it again and again",
    "maintenance.gardener.cloud/operation": "Gardener carries it out and removes it, so git would order it for ever",
    "shoot.gardener.cloud/tasks": "Gardener carries them out and removes them, so git would order them for ever",
}
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_MEMBERSHIP = "applyset.kubernetes.io/part-of"


def object_violations(document: Document) -> list[Violation]:
    """Rules for every object; those that follow may rely on apiVersion, kind and metadata.name being text."""
    return list(_names(document)) or [*_server_owned(document), *_not_strings(document)]


def _names(document: Document) -> Iterator[Violation]:
    manifest = document.manifest
    for key in ("apiVersion", "kind"):
        if not isinstance(manifest.get(key), str) or not manifest[key]:
            yield document.violation("no-" + key.lower(), f"the document has no {key}: it is no Kubernetes object", key)
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        yield document.violation("no-name", "the object has no metadata.name", "metadata")
        return
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not name:
        yield document.violation("no-name", f"metadata.name must be text, not {name!r}", "metadata", "name")
    if namespace is not None and (not isinstance(namespace, str) or not namespace):
        yield document.violation(
            "namespace", f"metadata.namespace must be text, not {namespace!r}", "metadata", "namespace"
        )
    for key in ("labels", "annotations"):
        if metadata.get(key) is not None and not isinstance(metadata[key], dict):
            yield document.violation("wrong-type", f"metadata.{key} must be a map", "metadata", key)


def _server_owned(document: Document) -> Iterator[Violation]:
    for key in _SERVER_OWNED:
        if key in document.manifest["metadata"]:
            message = f"metadata.{key} belongs to the server the object was read from: remove it from git"
            yield document.violation("server-field", message, "metadata", key)
    if "status" in document.manifest:
        yield document.violation("server-field", "status is what a server reports: remove it from git", "status")
    if _MEMBERSHIP in (get(document.manifest, "metadata", "labels") or {}):
        message = f"label {_MEMBERSHIP} is how the pipeline knows its own objects: remove it from git"
        yield document.violation("reserved-label", message, "metadata", "labels", _MEMBERSHIP)


def _not_strings(document: Document) -> Iterator[Violation]:
    group, kind = group_of(document.manifest["apiVersion"]), document.manifest["kind"]
    for at, value in not_strings(group, kind, document.manifest):
        place = ".".join(str(step) for step in at)
        if isinstance(value, dict | list):
            message = f"{place} must be text"
        else:
            written = str(value).lower() if isinstance(value, bool) else str(value)
            message = f'{place} must be text, and {written} is not: quote it as it should read, such as "{written}"'
        yield document.violation("not-a-string", message, *at)


def shoot_violations(document: Document, namespaces: tuple[str, ...]) -> list[Violation]:
    """Rules for what stands among an overlay's `resources`, given the namespaces the overlay may write to."""
    if wrong := object_violations(document):
        return wrong
    manifest = document.manifest
    if manifest["kind"] != "Shoot" or group_of(manifest["apiVersion"]) != _GARDENER:
        message = (
            f"resources hold Shoots and registrations of extensions, and {manifest['kind']} ({manifest['apiVersion']}) "
            "is not supported in the garden; what belongs inside the shoots goes under policies"
        )
        return [document.violation("not-a-shoot", message, "kind")]
    if manifest["apiVersion"] != SHOOT_API:
        message = f"apiVersion must be {SHOOT_API}, not {manifest['apiVersion']}"
        return [document.violation("shoot-version", message, "apiVersion")]
    return [*_shoot_names(document, namespaces), *_orders(document), *_shoot_spec(document)]


def _shoot_names(document: Document, namespaces: tuple[str, ...]) -> Iterator[Violation]:
    name, namespace = document.manifest["metadata"]["name"], document.manifest["metadata"].get("namespace")
    if not _NAME.fullmatch(name):
        yield document.violation("shoot-name", f"{name!r} is no name for a Shoot", "metadata", "name")
    if namespace is None:
        message = f"metadata.namespace is missing: write the project's namespace, such as {namespaces[0]}"
        yield document.violation("no-namespace", message, "metadata")
    elif namespace == "garden":
        message = "Shoots in namespace garden are the landscape's own (ManagedSeeds) and are never written"
        yield document.violation("namespace-garden", message, "metadata", "namespace")
    elif namespace not in namespaces:
        message = f"namespace {namespace} is not among the overlay's garden.namespaces ({', '.join(namespaces)})"
        yield document.violation("foreign-namespace", message, "metadata", "namespace")


def _orders(document: Document) -> Iterator[Violation]:
    for key in document.manifest["metadata"].get("annotations") or {}:
        if key in _ORDERS:
            message = f"annotation {key} does not belong in git: {_ORDERS[key]}"
            yield document.violation("order-in-git", message, "metadata", "annotations", key)


def _shoot_spec(document: Document) -> Iterator[Violation]:
    spec = document.manifest.get("spec")
    if spec is None:
        return
    if not isinstance(spec, dict):
        yield document.violation("wrong-type", "spec must be a map", "spec")
        return
    if spec.get("cloudProfile") and spec.get("cloudProfileName"):
        # gardener pkg/apiserver/registry/core/shoot/strategy.go keeps the two in step, and refuses both on create
        message = "cloudProfile and cloudProfileName say the same thing twice: keep cloudProfile"
        yield document.violation("two-cloud-profiles", message, "spec", "cloudProfileName")
    yield from _named_once(document, spec, ("extensions",), "type")
    yield from _named_once(document, spec, ("resources",), "name")
    yield from _named_once(document, spec, ("provider", "workers"), "name")


def _named_once(document: Document, spec: dict[str, Any], path: tuple[str, ...], key: str) -> Iterator[Violation]:
    """A list of a Shoot whose elements are told apart by one of their fields."""
    place = ".".join(("spec", *path))
    items = get(spec, *path)
    if items is None:
        return
    if not isinstance(items, list):
        yield document.violation("wrong-type", f"{place} must be a list", "spec", *path)
        return
    seen: set[str] = set()
    for at, item in enumerate(items):
        name = item.get(key) if isinstance(item, dict) else None
        if not isinstance(name, str):
            yield document.violation("no-list-key", f"every element of {place} needs its {key}", "spec", *path, at)
        elif name in seen:
            yield document.violation("duplicate-element", f"{place} has {key} {name!r} twice", "spec", *path, at)
        else:
            seen.add(name)


def policy_violations(document: Document) -> list[Violation]:
    """Rules for what goes inside the shoots."""
    if wrong := object_violations(document):
        return wrong
    manifest = document.manifest
    group, kind = group_of(manifest["apiVersion"]), manifest["kind"]
    if group in _GARDEN_GROUPS:
        message = (
            f"{kind} ({group}) is an object of the garden: Shoots and registrations go under resources, nothing else"
        )
        return [document.violation("garden-object", message, "kind")]
    if group == _OURS:
        message = f"{kind} is for this tool and no server: name the folder of the policies, not one above it"
        return [document.violation("not-for-a-server", message, "kind")]
    scope, namespace = scope_of(group, kind), manifest["metadata"].get("namespace")
    if scope is Scope.NAMESPACED and namespace is None:
        message = f"{kind} is namespaced, and metadata.namespace is missing"
        if group == "config.nri":
            message += ": write the plugin's own namespace, kube-system with the upstream charts; it reads no other"
        return [document.violation("no-namespace", message, "metadata")]
    if scope is Scope.CLUSTER and namespace is not None:
        message = f"{kind} is cluster-scoped: remove metadata.namespace"
        return [document.violation("needless-namespace", message, "metadata", "namespace")]
    return []
