"""Custom resources: what a CustomResourceDefinition makes a cluster serve."""

import json
from collections.abc import Iterator
from functools import lru_cache

from gitops.sandbox.kinds import Column, Resource, Rules, at
from gitops.sandbox.schema import custom
from gitops.sandbox.wire import Manifest, encoded

GROUP = "apiextensions.k8s.io"
PLURAL = "customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def established_status(crd: Manifest, now: str) -> Manifest:
    """Return the status a CRD gets once its resource is served."""
    accepted = crd["spec"]["names"]
    conditions = [
        _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
        _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
    ]
    stored = crd.get("status", {}).get("storedVersions") or []
    return {"conditions": conditions, "acceptedNames": accepted, "storedVersions": stored}


def _condition(kind: str, reason: str, message: str, now: str) -> Manifest:
    return {"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message}


def is_established(crd: Manifest) -> bool:
    """Tell whether a CRD's resource is served."""
    conditions = crd.get("status", {}).get("conditions") or ()
    return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)


def served(crd: Manifest) -> Iterator[Resource]:
    """Yield a CRD's resource in each of its served versions, the storage version last."""
    spec = crd["spec"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    for version in sorted(spec["versions"], key=lambda item: item["name"] == storage):
        if version.get("served"):
            yield _resource(encoded(spec).decode(), version["name"], storage)


@lru_cache(maxsize=256)
def _resource(text: str, name: str, storage: str) -> Resource:
    """Build a resource once for all shoots that have the same CRD."""
    spec = json.loads(text)
    version = next(item for item in spec["versions"] if item["name"] == name)
    names = spec["names"]
    has_status = "status" in (version.get("subresources") or {})
    schema = custom(version.get("schema", {}).get("openAPIV3Schema", {}))
    return Resource(
        spec["group"],
        name,
        names["kind"],
        names["plural"],
        schema,
        namespaced=spec["scope"] == "Namespaced",
        custom=True,
        storage_version=storage,
        subresources=("status",) if has_status else (),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        columns=tuple(_column(item) for item in version.get("additionalPrinterColumns") or ()),
        rules=Rules(raises_generation=_content_changed if has_status else _anything_changed),
        blind_update=False,
    )


def _content_changed(new: Manifest, old: Manifest) -> bool:
    return _without(new, "metadata", "status") != _without(old, "metadata", "status")


def _anything_changed(new: Manifest, old: Manifest) -> bool:
    return _without(new, "metadata") != _without(old, "metadata")


def _without(manifest: Manifest, *names: str) -> Manifest:
    return {key: value for key, value in manifest.items() if key not in names}


def _column(item: Manifest) -> Column:
    path = item["jsonPath"].removeprefix(".")
    return Column(item["name"], lambda manifest: at(manifest, path), item.get("priority", 0))
