"""YAML nodes with their lines (libyaml), and the JSON values they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from gitops.desired.scalars import plain_scalar
from gitops.errors import InvalidInput, Violation

ALIAS_BUDGET = 10_000
"""How many values the aliases of one document may add to those that are written out."""
MAX_DEPTH = 100
"""How deep maps and lists may nest; no Kubernetes object comes close."""

_PLAIN = "plain"
_TEXT = "tag:yaml.org,2002:str"
_MAP = "tag:yaml.org,2002:map"
_LIST = "tag:yaml.org,2002:seq"


class _Composer(yaml.CSafeLoader):
    """libyaml's nodes, with scalars told apart only by whether they are plain: reading them is our business."""

    def descend_resolver(self, _node: yaml.Node | None, _index: Any) -> None:
        """No rule depends on the place."""

    def ascend_resolver(self) -> None:
        """No rule depends on the place."""

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        """The tag of a node that carries none."""
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return _MAP if kind is yaml.MappingNode else _LIST


def nodes_of(data: bytes, file: str) -> list[yaml.Node]:
    """The root node of every document of a file; an empty document is a plain empty scalar.

    Raises:
        InvalidInput: the text is not UTF-8, or not YAML; nothing after the first such place is read.
    """
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise InvalidInput(
            [Violation(file, line, "", "nul-byte", "there is a NUL byte: save the file as text, in UTF-8")]
        )
    composer = None
    try:
        composer = _Composer(data)
        return list(_all_nodes(composer))
    except yaml.reader.ReaderError as error:
        before = data[: error.position] if isinstance(error.position, int) else b""
        raise InvalidInput(
            [Violation(file, before.count(b"\n") + 1, "", "yaml-syntax", f"not YAML: {error.reason}")]
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = mark.line + 1 if mark else 0
        problem = " ".join(part for part in (error.context, error.problem) if part).splitlines()[0]
        raise InvalidInput([Violation(file, where, "", "yaml-syntax", f"not YAML: {problem}")]) from error
    finally:
        if composer is not None:
            composer.dispose()


def _all_nodes(composer: Any) -> Iterator[yaml.Node]:
    while composer.check_node():
        yield composer.get_node()


def is_empty(node: yaml.Node) -> bool:
    """Whether a document holds nothing, or only comments."""
    return isinstance(node, yaml.ScalarNode) and node.tag == _PLAIN and node.value == ""


def line(node: yaml.Node) -> int:
    """Where a node begins, counted from 1."""
    return int(node.start_mark.line) + 1


class _TooMuchError(Exception):
    """Reading further would not end, or not end well."""


class Construction:
    """Turns the nodes of one document into values and collects what is wrong with them.

    Attributes:
        violations: every broken rule so far, in the order of reading.
    """

    def __init__(self, file: str) -> None:
        self.violations: list[Violation] = []
        self._file = file
        self._written: set[int] = set()
        self._expanded = 0

    def value(self, root: yaml.Node) -> Any:
        """The JSON value of a document; None where it breaks rules so badly that reading stops."""
        try:
            return self._value(root, 0)
        except _TooMuchError:
            return None

    def _refuse(self, node: yaml.Node, rule: str, message: str) -> None:
        self.violations.append(Violation(self._file, line(node), "", rule, message))

    def _value(self, node: yaml.Node, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self._refuse(node, "too-deep", f"nested deeper than {MAX_DEPTH} levels, or an alias contains itself")
            raise _TooMuchError
        self._count(node)
        match node:
            case yaml.ScalarNode():
                return self._scalar(node)
            case yaml.MappingNode() if node.tag == _MAP:
                return self._mapping(node, depth)
            case yaml.SequenceNode() if node.tag == _LIST:
                return [self._value(item, depth + 1) for item in node.value]
        self._refuse(node, "yaml-tag", f"the tag {node.tag} means nothing to Kubernetes: leave it out")
        return None

    def _count(self, node: yaml.Node) -> None:
        if id(node) not in self._written:
            self._written.add(id(node))
            return
        self._expanded += 1
        if self._expanded > ALIAS_BUDGET:
            self._refuse(node, "alias-bomb", f"aliases add more than {ALIAS_BUDGET} values: write them out")
            raise _TooMuchError

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag == _TEXT:
            return node.value
        if node.tag != _PLAIN:
            self._refuse(node, "yaml-tag", f"the tag {node.tag} means nothing to Kubernetes: leave it out")
            return None
        try:
            return plain_scalar(node.value)
        except ValueError as error:
            self._refuse(node, "ambiguous-value", str(error))
            return None

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: list[Any] = []
        for key_node, value_node in node.value:
            value = self._value(value_node, depth + 1)
            if key_node.tag == _PLAIN and key_node.value == "<<":
                merged.extend(value if isinstance(value, list) else [value])
                continue
            key = self._scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                self._refuse_key(key_node)
            elif key in values:
                first = lines[key]
                self._refuse(key_node, "duplicate-key", f"key {key!r} was already given on line {first}: keep one")
            else:
                values[key] = value
                lines[key] = line(key_node)
        for more in merged:
            if not isinstance(more, dict):
                self._refuse(node, "yaml-merge", "`<<` takes a map, or a list of maps")
                continue
            values = {**more, **values}
        return values

    def _refuse_key(self, node: yaml.Node) -> None:
        if self.violations and self.violations[-1].line == line(node) and self.violations[-1].rule == "ambiguous-value":
            return
        shown = node.value if isinstance(node, yaml.ScalarNode) else "a list or map"
        self._refuse(node, "key-not-a-string", f"key {shown} is not a string: quote it")
