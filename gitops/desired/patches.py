"""Patches as kustomize means them: a target, and JSON 6902 operations or strategic merge documents."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

import jsonpatch
import jsonpointer

from gitops.desired.kinds import Scope, group_of, scope_of
from gitops.desired.selector import Selector, selects
from gitops.desired.strategic import PatchError, strategic_merge
from gitops.manifest import Manifest, get

_NO_NAMESPACE = "_non_namespaceable_"
"""What kustomize calls the namespace of a cluster-scoped object (kyaml/resid)."""


@dataclass(frozen=True)
class PatchTarget:
    """Which objects a patch changes; every part that is given must match.

    The five names are regular expressions that must match as a whole (kustomize api/types/selector.go).
    """

    group: re.Pattern[str] | None = None
    version: re.Pattern[str] | None = None
    kind: re.Pattern[str] | None = None
    name: re.Pattern[str] | None = None
    namespace: re.Pattern[str] | None = None
    labels: Selector | None = None
    annotations: Selector | None = None

    def matches(self, manifest: Manifest) -> bool:
        """Whether the patch is for this object."""
        group, _, version = manifest["apiVersion"].rpartition("/")
        parts = [
            (self.group, group),
            (self.version, version),
            (self.kind, manifest["kind"]),
            (self.name, manifest["metadata"]["name"]),
            (self.namespace, _effective_namespace(manifest)),
        ]
        return (
            all(pattern is None or pattern.fullmatch(value) for pattern, value in parts)
            and selects(self.labels, get(manifest, "metadata", "labels") or {})
            and selects(self.annotations, get(manifest, "metadata", "annotations") or {})
        )


@dataclass(frozen=True)
class PatchRule:
    """One entry of an overlay's `patches`."""

    target: PatchTarget | None
    """None only for strategic merge documents, which then name their object themselves."""
    shoots: Selector | None
    """None means every shoot."""
    operations: tuple[dict[str, Any], ...]
    """JSON 6902, in order; empty for strategic merge."""
    documents: tuple[Manifest, ...]
    """Strategic merge, in order; empty for JSON 6902."""
    file: str
    """The overlay."""
    line: int
    """Where the overlay says so, even if the patch's text stands in a file of its own."""

    def concerns(self, manifest: Manifest) -> bool:
        """Whether applying the rule could change this object."""
        if self.target is not None:
            return self.target.matches(manifest)
        return any(_same_object(document, manifest) for document in self.documents)


def apply_patch(rule: PatchRule, manifest: Manifest) -> Manifest | None:
    """The patched manifest, as a new value; None where the patch deletes the object.

    Raises:
        PatchError: the patch does not apply; the message says why.
    """
    patched: Manifest | None = _operate(rule.operations, manifest) if rule.operations else manifest
    for document in rule.documents:
        if patched is not None and (rule.target is not None or _same_object(document, patched)):
            patched = _merge_document(patched, document)
    if patched is not None and get(patched, "metadata", "annotations") == {}:
        # kustomize never leaves an empty map of annotations behind.
        metadata = {key: value for key, value in patched["metadata"].items() if key != "annotations"}
        patched = {**patched, "metadata": metadata}
    return patched


def _operate(operations: tuple[dict[str, Any], ...], manifest: Manifest) -> Manifest:
    """RFC 6902 to the letter: kustomize also lets `replace` add, and `test` find a null that is not there."""
    try:
        # Older releases of the library put an operation's own value into the document, and later operations change it.
        patched = jsonpatch.JsonPatch(copy.deepcopy(list(operations))).apply(manifest)
    except jsonpatch.JsonPatchTestFailed as error:
        raise PatchError(f"test failed: {error}") from error
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as error:
        raise PatchError(str(error)) from error
    names = (get(patched, "apiVersion"), get(patched, "kind"), get(patched, "metadata", "name"))
    if not all(isinstance(name, str) and name for name in names):
        raise PatchError("it leaves no object with apiVersion, kind and metadata.name behind")
    return dict(patched)


def _merge_document(manifest: Manifest, document: Manifest) -> Manifest | None:
    """Merge, and keep the object's own names whatever the patch calls itself (kustomize api/resource)."""
    merged = strategic_merge(manifest, document)
    if merged is None:
        return None
    metadata = {key: value for key, value in merged["metadata"].items() if key != "namespace"}
    metadata["name"] = manifest["metadata"]["name"]
    if "namespace" in manifest["metadata"]:
        metadata["namespace"] = manifest["metadata"]["namespace"]
    return {**merged, "apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _same_object(one: Manifest, other: Manifest) -> bool:
    return _identity(one) == _identity(other)


def _identity(manifest: Manifest) -> tuple[str, ...]:
    namespace = _effective_namespace(manifest)
    return (manifest["apiVersion"], manifest["kind"], namespace, manifest["metadata"]["name"])


def _effective_namespace(manifest: Manifest) -> str:
    """As kustomize compares namespaces: none is `default`, unless the kind is cluster-scoped."""
    if scope_of(group_of(manifest["apiVersion"]), manifest["kind"]) is Scope.CLUSTER:
        return _NO_NAMESPACE
    return get(manifest, "metadata", "namespace") or "default"
