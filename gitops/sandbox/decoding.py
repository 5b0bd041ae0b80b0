"""Bodies: JSON and YAML to objects, and what the server says about unknown, duplicate and mistyped fields.

The texts for built-in kinds follow sigs.k8s.io/json (strict decoding), those for custom resources
k8s.io/apiextensions-apiserver pkg/apiserver (pruning).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from gitops.sandbox.schema import Schema
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
        return Decoded(yaml.load(text, Loader=_LOADER), ())  # noqa: S506 - a safe loader
    except yaml.YAMLError as problem:
        raise bad_request(f"error decoding patch: error converting YAML to JSON: {problem}") from problem


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    """Fill in a CRD's defaults in place; a null that may not be null counts as absent."""
    if isinstance(value, dict):
        for name in [name for name, item in value.items() if item is None]:
            known = schema.properties.get(name)
            if known is not None and not known.raw.get("nullable"):
                del value[name]
        for name, known in schema.properties.items():
            if name not in value and "default" in known.raw:
                value[name] = json.loads(json.dumps(known.raw["default"]))
        for name, item in value.items():
            below = schema.field(name)
            if below is not None:
                default(item, below)
    elif isinstance(value, list):
        for item in value:
            default(item, schema.items)


_GO_TYPES = {"integer": "int32", "number": "float64", "boolean": "bool", "string": "string"}


def mistyped(value: Any, schema: Schema, where: str) -> Iterator[str]:
    """Yield Go's complaints about values of a built-in kind that its structs cannot hold."""
    if value is None or not schema.type:
        return
    if schema.type not in {"object", "array"}:
        yield from _mistyped_scalar(value, schema, where)
    elif not isinstance(value, dict if schema.type == "object" else list):
        if schema.type == "array":
            yield _unmarshal(value, where, f"[]{_struct(schema.items)}")
        elif schema.properties or schema.values:
            yield _unmarshal(value, where, _struct(schema))
    elif isinstance(value, list):
        for item in value:
            yield from mistyped(item, schema.items, where)
    else:
        for name, item in value.items():
            known = schema.field(name)
            if known is not None:
                yield from mistyped(item, known, f"{where}.{name}" if name in schema.properties else where)


def _mistyped_scalar(value: Any, schema: Schema, where: str) -> Iterator[str]:
    format_ = schema.raw.get("format")
    if _fits(value, schema.type) or format_ in {"date-time", "byte"}:
        return
    yield _unmarshal(value, where, format_ if format_ in {"int32", "int64"} else _GO_TYPES[schema.type])


def _fits(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    kinds: dict[str, Any] = {"integer": int, "number": int | float, "string": str, "boolean": bool}
    return isinstance(value, kinds[type_])


def _struct(schema: Schema) -> str:
    return _GO_TYPES.get(schema.type, "map[string]string" if not schema.properties else "struct")


def _unmarshal(value: Any, where: str, go: str) -> str:
    number = f"number {value}" if isinstance(value, float) else "number"
    name = {bool: "bool", str: "string", dict: "object", list: "array"}.get(type(value), number)
    return f"json: cannot unmarshal {name} into Go struct field {where} of type {go}"


def drop_nulls(value: Any) -> Any:
    """Return a built-in kind's object as its Go structs would hold it: without nulls."""
    if isinstance(value, dict):
        return {name: drop_nulls(item) for name, item in value.items() if item is not None}
    return [drop_nulls(item) for item in value] if isinstance(value, list) else value


def plain(manifest: Any) -> Manifest:
    """Return a deep copy made of plain dicts and lists."""
    copy: Manifest = json.loads(json.dumps(manifest))
    return copy
