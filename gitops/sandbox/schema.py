"""Schemas as one tree, whatever they come from: the real server's OpenAPI v3, or a CRD.

A Schema answers what server-side apply, strategic merge, pruning and validation ask: which fields, which
element type, which list is keyed by what. The fallback from a missing list type to patchStrategy and
patchMergeKey follows kube-openapi pkg/schemaconv/smd.go; without either a list is atomic.
"""

import json
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal

ListKind = Literal["atomic", "set", "map"]

_REF = "#/components/schemas/"


class Schema:
    """One node of a schema tree; children are resolved when asked for."""

    def __init__(self, raw: Mapping[str, Any], definitions: Mapping[str, Any], name: str = "") -> None:
        self._definitions = definitions
        self.raw: Mapping[str, Any] = _resolved(raw, definitions)
        """The JSON schema itself, references resolved one level."""
        self.name = name or ".".join(_reference(raw).split(".")[-2:])
        """The Go type of a built-in kind's schema, e.g. v1.Container; empty where it has none."""

    def _child(self, raw: Mapping[str, Any]) -> "Schema":
        return Schema(raw, self._definitions)

    @cached_property
    def type(self) -> str:
        """A JSON schema type; empty where anything goes (int-or-string, quantities, raw JSON)."""
        return str(self.raw.get("type", ""))

    @cached_property
    def properties(self) -> dict[str, "Schema"]:
        """Declared fields."""
        return {name: self._child(raw) for name, raw in self.raw.get("properties", {}).items()}

    @cached_property
    def values(self) -> "Schema | None":
        """The schema of undeclared keys; None where there may be none."""
        extra = self.raw.get("additionalProperties")
        if isinstance(extra, Mapping):
            return self._child(extra)
        return ANYTHING if extra or self.open else None

    @cached_property
    def items(self) -> "Schema":
        """The schema of a list's items."""
        return self._child(self.raw["items"]) if "items" in self.raw else ANYTHING

    @cached_property
    def open(self) -> bool:
        """Whether unknown fields are kept: x-kubernetes-preserve-unknown-fields, or none is declared."""
        if self.raw.get("x-kubernetes-preserve-unknown-fields"):
            return True
        declares = "properties" in self.raw or "additionalProperties" in self.raw
        return self.type in {"object", ""} and not declares and not self.is_scalar

    @cached_property
    def is_scalar(self) -> bool:
        """Whether values are leaves: strings, numbers, booleans, quantities, int-or-strings."""
        scalar_any = bool(self.raw.get("x-kubernetes-int-or-string") or self.raw.get("oneOf"))
        return scalar_any or self.type not in {"", "object", "array"}

    @cached_property
    def is_atomic_map(self) -> bool:
        """Whether an object has one owner as a whole."""
        return self.raw.get("x-kubernetes-map-type") == "atomic"

    @cached_property
    def list_kind(self) -> ListKind:
        """How a list merges."""
        declared = self.raw.get("x-kubernetes-list-type")
        if declared:
            return declared  # type: ignore[no-any-return]  # the schema's own enum
        if "merge" in self.raw.get("x-kubernetes-patch-strategy", "").split(","):
            return "map" if "x-kubernetes-patch-merge-key" in self.raw else "set"
        return "atomic"

    @cached_property
    def list_keys(self) -> tuple[str, ...]:
        """The keys of a keyed list, in order."""
        keys = self.raw.get("x-kubernetes-list-map-keys")
        return tuple(keys) if keys else (str(self.raw.get("x-kubernetes-patch-merge-key", "")),)

    @cached_property
    def merge_key(self) -> str:
        """The key by which a strategic merge patch pairs items; empty where the list is replaced."""
        strategy = self.raw.get("x-kubernetes-patch-strategy", "").split(",")
        return str(self.raw.get("x-kubernetes-patch-merge-key", "")) if "merge" in strategy else ""

    @cached_property
    def has_rules(self) -> bool:
        """Whether the schema holds a CEL rule anywhere."""
        return "x-kubernetes-validations" in json.dumps(self.raw)

    def field(self, name: str) -> "Schema | None":
        """Return the schema of one key, declared or not; None where the key may not be."""
        return self.properties.get(name) or self.values


def _reference(raw: Mapping[str, Any]) -> str:
    reference = raw.get("$ref") or (raw["allOf"][0].get("$ref") if "allOf" in raw else None)
    return str(reference or "").removeprefix(_REF)


def _resolved(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = _reference(raw)
    if not reference:
        return raw
    own = {key: value for key, value in raw.items() if key not in {"$ref", "allOf"}}
    return {**definitions[reference], **own}


ANYTHING = Schema({}, {})
"""Raw JSON: maps are merged key by key, lists are atomic."""


@cache
def definitions() -> Mapping[str, Any]:
    """Return the real server's definitions of the built-in kinds, by their OpenAPI name."""
    text = resources.files(__package__).joinpath("data/schemas.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@cache
def builtin(group: str, version: str, kind: str) -> Schema:
    """Return the schema of a built-in kind; raises KeyError where the sandbox does not know it."""
    for raw in definitions().values():
        for gvk in raw.get("x-kubernetes-group-version-kind", ()):
            if (gvk["group"], gvk["version"], gvk["kind"]) == (group, version, kind):
                return Schema(raw, definitions(), f"{version}.{kind}")
    raise KeyError(f"{group}/{version} {kind}")


def custom(raw: Mapping[str, Any]) -> Schema:
    """Return the schema of a custom resource: its CRD's, with the real metadata, apiVersion and kind."""
    metadata = {"$ref": f"{_REF}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    common = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": metadata}
    return Schema({**raw, "properties": {**raw.get("properties", {}), **common}}, definitions())
