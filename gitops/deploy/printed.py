"""A manifest with the reasons of whoever wrote it, as YAML.

Comments are part of what is printed: who changes a field should know why it is as it is.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from gitops.manifest import Manifest, get

_PLAIN = re.compile(r"(?:--)?[A-Za-z/][A-Za-z0-9._/-]*(?::[A-Za-z0-9._/-]+)*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_WIDTH = 116
_SHORT = 80
"""A list of words stands on one line up to so many characters."""


class Part(Enum):
    """Which cluster an object is for, and who may bring it there."""

    RUN = "run"
    """Where the pipeline runs."""
    PROJECT = "project"
    """The garden: what an administrator of the projects may grant."""
    GARDEN = "garden"
    """The garden: what only its operators may grant."""
    RUNTIME = "runtime"
    """The garden's runtime cluster, where gardener-operator's Extensions live."""


@dataclass(frozen=True)
class Because:
    """A value in a manifest, and why it is so."""

    value: Any
    why: str


@dataclass(frozen=True)
class Printed:
    """One object."""

    part: Part
    tree: Manifest
    """The manifest, in which any value may stand in a `Because`."""
    why: str
    """What it is for; stands above it."""

    @property
    def manifest(self) -> Manifest:
        """The manifest itself."""
        return dict(_bare(self.tree))

    @property
    def file_name(self) -> str:
        """Unlike every other's of its part."""
        kind, namespace, name = (get(self.tree, *at) for at in (("kind",), _NAMESPACE, _NAME))
        return "-".join(str(part).lower() for part in (kind, namespace, name) if part).replace(":", "-") + ".yaml"


_NAMESPACE = ("metadata", "namespace")
_NAME = ("metadata", "name")


def yaml_text(objects: Iterable[Printed]) -> str:
    """All of them, as one stream."""
    return "".join("---\n" + document_text(printed) for printed in objects)


def document_text(printed: Printed) -> str:
    """One of them, with its comments."""
    return "".join(f"# {line}\n" for line in _lines(printed.why, _WIDTH)) + _dumped(printed.tree)


def kustomization_text(resources: Iterable[str]) -> str:
    """The kustomization.yaml of a folder with these files or folders."""
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return _dumped({**kind, "resources": list(resources)})


def _bare(value: Any) -> Any:
    if isinstance(value, Because):
        return _bare(value.value)
    if isinstance(value, dict):
        return {key: _bare(child) for key, child in value.items()}
    return [_bare(child) for child in value] if isinstance(value, list) else value


def _dumped(tree: Manifest) -> str:
    yaml = YAML()
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=2, offset=0)
    stream = io.StringIO()
    yaml.dump(_commented(tree, 0), stream)
    return stream.getvalue()


def _lines(text: str, width: int) -> list[str]:
    return [line for paragraph in text.split("\n") for line in textwrap.wrap(paragraph, width)]


def _commented(tree: Any, depth: int) -> Any:
    """A tree as the library has it; `depth` is how far its children are indented."""
    if isinstance(tree, str):
        return _string(tree)
    if not isinstance(tree, dict | list):
        return tree
    made: Any = CommentedMap() if isinstance(tree, dict) else CommentedSeq()
    if isinstance(tree, list) and all(isinstance(word, str) for word in tree) and sum(map(len, tree)) <= _SHORT:
        made.fa.set_flow_style()
    for key, child in _children(tree):
        value = child.value if isinstance(child, Because) else child
        below = _commented(value, depth if isinstance(value, list) else depth + 2)
        if isinstance(made, CommentedMap):
            made[_string(key)] = below
        else:
            made.append(below)
        if isinstance(child, Because):
            text = "\n".join(_lines(child.why, _WIDTH - depth))
            made.yaml_set_comment_before_after_key(key, before=text, indent=depth)
    return made


def _children(tree: Any) -> Iterable[tuple[Any, Any]]:
    return tree.items() if isinstance(tree, dict) else enumerate(tree)


def _string(text: str) -> str:
    """A string that no reader of YAML, of version 1.1 or 1.2, takes for anything else."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else DoubleQuotedScalarString(text)
