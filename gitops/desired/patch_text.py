"""A patch as overlays write it, inline or in a file, read into JSON 6902 operations or strategic merge documents."""

from __future__ import annotations

import re
from typing import Any

from gitops.desired.patches import PatchTarget
from gitops.desired.selector import parse_selector
from gitops.manifest import Manifest, get

_OPERATIONS = {
    "add": ("value",),
    "remove": (),
    "replace": ("value",),
    "move": ("from",),
    "copy": ("from",),
    "test": ("value",),
}
# Python's syntax that Go's regular expressions (RE2) do not have.
_NOT_IN_GO = re.compile(r"\(\?(?:[=!]|<[=!]|\()|\\[1-9]")


def read_patch(
    values: list[Any], target: PatchTarget | None
) -> tuple[tuple[dict[str, Any], ...], tuple[Manifest, ...]]:
    """The operations and the documents of a patch's YAML values; one of the two is empty.

    Raises:
        ValueError: it is neither kind of patch; the message says what is missing.
    """
    if len(values) == 1 and isinstance(values[0], list):
        if target is None:
            raise ValueError("a JSON 6902 patch needs a target that says which objects it changes")
        return tuple(_operation(number, item) for number, item in enumerate(values[0], 1)), ()
    if not values:
        raise ValueError("the patch is empty")
    if len(values) > 1 and target is not None:
        raise ValueError("several strategic merge documents cannot share a target: write one entry for each")
    documents = [value for value in values if isinstance(value, dict)]
    if len(documents) < len(values):
        raise ValueError("a patch is a list of JSON 6902 operations, or a map to be merged")
    for document in documents:
        _check_document(document, target)
    return (), tuple(documents)


def _operation(number: int, item: Any) -> dict[str, Any]:
    if not isinstance(item, dict) or item.get("op") not in _OPERATIONS:
        raise ValueError(f"operation {number} must be a map whose op is one of {', '.join(_OPERATIONS)}")
    for key in ("path", *_OPERATIONS[item["op"]]):
        if key not in item:
            raise ValueError(f"operation {number} ({item['op']}) lacks {key!r}")
        if key in {"path", "from"} and not (isinstance(item[key], str) and item[key].startswith("/")):
            raise ValueError(f"operation {number} ({item['op']}): {key} must be a JSON pointer such as /spec/pinCPU")
    return item


def _check_document(value: Manifest, target: PatchTarget | None) -> None:
    needed = [("kind",), ("metadata", "name")] + ([("apiVersion",)] if target is None else [])
    for path in needed:
        found = get(value, *path)
        if not isinstance(found, str) or not found:
            raise ValueError(f"a strategic merge patch needs {'.'.join(path)}, as kustomize does")


def read_target(raw: dict[str, Any]) -> PatchTarget:
    """A kustomize target whose shape the overlay's schema has already checked.

    Raises:
        ValueError: a part is no regular expression, or no label selector; the message says which.
    """
    names = {key: _pattern(key, raw[key]) for key in ("group", "version", "kind", "name", "namespace") if raw.get(key)}
    selectors = {
        key: parse_selector(raw[key + "Selector"]) for key in ("label", "annotation") if raw.get(key + "Selector")
    }
    return PatchTarget(**names, labels=selectors.get("label"), annotations=selectors.get("annotation"))


def _pattern(key: str, text: str) -> re.Pattern[str]:
    if _NOT_IN_GO.search(text):
        raise ValueError(f"{key} {text!r} uses what kustomize's regular expressions do not have")
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{key} {text!r} is not a regular expression: {error} (any text is `.*`)") from error
