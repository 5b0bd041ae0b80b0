"""The three patches that are not an apply: JSON (RFC 6902), merge (RFC 7386) and strategic merge.

Strategic merge follows apimachinery pkg/util/strategicpatch: $patch (replace, delete, merge), $retainKeys,
$deleteFromPrimitiveList and $setElementOrder (the latter only for the order of keyed lists).
"""

import json
from collections.abc import Callable
from typing import Any

import jsonpatch
import jsonpointer

from gitops.sandbox.schema import ANYTHING, Schema
from gitops.sandbox.wire import ApiError, bad_request

_REJECTED = "the server rejected our request due to an error in our request"


def json_patch(document: Any, patch: Any) -> Any:
    """Apply a JSON patch; any operation that fails gives the server's unspecific 422."""
    if not isinstance(patch, list):
        what = "object" if isinstance(patch, dict) else "string"
        text = f"json: cannot unmarshal {what} into Go value of type []handlers.jsonPatchOp"
        raise bad_request(f"error decoding patch: {text}")
    try:
        return jsonpatch.apply_patch(document, [_lenient(document, step) for step in patch])
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError, KeyError) as problem:
        raise ApiError(422, "Invalid", _REJECTED, {}) from problem


def _lenient(document: Any, step: Any) -> Any:
    """Let `replace` add a missing map key, as the server's library does."""
    if not isinstance(step, dict) or step.get("op") != "replace":
        return step
    parent = jsonpointer.resolve_pointer(document, step.get("path", "").rpartition("/")[0], None)
    return {**step, "op": "add"} if isinstance(parent, dict) and step.get("path") else step


def merge_patch(document: Any, patch: Any) -> Any:
    """Apply a merge patch: null removes, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def strategic_merge_patch(document: Any, patch: Any, schema: Schema) -> Any:
    """Apply a strategic merge patch: lists with a merge key are merged by it."""
    directive = patch.get("$patch")
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    if directive == "delete":
        return {}
    merged = dict(document) if isinstance(document, dict) else {}
    if "$retainKeys" in patch:
        merged = {name: value for name, value in merged.items() if name in patch["$retainKeys"]}
    for name, value in patch.items():
        if name.startswith("$deleteFromPrimitiveList/"):
            target = name.partition("/")[2]
            merged[target] = [item for item in merged.get(target, ()) if item not in value]
        elif name.startswith("$"):
            continue
        elif value is None:
            merged.pop(name, None)
        else:
            below = schema.field(name) or ANYTHING
            order = patch.get(f"$setElementOrder/{name}")
            merged[name] = _merged(merged.get(name), value, below, order)
    return merged


def _merged(current: Any, value: Any, schema: Schema, order: list[Any] | None = None) -> Any:
    if isinstance(value, dict):
        return strategic_merge_patch(current, value, schema)
    if not isinstance(value, list) or not isinstance(current, list):
        return _without_directives(value)
    if schema.merge_key:
        return _merge_list(current, value, schema, order)
    if schema.list_kind == "set" and "x-kubernetes-patch-strategy" in schema.raw:
        both = current + [item for item in value if item not in current]
        return _in_order(both, [json.dumps(item) for item in order or value], current, json.dumps)
    return value


def _without_directives(value: Any) -> Any:
    if isinstance(value, list):
        kept = [item for item in value if not (isinstance(item, dict) and item.get("$patch") == "delete")]
        return [_without_directives(item) for item in kept]
    if isinstance(value, dict):
        return {name: _without_directives(item) for name, item in value.items() if not name.startswith("$")}
    return value


def _merge_list(current: list[Any], patch: list[Any], schema: Schema, order: list[Any] | None) -> list[Any]:
    key = schema.merge_key
    if any(item.get("$patch") == "replace" for item in patch):
        return [_without_directives(item) for item in patch if item.get("$patch") != "replace"]
    merged = list(current)
    for item in patch:
        if key not in item:
            raise ApiError(500, "", f"map: {item} does not contain declared merge key: {key}")
        position = next((at for at, old in enumerate(merged) if old.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            merged = [old for old in merged if old.get(key) != item[key]]
        elif position is None:
            merged.append(_without_directives(item))
        else:
            merged[position] = strategic_merge_patch(merged[position], item, schema.items)
    wanted = [item.get(key) for item in order or patch]
    return _in_order(merged, wanted, current, lambda item: item.get(key))


def _in_order(merged: list[Any], wanted: list[Any], current: list[Any], key: Callable[[Any], Any]) -> list[Any]:
    """Sort a merged list: the patch's items in its order, the others where they stood before."""
    before = [key(item) for item in current]
    items = {key(item): item for item in merged}
    ours = [name for name in dict.fromkeys(wanted) if name in items]
    theirs = [name for name in before if name in items and name not in ours]
    result = []
    while ours or theirs:
        is_theirs = bool(theirs) and (
            not ours or (ours[0] in before and before.index(theirs[0]) < before.index(ours[0]))
        )
        result.append(items[(theirs if is_theirs else ours).pop(0)])
    return result
