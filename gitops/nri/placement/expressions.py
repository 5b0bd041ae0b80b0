"""Match expressions of balloon types, as far as an API server can tell their keys.

Source: nri-plugins pkg/apis/resmgr/v1alpha1/expression.go. Keys that only the runtime knows (`id`, `tags/…`, container
`labels/…`) and joint keys cannot be told from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.acceptance.globs import glob_matches


class Undecidable(Exception):  # noqa: N818 - reads as what it is
    """What a key holds is known to the node alone."""


def matches(expression: Any, pod: Manifest, container: str) -> bool:
    """Whether an expression holds for a container of a pod.

    Raises:
        Undecidable: its key cannot be told from the API.
    """
    operator = str(get(expression, "operator"))
    if operator == "AlwaysTrue":
        return True
    value = _value(str(get(expression, "key") or ""), pod, container)
    values = [str(entry) for entry in get(expression, "values") or ()]
    if operator in {"Exists", "NotExist"}:
        return (value is not None) is (operator == "Exists")
    positive = _NEGATIONS.get(operator, operator)
    if positive not in _TESTS:
        raise Undecidable(f"operator {operator}")
    found = value is not None and any(_TESTS[positive](value, entry) for entry in values)
    return found is (positive == operator)


def _equals(value: str, entry: str) -> bool:
    return entry in ("*", value)


_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "Equals": _equals,
    "In": _equals,
    "Matches": lambda value, entry: glob_matches(entry, value),
    "MatchesAny": lambda value, entry: glob_matches(entry, value),
}
_NEGATIONS = {"NotEqual": "Equals", "NotIn": "In", "MatchesNot": "Matches", "MatchesNone": "MatchesAny"}


def _value(key: str, pod: Manifest, container: str) -> str | None:
    metadata, status = get(pod, "metadata"), get(pod, "status")
    known: dict[str, Any] = {
        "name": container,
        "namespace": get(metadata, "namespace"),
        "qosclass": get(status, "qosClass"),
        "pod/name": get(metadata, "name"),
        "pod/namespace": get(metadata, "namespace"),
        "pod/qosclass": get(status, "qosClass"),
        "pod/uid": get(metadata, "uid"),
    }
    if key in known:
        value = known[key]
    elif key.startswith("pod/labels/"):
        value = get(metadata, "labels", key.removeprefix("pod/labels/"))
    else:
        raise Undecidable(f"key {key}")
    return None if value is None else str(value)
