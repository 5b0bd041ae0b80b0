"""Bodies: JSON and YAML to objects, and what the server says about unknown, duplicate and mistyped fields.

The texts for built-in kinds follow sigs.k8s.io/json (strict decoding), those for custom resources
k8s.io/apiextensions-apiserver pkg/apiserver (pruning).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from gitops.sandbox.schema import ANYTHING, Schema
from gitops.sandbox.wire import Manifest, bad_request


@dataclass(frozen=True)
class Decoded:
    """A body."""

    manifest: Any
    """The parsed document."""
    duplicates: tuple[str, ...]
    """Paths of keys that stand twice; the last one counts."""


class _Pairs(dict[str, Any]):
    """An object that remembers which of its keys stood twice."""

    twice: list[str]


def _pairs(items: list[tuple[str, Any]]) -> _Pairs:
    found = _Pairs(items)
    names = [name for name, _ in items]
    found.twice = [name for name in found if names.count(name) > 1]
    return found


def decode(body: bytes | None, kind: str) -> Decoded:
    """Parse a body; raises 400 where it is neither JSON nor YAML."""
    text = (body or b"").decode("utf-8", "replace")
    try:
        document = json.loads(text, object_pairs_hook=_pairs)
    except ValueError as problem:
        if text[:1] not in {"{", ""}:
            return _decode_yaml(text)
        shown = text[:30] + (" ..." if len(text) > 30 else "") or "<empty>"
        reason = "unexpected end of JSON input" if not text else f"invalid JSON: {problem}"
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): "
            f"couldn't get version/kind; json parse error: {reason} ({shown})"
        ) from problem
    twice = tuple(_duplicates(document, ""))
    return Decoded(json.loads(text) if twice else document, twice)


def _decode_yaml(text: str) -> Decoded:
    try:
        return Decoded(yaml.load(text, Loader=_Loader), ())  # noqa: S506 - a safe loader
    except yaml.YAMLError as problem:
        raise bad_request(f"error decoding patch: error converting YAML to JSON: {problem}") from problem


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's, where it is there
    """Reads YAML as the server does: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in _Loader.yaml_implicit_resolvers.items()
}


def _duplicates(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        yield from (_join(path, name) for name in value.twice)
        for name, item in value.items():
            yield from _duplicates(item, _join(path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{index}]")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def prune(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Drop undeclared fields in place and yield their paths."""
    if schema.is_scalar or (not schema.type and schema.open):
        return
    if isinstance(value, dict):
        for name in list(value):
            known = schema.field(name)
            if known is None:
                yield _join(path, name)
                del value[name]
            else:
                yield from prune(value[name], known, _join(path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from prune(item, schema.items, f"{path}[{index}]")


def default(value: Any, schema: Schema) -> None:
    """Fill in a CRD's defaults in place; a null that may not be null is replaced by a default."""
    if isinstance(value, dict):
        for name, known in schema.properties.items():
            is_absent = name not in value or (value[name] is None and not known.raw.get("nullable"))
            if is_absent and "default" in known.raw:
                value[name] = json.loads(json.dumps(known.raw["default"]))
        for name, item in value.items():
            below = schema.field(name)
            if below is not None:
                default(item, below)
    elif isinstance(value, list):
        for item in value:
            default(item, schema.items)


def prune_nulls(value: Any, schema: Schema) -> None:
    """Drop nulls where a CRD allows none, in place: decoding does so, an apply does not."""
    if isinstance(value, dict):
        for name, item in list(value.items()):
            known = schema.field(name)
            if item is None and name in schema.properties and not schema.properties[name].raw.get("nullable"):
                del value[name]
            elif known is not None:
                prune_nulls(item, known)
    elif isinstance(value, list):
        for item in value:
            prune_nulls(item, schema.items)


_GO_TYPES = {"integer": "int32", "number": "float64", "boolean": "bool", "string": "string"}


def mistyped(value: Any, schema: Schema, path: str = "", struct: str = "") -> Iterator[str]:
    """Yield Go's complaints about values of a built-in kind that its structs cannot hold.

    They name the struct that has the field, and the field's path without indices.
    """
    if value is None or not schema.type:
        return
    where = f"{struct}.{path}"
    if schema.type not in {"object", "array"}:
        yield from _mistyped_scalar(value, schema, where)
    elif not isinstance(value, dict if schema.type == "object" else list):
        if schema.type == "array" or schema.properties or schema.values:
            yield _unmarshal(value, where, _go_type(schema))
    elif isinstance(value, list):
        for item in value:
            yield from mistyped(item, schema.items, path, struct)
    else:
        for name, item in value.items():
            known = schema.field(name)
            if known is not None and name in schema.properties:
                yield from mistyped(item, known, _join(path, name), schema.name.rpartition(".")[2])
            elif known is not None:
                yield from mistyped(item, known, path, struct)


def _mistyped_scalar(value: Any, schema: Schema, where: str) -> Iterator[str]:
    format_ = schema.raw.get("format")
    if not _fits(value, schema.type) and format_ not in {"date-time", "byte"}:
        yield _unmarshal(value, where, _go_type(schema))


def _go_type(schema: Schema) -> str:
    if schema.type == "array":
        return f"[]{_go_type(schema.items)}"
    if schema.type == "object":
        return schema.name or f"map[string]{_go_type(schema.values) if schema.values else 'string'}"
    format_ = schema.raw.get("format")
    return format_ if format_ in {"int32", "int64"} else _GO_TYPES.get(schema.type, "string")


def _fits(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    kinds: dict[str, Any] = {"integer": int, "number": int | float, "string": str, "boolean": bool}
    return isinstance(value, kinds[type_])


def _unmarshal(value: Any, where: str, go: str) -> str:
    number = f"number {value}" if isinstance(value, float) else "number"
    name = {bool: "bool", str: "string", dict: "object", list: "array"}.get(type(value), number)
    return f"json: cannot unmarshal {name} into Go struct field {where} of type {go}"


def as_go(value: Any, schema: Schema) -> Any:
    """Return what Go keeps of a value: no nulls, and no empty maps and lists where they are optional."""
    if isinstance(value, list):
        return [as_go(item, schema.items) for item in value]
    if not isinstance(value, dict):
        return value
    needed = schema.raw.get("required", ())
    kept = {}
    for name, item in value.items():
        below = schema.field(name) or ANYTHING
        is_collection = below.type == "array" or isinstance(below.raw.get("additionalProperties"), Mapping)
        if item is not None and not (is_collection and not item and name not in needed):
            kept[name] = as_go(item, below)
    return kept


def metadata_as_go(manifest: Manifest, schema: Schema) -> None:
    """Let a custom resource's metadata be as Go keeps it, in place."""
    manifest["metadata"] = as_go(manifest.get("metadata") or {}, schema.properties["metadata"])


def plain(manifest: Any) -> Manifest:
    """Return a deep copy made of plain dicts and lists."""
    copy: Manifest = json.loads(json.dumps(manifest))
    return copy
