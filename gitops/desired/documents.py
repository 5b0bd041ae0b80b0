"""Kubernetes objects from the YAML of one file, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import yaml

from gitops.desired.artifact import Artifact
from gitops.desired.nodes import Construction, is_empty, line, nodes_of
from gitops.errors import InvalidInput, Violation
from gitops.manifest import Manifest

Location: TypeAlias = Sequence[str | int]
"""A place inside a document: map keys, and positions in lists."""

DocumentCache: TypeAlias = MutableMapping[str, tuple["Document", ...]]
"""Parsed files by blob id; the caller keeps it for as long as it likes."""


@dataclass(frozen=True)
class Document:
    """One object of one file. Its manifest is shared by all who read the file: nobody changes it."""

    manifest: Manifest
    file: str
    """Path inside the repository."""
    line: int
    """Where it begins, counted from 1."""
    index: int
    """Which YAML document of the file, counted from 0; the items of a List share theirs."""
    within: tuple[str | int, ...] = ()
    """Where inside that YAML document: `("items", 3)` for the fourth item of a List."""
    text: bytes = field(default=b"", repr=False, compare=False)
    """The whole file, from which a line is found when somebody asks."""

    @property
    def title(self) -> str:
        """As a person would call it, however little of it is there: `Shoot garden-local/local`."""
        metadata = self.manifest.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
        return " ".join(str(part) for part in (self.manifest.get("kind"), name) if part)

    def violation(self, rule: str, message: str, *at: str | int) -> Violation:
        """A violation by this document, on the line of the deepest part of `at` that exists."""
        return Violation(self.file, line_of(self, at), self.title, rule, message)


def parse(data: bytes, file: str) -> tuple[Document, ...]:
    """Every object of a YAML or JSON file; empty and comment-only documents are none.

    Raises:
        InvalidInput: with every rule of reading that the file breaks.
    """
    documents: list[Document] = []
    violations: list[Violation] = []
    for index, node, value in _values(data, file, violations):
        if isinstance(value, dict):
            found, wrong = _objects(Document(value, file, line(node), index, (), data), node)
            documents.extend(found)
            violations.extend(wrong)
        else:
            message = "a document must be a map with apiVersion and kind"
            violations.append(Violation(file, line(node), "", "not-an-object", message))
    if violations:
        raise InvalidInput(violations)
    return tuple(documents)


def parse_values(data: bytes, file: str) -> list[Any]:
    """The JSON value of every document that is not empty, whatever it is.

    Raises:
        InvalidInput: with every rule of reading that the text breaks.
    """
    violations: list[Violation] = []
    values = [value for _, _, value in _values(data, file, violations)]
    if violations:
        raise InvalidInput(violations)
    return values


def _values(data: bytes, file: str, violations: list[Violation]) -> Iterator[tuple[int, yaml.Node, Any]]:
    """Position, node and value of each sound document; what is wrong with the others is added to `violations`."""
    for index, node in enumerate(nodes_of(data, file)):
        if is_empty(node):
            continue
        construction = Construction(file)
        value = construction.value(node)
        if construction.violations:
            violations.extend(construction.violations)
        else:
            yield index, node, value


def _objects(document: Document, node: yaml.Node) -> tuple[list[Document], list[Violation]]:
    """The items of a List, or the document itself; and a violation for each item that is no object."""
    kind, items = document.manifest.get("kind"), document.manifest.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        return [document], []
    found: list[Document] = []
    wrong: list[Violation] = []
    for position, item in enumerate(items):
        place = ("items", position)
        if isinstance(item, dict):
            found.append(replace(document, manifest=item, line=_line_at(node, place), within=place))
        else:
            message = "an item of a List must be a map with apiVersion and kind"
            wrong.append(Violation(document.file, _line_at(node, place), "", "not-an-object", message))
    return found, wrong


def documents_of(artifact: Artifact, path: str, cache: DocumentCache) -> tuple[Document, ...]:
    """The objects of one file of an artifact, parsed once per blob id.

    Raises:
        InvalidInput: the file may not be read, or breaks rules of reading.
        SourceError: git could not read it.
    """
    sha = artifact.files[path].sha
    if sha and (known := cache.get(sha)) is not None:
        return tuple(replace(document, file=path) for document in known) if known and known[0].file != path else known
    documents = parse(artifact.read(path), path)
    if sha:
        cache[sha] = documents
    return documents


def line_of(document: Document, at: Location) -> int:
    """The line of a place inside a document, or of the deepest part of it that is there.

    The text is composed again for this, so it costs only those who have an error to report.
    """
    if not at or not document.text:
        return document.line
    root = nodes_of(document.text, document.file)[document.index]
    return _line_at(root, (*document.within, *at))


def _line_at(root: yaml.Node, at: Location) -> int:
    node, found = root, line(root)
    for step in at:
        child = _child(node, step)
        if child is None:
            break
        found, node = child
    return found


def _child(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    """The line and the node one step down; None where there is no such step."""
    children: Any = node.value
    if isinstance(node, yaml.MappingNode):
        return next(((line(key), value) for key, value in children if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(children):
        return line(children[step]), children[step]
    return None
