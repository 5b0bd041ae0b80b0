"""What one overlay runs, carried over to another: image vectors, the versions of policies, and patches.

Selectors, waves and whatever only the other overlay has stay as they are there. A file inside the first overlay's
folder is copied to the same place in the other's; a path that leads elsewhere is taken over as it is written.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gitops.desired.artifact import Artifact
from gitops.desired.documents import Document, documents_of, parse
from gitops.desired.edits import FileEdit
from gitops.desired.overlay import Overlay
from gitops.desired.paths import files_below, resolve
from gitops.desired.yaml_text import YamlText, at, key_of, shifted
from gitops.errors import InvalidInput

Place: TypeAlias = tuple[str | int, ...]
"""Map keys and positions in lists, from an overlay's root."""

_ITS_OWN = {"shoots", "target", "registration"}
"""Keys of an entry that are each overlay's own, or that make it the same entry."""
_SECTIONS = {"imageVectors": "image vector", "policies": "policy", "patches": "patch"}


@dataclass(frozen=True)
class Promotion:
    """The edit, and what it does in words."""

    edits: tuple[FileEdit, ...]
    """Sorted by path; empty when there is nothing to carry over."""
    summary: tuple[str, ...]
    """One line for everything that is carried over, and for what only the other overlay has."""


@dataclass(frozen=True)
class _Side:
    """One of the two overlays."""

    artifact: Artifact
    document: Document
    text: YamlText

    @property
    def file(self) -> str:
        return self.document.file

    def entries(self, section: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.document.manifest["spec"].get(section, [])
        return entries


def promote(source: Artifact, from_overlay: Overlay, target: Artifact, to_overlay: Overlay) -> Promotion:
    """The edit that makes `to_overlay` run what `from_overlay` runs.

    Args:
        source: the revision that is proven.
        from_overlay: read from `source`.
        target: the files that are edited.
        to_overlay: read from `target`.

    Raises:
        InvalidInput: something is written so that it cannot be edited.
    """
    sides = (_side(source, from_overlay), _side(target, to_overlay))
    return _Promoting(*sides).promotion()


def _side(artifact: Artifact, overlay: Overlay) -> _Side:
    (document,) = documents_of(artifact, overlay.file, {})
    return _Side(artifact, document, YamlText(artifact.read(overlay.file)))


class _Promoting:
    def __init__(self, source: _Side, target: _Side) -> None:
        self._source = source
        self._target = target
        self._files: dict[str, FileEdit] = {}
        self._summary: list[str] = []

    def promotion(self) -> Promotion:
        for section in _SECTIONS:
            try:
                self._section(section)
            except ValueError as error:
                place = self._target.document.violation("promotion", f"spec.{section}: {error}", "spec", section)
                raise InvalidInput([place]) from error
        file = self._target.file
        before, after = self._target.artifact.read(file), self._target.text.edited()
        if after != before:
            self._files[file] = FileEdit(file, before, after)
            self._require_the_rest(after)
        return Promotion(tuple(self._files[path] for path in sorted(self._files)), tuple(self._summary))

    def _require_the_rest(self, after: bytes) -> None:
        """Edits are made in text, and text can surprise: what is not promoted must say what it said."""
        message = "the overlay is written so that more would change than is promoted: edit it by hand"
        refusal = InvalidInput([self._target.document.violation("promotion", message)])
        try:
            (document,) = parse(after, self._target.file)
        except InvalidInput as error:
            raise refusal from error
        if _rest(document) != _rest(self._target.document):
            raise refusal

    def _section(self, section: str) -> None:
        ours, theirs = self._source.entries(section), self._target.entries(section)
        if not ours and not theirs:
            return
        pairs, missing = _paired(section, ours, theirs)
        for mine, other in pairs:
            self._entry(section, mine, other)
        for mine in missing:
            self._say(section, ours[mine], "added")
            self._carry_all(ours[mine])
        self._append(section, missing)
        taken = {other for _, other in pairs}
        for position, entry in enumerate(theirs):
            if position not in taken:
                self._say(section, entry, f"only in {self._target.file}: kept")

    def _say(self, section: str, entry: dict[str, Any], what: str) -> None:
        self._summary.append(f"{_SECTIONS[section]} {_name(section, entry)}: {what}")

    def _entry(self, section: str, mine: int, other: int) -> None:
        """One entry that both overlays have: what it declares, but not for which shoots."""
        ours, theirs = self._source.entries(section)[mine], self._target.entries(section)[other]
        carried = {key: value for key, value in ours.items() if key not in _ITS_OWN}
        known = set(self._files)
        changed = False
        if section == "imageVectors" and carried.keys() != theirs.keys() - _ITS_OWN:
            if ours["registration"] != theirs["registration"]:
                raise ValueError(
                    f"{ours['extension']} has other keys and another registration: bring it in line by hand"
                )
            self._replace(("spec", section, other), ("spec", section, mine))
            self._carry_all(ours)
            changed = True
        else:
            for key, value in carried.items():
                places = (("spec", section, mine, key), ("spec", section, other, key))
                changed |= self._value(key, value, theirs.get(key), places)
        copied = sorted(self._files.keys() - known)
        if changed or copied:
            self._say(section, ours, "taken over" + (", with " if copied else "") + ", ".join(copied))

    def _value(self, key: str, ours: Any, theirs: Any, places: tuple[Place, Place]) -> bool:
        """One value of an entry; whether the other overlay's text changes."""
        mine, other = places
        if key in {"path", "base"} and isinstance(theirs, str):
            if self._copied(ours, theirs):
                return False
            if ours != theirs:
                self._target.text.replace_scalar(at(self._target.text.root, other), ours)
            return bool(ours != theirs)
        self._carry_all({key: ours})
        if ours == theirs:
            return False
        if theirs is None:
            raise ValueError(f"there is no {key!r} at {'.'.join(map(str, other))}: bring the entries in line by hand")
        self._replace(other, mine)
        return True

    def _copied(self, ours: str, theirs: str) -> bool:
        """Whether a path needs no change, because what it leads to is copied or the same already."""
        old, new = resolve(self._source.file, ours), resolve(self._target.file, theirs)
        if not (_inside(old, self._source.file) and _inside(new, self._target.file)):
            self._carry_all({"path": ours})
            return False
        self._copy(old, new)
        return True

    def _carry_all(self, value: Any) -> None:
        """Copy every file inside our overlay's folder that an entry leads to, to the same place in the other's."""
        if isinstance(value, list):
            for item in value:
                self._carry_all(item)
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key in {"path", "base"} and isinstance(inner, str):
                    old = resolve(self._source.file, inner)
                    if _inside(old, self._source.file):
                        self._copy(old, resolve(self._target.file, inner))
                elif key == "components":
                    self._carry_all(inner)

    def _copy(self, old: str, new: str) -> None:
        files = [old] if old in self._source.artifact.files else files_below(list(self._source.artifact.files), old)
        for file in files:
            path = new + file.removeprefix(old)
            data = self._source.artifact.read(file)
            before = self._target.artifact.read(path) if path in self._target.artifact.files else b""
            if data != before:
                self._files[path] = FileEdit(path, before, data)

    def _replace(self, other: Place, mine: Place) -> None:
        """The other overlay's text of an entry, or of a key and its value, exchanged for ours."""
        old, new = _Part(self._target.text, other), _Part(self._source.text, mine)
        moved = shifted(new.text, old.column - new.column)
        if old.in_flow:
            value: Any = self._source.document.manifest
            for step in mine:
                value = value[step]
            moved = (f"{mine[-1]}: " if isinstance(mine[-1], str) else "") + json.dumps(value, ensure_ascii=False)
        self._target.text.replace(old.start, old.end, moved)

    def _append(self, section: str, missing: Sequence[int]) -> None:
        if not missing:
            return
        text = self._target.text
        lines = [line for position in missing for line in self._item(section, position)]
        theirs = at(text.root, ("spec", section))
        if theirs is not None:
            if theirs.flow_style or not theirs.value:
                raise ValueError("a list in one line takes no new entry: write one entry per line")
            text.insert_after(theirs, lines, theirs.start_mark.column)
            return
        waves = key_of(at(text.root, ("spec",)), "waves").start_mark
        text.insert_before(waves.index - waves.column, [f"{section}:", *lines], waves.column)

    def _item(self, section: str, position: int) -> list[str]:
        part = _Part(self._source.text, ("spec", section, position))
        return f"- {shifted(part.text, 2 - part.column)}".split("\n")


class _Part:
    """An entry of a list, or a key with its value, in a text."""

    def __init__(self, text: YamlText, place: Place) -> None:
        node = at(text.root, place)
        first = key_of(at(text.root, place[:-1]), place[-1]) if isinstance(place[-1], str) else node
        if node.anchor:
            raise ValueError("it has an anchor, so that other places would change too: edit it by hand")
        self.start = first.start_mark.index
        self.end = text.content_end(node)
        self.column = first.start_mark.column
        self.text = text.text[self.start : self.end]
        self.in_flow = any(at(text.root, place[:depth]).flow_style for depth in range(len(place)))


def _paired(
    section: str, ours: Sequence[dict[str, Any]], theirs: Sequence[dict[str, Any]]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Entries that are the same thing in both overlays, and those of ours that the other has not.

    Where several have one name, those for the same shoots go together first.
    """
    pairs: dict[int, int] = {}
    for keys in (("shoots",), ()):
        for mine, entry in enumerate(ours):
            free = (other for other in range(len(theirs)) if mine not in pairs and other not in pairs.values())
            found = next((other for other in free if _same(section, entry, theirs[other], keys)), None)
            if found is not None:
                pairs[mine] = found
    return sorted(pairs.items()), [mine for mine in range(len(ours)) if mine not in pairs]


def _same(section: str, one: dict[str, Any], other: dict[str, Any], keys: Sequence[str]) -> bool:
    return _identity(section, one) == _identity(section, other) and all(one.get(key) == other.get(key) for key in keys)


def _identity(section: str, entry: dict[str, Any]) -> str:
    """What makes two entries the same thing, whatever version of it they name."""
    if section == "imageVectors":
        return str(entry["extension"])
    if section == "policies":
        return posixpath.basename(str(entry["path"]).rstrip("/"))
    return json.dumps([entry.get("target"), entry.get("shoots")], sort_keys=True)


def _name(section: str, entry: dict[str, Any]) -> str:
    if section == "imageVectors":
        return str(entry["extension"])
    if section == "policies":
        return str(entry["path"])
    return json.dumps(entry.get("target", entry.get("shoots", "of all")), sort_keys=True)


def _rest(overlay: Document) -> dict[str, Any]:
    spec = {key: value for key, value in overlay.manifest["spec"].items() if key not in _SECTIONS}
    return {**overlay.manifest, "spec": spec}


def _inside(path: str, overlay_file: str) -> bool:
    return path.startswith(posixpath.dirname(overlay_file) + "/")
