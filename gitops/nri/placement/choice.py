"""Which balloon type a container belongs in, by its policy: nri-plugins balloons-policy.go (chooseBalloonDef).

An annotation decides first, then the types in their order by expressions and namespaces, and `default` takes the rest.
`reserved` comes first unless it is listed, and takes kube-system and `reservedPoolNamespaces`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.acceptance.globs import glob_matches
from gitops.nri.placement.expressions import Undecidable, matches

RESERVED = "reserved"
DEFAULT = "default"
_DOMAIN = "resource-policy.nri.io"


@dataclass(frozen=True)
class Choice:
    """What a policy says of one container."""

    type: str | None
    """The balloon type; None where it is left alone, or where that cannot be told."""
    reason: str
    """What decided it, for people."""
    preserved: bool = False
    """Whether the plugin leaves the container where it is."""


def chosen_type(spec: Any, pod: Manifest, container: str) -> Choice:
    """The type that a container of a pod belongs in, by the spec of a BalloonsPolicy."""
    if _annotated(pod, container, f"cpu.preserve.{_DOMAIN}") == "true":
        return Choice(None, "its annotation keeps it where it is", preserved=True)
    try:
        if any(matches(expression, pod, container) for expression in get(spec, "preserve", "matchExpressions") or ()):
            return Choice(None, "spec.preserve keeps it where it is", preserved=True)
        if annotated := _annotated(pod, container, f"balloon.balloons.{_DOMAIN}"):
            return Choice(annotated, "by its annotation")
        return _matched(spec, pod, container)
    except Undecidable as unknown:
        return Choice(None, f"only the node can tell ({unknown})")


def balloon_types(spec: Any) -> list[dict[str, Any]]:
    """The types with those that are implied, in the order in which they are tried."""
    listed = [dict(entry) for entry in get(spec, "balloonTypes") or () if get(entry, "name")]
    names = {entry["name"] for entry in listed}
    types = [*([] if RESERVED in names else [{"name": RESERVED}]), *listed]
    types += [] if DEFAULT in names else [{"name": DEFAULT}]
    return [{**entry, "namespaces": list(_namespaces(spec, entry))} for entry in types]


def _namespaces(spec: Any, entry: dict[str, Any]) -> Iterator[str]:
    yield from entry.get("namespaces") or ()
    if entry["name"] == RESERVED:
        yield "kube-system"
        yield from get(spec, "reservedPoolNamespaces") or ()


def _matched(spec: Any, pod: Manifest, container: str) -> Choice:
    namespace = str(get(pod, "metadata", "namespace"))
    for entry in balloon_types(spec):
        if any(matches(expression, pod, container) for expression in entry.get("matchExpressions") or ()):
            return Choice(entry["name"], "by its match expressions")
        if any(glob_matches(pattern, namespace) for pattern in entry["namespaces"]):
            return Choice(entry["name"], f"by its namespace {namespace}")
    return Choice(DEFAULT, "as nothing else takes it")


def _annotated(pod: Manifest, container: str, key: str) -> str:
    """The annotation for the container, else for the pod, else without a scope."""
    annotations = get(pod, "metadata", "annotations")
    scoped = (f"{key}/container.{container}", f"{key}/pod", key)
    return next((str(value) for name in scoped if (value := get(annotations, name)) is not None), "")
