"""What is wrong with an overlay by its schema, in words and with lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema

from gitops.desired.documents import Document
from gitops.desired.schema import OVERLAY_SCHEMA
from gitops.errors import Violation

_TYPES = {
    "object": "a map",
    "array": "a list",
    "string": "text in quotes",
    "integer": "a whole number",
    "boolean": "true or false",
}
_VALIDATOR = jsonschema.Draft202012Validator(OVERLAY_SCHEMA)


def schema_violations(overlay: Document) -> list[Violation]:
    """Every rule of the schema that an overlay breaks, each on the line of its key."""
    return [violation for error in _VALIDATOR.iter_errors(overlay.manifest) for violation in _explained(overlay, error)]


def _explained(overlay: Document, error: jsonschema.ValidationError) -> Iterator[Violation]:
    path = tuple(error.absolute_path)
    place, rule = _place(path), error.schema if isinstance(error.schema, dict) else {}
    match error.validator:
        case "additionalProperties":
            yield from _unknown_keys(overlay, path, rule["properties"])
        case "required":
            # The library reports each missing key by itself, and names it first.
            key = next(key for key in rule["required"] if error.message.startswith(repr(key)))
            yield overlay.violation("missing-key", f"{place} lacks {key!r}", *path)
        case "oneOf":
            yield overlay.violation("patch-text", f"{place} needs exactly one of 'patch' and 'path'", *path)
        case "minItems":
            yield overlay.violation("too-few", f"{place} needs at least one entry", *path)
        case "type":
            wanted = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
            kinds = " or ".join(_TYPES[kind] for kind in wanted)
            yield overlay.violation("wrong-type", f"{place} must be {kinds}, not {_shown(error.instance)}", *path)
        case _:
            expected = rule.get("description", error.message)
            yield overlay.violation("wrong-value", f"{place} is {_shown(error.instance)}; expected {expected}", *path)


def _unknown_keys(overlay: Document, path: tuple[str | int, ...], known: dict[str, Any]) -> Iterator[Violation]:
    for key in _at(overlay.manifest, path):
        if key not in known:
            yield overlay.violation("unknown-key", _unknown(_place(path), key, known), *path, key)


def _unknown(place: str, key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
    return f"{place} has no key {key!r}: {hint}"


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _place(path: Iterable[str | int]) -> str:
    """`spec.waves[0].name`, or `the overlay` for its root."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the overlay"


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    return "a map" if isinstance(value, dict) else "a list" if isinstance(value, list) else repr(value)
