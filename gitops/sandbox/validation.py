"""What a CRD's schema says about an object, in the words of the real server.

Follows kube-openapi pkg/validation and apiextensions-apiserver pkg/apiserver/validation. Of CEL it knows
the one form that the policies use: `self == 'A' || self == 'B'`, with a message or a
messageExpression of literals and self.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitops.sandbox.schema import Schema
from gitops.sandbox.typed import element, equal
from gitops.sandbox.wire import Cause, Manifest, duplicate, invalid_value, required, type_invalid, unsupported

_SKIPPED = Cause(
    "<nil>",
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    f"'{SUBDOMAIN}')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    f"'{_LABEL}')"
)
_NAME_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{_NAME_PART}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    f"for validation is '({_NAME_PART})?')"
)


def subdomain(path: str, value: str) -> Iterator[Cause]:
    """Yield what is wrong with a DNS-1123 subdomain."""
    if len(value) > 253:
        yield invalid_value(path, value, "must be no more than 253 bytes")
    if not re.fullmatch(SUBDOMAIN, value):
        yield invalid_value(path, value, _SUBDOMAIN_TEXT)


def label(path: str, value: str) -> Iterator[Cause]:
    """Yield what is wrong with a DNS-1123 label."""
    if len(value) > 63:
        yield invalid_value(path, value, "must be no more than 63 bytes")
    if "." in value:
        yield invalid_value(path, value, "must not contain dots")
    elif not re.fullmatch(_LABEL, value):
        yield invalid_value(path, value, _LABEL_TEXT)


def metadata(manifest: Manifest) -> Iterator[Cause]:
    """Yield what is wrong with an object's name, labels and annotations (apimachinery pkg/api/validation)."""
    meta = manifest["metadata"]
    if not meta.get("name"):
        yield required("metadata.name", "name or generateName is required")
    elif manifest.get("kind") == "Namespace":
        yield from label("metadata.name", meta["name"])
    elif "rbac" not in manifest.get("apiVersion", ""):
        yield from subdomain("metadata.name", meta["name"])
    for key, value in (meta.get("labels") or {}).items():
        yield from _qualified_name("metadata.labels", key, key)
        if len(value) > 63:
            yield invalid_value("metadata.labels", value, "must be no more than 63 bytes")
        if value and not re.fullmatch(_NAME_PART, value):
            yield invalid_value("metadata.labels", value, _VALUE_TEXT)
    for key in meta.get("annotations") or {}:
        yield from _qualified_name("metadata.annotations", key, key.lower())


def _qualified_name(path: str, shown: str, name: str) -> Iterator[Cause]:
    prefix, slash, part = name.rpartition("/")
    if slash and not prefix:
        yield invalid_value(path, shown, "prefix part must be non-empty")
    elif slash and not re.fullmatch(SUBDOMAIN, prefix):
        yield invalid_value(path, shown, f"prefix part {_SUBDOMAIN_TEXT}")
    if not part:
        yield invalid_value(path, shown, "name part must be non-empty")
    elif len(part) > 63:
        yield invalid_value(path, shown, "name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME_PART, part):
        yield invalid_value(path, shown, _NAME_PART_TEXT)


def custom_resource(manifest: Manifest, schema: Schema) -> list[Cause]:
    """Return every cause for which a custom resource is refused."""
    causes = list(_node(manifest, schema, "", ""))
    if causes and schema.has_rules:
        causes.append(_SKIPPED)
    causes += _duplicates(manifest, schema, "")
    return causes or list(_rules(manifest, schema, ""))


def status_of(manifest: Manifest, schema: Schema) -> list[Cause]:
    """Return the causes for which a status is refused; type errors name the path below it."""
    causes = list(_node(manifest.get("status"), schema.properties["status"], "status", ""))
    return [*causes, _SKIPPED] if causes and schema.has_rules else causes


def _node(value: Any, schema: Schema, path: str, shown: str) -> Iterator[Cause]:
    """Yield what is wrong with a value; `shown` is its path in texts, which may begin below status."""
    wrong = _wrong_type(value, schema)
    if wrong:
        yield type_invalid(path, wrong, f'{shown} in body must be of type {_expected(schema)}: "{wrong}"')
        yield from _enumerated(value, schema, path)
        return
    yield from _scalar(value, schema, path, shown)
    if isinstance(value, dict):
        for name in schema.raw.get("required", ()):
            if name not in value:
                yield required(_below(path, name))
        for name, item in value.items():
            known = schema.field(name)
            if known is not None:
                yield from _node(item, known, _below(path, name), _below(shown, name))
    elif isinstance(value, list):
        yield from _list(value, schema, path)
        for index, item in enumerate(value):
            yield from _node(item, schema.items, f"{path}[{index}]", f"{shown}[{index}]")


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _expected(schema: Schema) -> str:
    return "integer,string" if schema.raw.get("x-kubernetes-int-or-string") else schema.type


def _wrong_type(value: Any, schema: Schema) -> str:
    """Return the JSON type of a value its schema does not allow; empty where it fits."""
    if value is None:
        return "" if schema.raw.get("nullable") or not schema.type else "null"
    name = _json_type(value)
    if schema.raw.get("x-kubernetes-int-or-string"):
        return "" if name in {"integer", "string"} else name
    fits = not schema.type or name == schema.type or (schema.type == "number" and name == "integer")
    return "" if fits else name


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {
        dict: "object",
        list: "array",
        str: "string",
        int: "integer",
        float: "number",
        type(None): "null",
    }
    return names[type(value) if type(value) in names else dict]


def _scalar(value: Any, schema: Schema, path: str, shown: str) -> Iterator[Cause]:
    raw = schema.raw
    yield from _enumerated(value, schema, path)
    if isinstance(value, str):
        yield from _length(value, schema, path, shown)
        if not _well_formed(value, raw.get("format", "")):
            yield type_invalid(path, value, f'{shown} in body must be of type {raw["format"]}: "{value}"')
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < raw.get("minimum", value):
            yield invalid_value(path, value, f"{shown} in body should be greater than or equal to {raw['minimum']}")
        if value > raw.get("maximum", value):
            yield invalid_value(path, value, f"{shown} in body should be less than or equal to {raw['maximum']}")


def _length(value: str, schema: Schema, path: str, shown: str) -> Iterator[Cause]:
    """Yield the first of what is wrong with a text's length and pattern."""
    longest, shortest = schema.raw.get("maxLength"), schema.raw.get("minLength", 0)
    pattern = schema.raw.get("pattern", "")
    if longest is not None and len(value) > longest:
        yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {longest} bytes")
    elif len(value) < shortest:
        yield invalid_value(path, value, f"{shown} in body should be at least {shortest} chars long")
    elif not re.search(pattern, value):
        yield invalid_value(path, value, f"{shown} in body should match '{pattern}'")


_FORMATS = {
    "duration": r"(-?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+|0|\d+ (\w+)",
    "date-time": r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
}


def _well_formed(value: str, format_: str) -> bool:
    pattern = _FORMATS.get(format_)
    return pattern is None or re.fullmatch(pattern, value) is not None


def _list(value: list[Any], schema: Schema, path: str) -> Iterator[Cause]:
    raw = schema.raw
    if len(value) < raw.get("minItems", 0):
        yield invalid_value(path, len(value), f"{path} in body should have at least {raw['minItems']} items")
    if len(value) > raw.get("maxItems", len(value)):
        text = f"Too many: {len(value)}: must have at most {raw['maxItems']} items"
        yield Cause(path, "FieldValueTooMany", text)


def _enumerated(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    choices = schema.raw.get("enum")
    if choices is not None and not any(equal(value, choice) for choice in choices):
        yield unsupported(path, value, choices)


def _duplicates(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    """Yield items that stand twice in a set or a keyed list."""
    if isinstance(value, dict):
        for name, item in value.items():
            known = schema.field(name)
            if known is not None:
                yield from _duplicates(item, known, _below(path, name))
    if not isinstance(value, list) or not isinstance(schema.raw.get("items"), Mapping):
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        yield from _duplicates(item, schema.items, f"{path}[{index}]")
        if schema.list_kind == "map" and not isinstance(item, dict):
            text = "must be an object for an array of list-type map"
            yield invalid_value(f"{path}[{index}]", item, text)
            continue
        key = element(schema, item, index)
        if key in seen:
            shown = item if schema.list_kind == "set" else {name: item.get(name) for name in schema.list_keys}
            yield duplicate(f"{path}[{index}]", shown)
        seen.add(key)


def _rules(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    for rule in schema.raw.get("x-kubernetes-validations", ()):
        choices = re.findall(r"self == '([^']*)'", rule["rule"])
        if re.sub(r"self == '[^']*'|\|\||\s", "", rule["rule"]) == "" and value not in choices:
            yield invalid_value(path, value, _rule_message(rule, value))
    if isinstance(value, dict):
        for name, item in value.items():
            known = schema.field(name)
            if known is not None:
                yield from _rules(item, known, _below(path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _rules(item, schema.items, f"{path}[{index}]")


def _rule_message(rule: Manifest, value: Any) -> str:
    if "messageExpression" not in rule:
        return str(rule.get("message", f"failed rule: {rule['rule']}"))
    parts = re.findall(r'"([^"]*)"|\b(self)\b', rule["messageExpression"])
    return "".join(str(value) if own else " ".join(text.split(" ")) for text, own in parts)
