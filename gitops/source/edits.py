"""Edits written to the work tree: each file whole or not at all, never through a symlink, never outside."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from gitops.desired.edits import FileEdit
from gitops.errors import Refused, SourceError
from gitops.source.git import open_repository


def write_edits(repo: str, edits: Iterable[FileEdit]) -> None:
    """Write files of the work tree that a folder is in.

    Raises:
        SourceError: no work tree, or a file could not be written.
        Refused: a file is, or is reached through, a symlink; or it changed since the edit was made.
    """
    repository = open_repository(Path(repo))
    try:
        if repository.working_tree_dir is None:
            raise SourceError(f"{repo} is a bare repository and has no work tree to edit")
        root = Path(repository.working_tree_dir).resolve()
    finally:
        repository.close()
    for edit in edits:
        _write(root / edit.path, edit)


def _write(file: Path, edit: FileEdit) -> None:
    if file.resolve() != file:
        raise Refused(f"{edit.path} is reached through a symlink, and symlinks are not followed")
    try:
        if (file.read_bytes() if file.exists() else b"") != edit.before:
            raise Refused(f"{edit.path} was changed by somebody else in the meantime: run the command again")
        file.parent.mkdir(parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}.") as folder:
            partial = Path(folder, file.name)
            partial.write_bytes(edit.after)
            partial.chmod(mode)
            partial.replace(file)
    except OSError as error:
        raise SourceError(f"cannot write {edit.path}: {error.strerror}") from error
