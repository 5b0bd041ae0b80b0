"""Edits of files as values, and a revision as it would be with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitops.desired.artifact import Artifact, Blob


@dataclass(frozen=True)
class FileEdit:
    """A file that changes."""

    path: str
    """Inside the repository."""
    before: bytes
    """Empty for a new file."""
    after: bytes


class Edited:
    """An artifact with some files exchanged or added."""

    def __init__(self, artifact: Artifact, edits: Iterable[FileEdit]) -> None:
        self.repository = artifact.repository
        self.revision = artifact.revision
        self._artifact = artifact
        self._edits = {edit.path: edit.after for edit in edits}
        blobs = {path: Blob(path, "100644", "", len(data)) for path, data in self._edits.items()}
        self.files: Mapping[str, Blob] = dict(sorted({**artifact.files, **blobs}.items()))

    def read(self, path: str) -> bytes:
        """The content of one file, as it would be."""
        return self._edits[path] if path in self._edits else self._artifact.read(path)
