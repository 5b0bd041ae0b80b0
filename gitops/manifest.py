"""The nouns that every stage shares: Ref, Manifest, State, and paths into a manifest.

A manifest is a plain dict, as JSON has it; there is no class per kind. `State` is one type for desired, live
and merged. Nothing here reads, writes or mutates its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Manifest: TypeAlias = dict[str, Any]
"""A Kubernetes object as JSON has it: `apiVersion`, `kind`, `metadata`, and the rest."""

Target: TypeAlias = str
"""Which API server: `GARDEN`, `RUNTIME`, or a shoot as `<namespace>/<name>` (the others have no slash)."""

GARDEN: Target = "garden"
RUNTIME: Target = "runtime"
"""The cluster that gardener-operator and the garden itself run in."""


@dataclass(frozen=True, order=True)
class Ref:
    """Names one object on one target."""

    target: Target
    api_version: str
    """As written in the manifest, such as `config.nri/v1alpha1`; `v1` for the core group."""
    kind: str
    namespace: str
    """Empty for cluster-scoped objects."""
    name: str

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        group, slash, _ = self.api_version.rpartition("/")
        return group if slash else ""

    @property
    def identity(self) -> tuple[Target, str, str, str, str]:
        """What makes it the same object whatever version it is written in."""
        return (self.target, self.group, self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        """As a person would say it: `Shoot garden-local/local`, `BalloonsPolicy kube-system/default`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


State: TypeAlias = Mapping[Ref, Manifest]


def ref_of(target: Target, manifest: Manifest) -> Ref:
    """The Ref of a manifest that has `apiVersion`, `kind` and `metadata.name`.

    Raises:
        KeyError: one of the three is missing.
    """
    metadata = manifest["metadata"]
    return Ref(target, manifest["apiVersion"], manifest["kind"], metadata.get("namespace") or "", metadata["name"])


def shoot_target(shoot: Manifest) -> Target:
    """`<namespace>/<name>` of a Shoot manifest."""
    return f"{shoot['metadata']['namespace']}/{shoot['metadata']['name']}"


def get(manifest: Any, *keys: str) -> Any:
    """The value at a path of map keys, or None where any of them is absent or null.

    >>> get({"spec": {"hibernation": {"enabled": True}}}, "spec", "hibernation", "enabled")
    True
    """
    for key in keys:
        if not isinstance(manifest, Mapping):
            return None
        manifest = manifest.get(key)
    return manifest


@dataclass(frozen=True, order=True)
class Element:
    """A step into a list by the key that names its elements, such as `[type=shoot-dns-service]`."""

    key: str
    value: str
    also: tuple[tuple[str, str], ...] = ()
    """Further fields of a key that is made of several, as in `[kind=Extension,type=audit]`."""

    @property
    def fields(self) -> dict[str, str]:
        """The whole key, as fields of the element that it names."""
        return {self.key: self.value, **dict(self.also)}

    def __str__(self) -> str:
        return f"[{','.join(f'{key}={value}' for key, value in self.fields.items())}]"


Step: TypeAlias = str | Element
Path: TypeAlias = tuple[Step, ...]
"""Map keys, and elements of lists that have a key. A list without a key is one value."""


def pointer(path: Path) -> str:
    """A path as a person and a script read it: `/spec/extensions/[type=x]/disabled` (RFC 6901 escapes)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def is_prefix(prefix: Path, path: Path) -> bool:
    """Whether `path` is `prefix` or below it."""
    return path[: len(prefix)] == prefix


def walk(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf of nested maps with its path; an empty map and a list are leaves."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from walk(value[key], (*at, key))
    else:
        yield at, value
