"""The files as they stand in the work tree, for `--worktree`: what would be committed, and nothing that is ignored."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from gitops.desired.artifact import Artifact, Blob
from gitops.errors import InvalidInput, SourceError, Violation
from gitops.source.artifact import MAX_SIZE, refuse_by_content, refuse_by_listing
from gitops.source.git import commit_of, open_repository


class _WorkTree:
    """Tracked files, and untracked ones that are not ignored; the list is taken once, the content when it is read."""

    def __init__(self, root: Path, name: str, revision: str, files: dict[str, Blob]) -> None:
        self.repository = name
        self.revision = revision
        self.files: Mapping[str, Blob] = MappingProxyType(files)
        self._root = root

    def read(self, path: str) -> bytes:
        blob = self.files[path]
        refuse_by_listing(blob)
        file = self._root / path
        if file.resolve() != file:
            message = "the file is reached through a symlink, and symlinks are not followed"
            raise InvalidInput([Violation(path, 0, "", "symlink", message)])
        try:
            with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
                data = stream.read(MAX_SIZE + 1)
        except OSError as error:
            raise SourceError(f"cannot read {path} of {self.repository}: {error.strerror}") from error
        refuse_by_content(blob, data)
        return data


def open_worktree(repo: str) -> Artifact:
    """The work tree that a folder is in; its revision is the commit it stands on.

    Raises:
        SourceError: no repository, a bare one, or one without a commit.
    """
    repository = open_repository(Path(repo))
    try:
        if repository.working_tree_dir is None:
            raise SourceError(f"{repo} is a bare repository and has no work tree: leave out --worktree")
        root = Path(repository.working_tree_dir).resolve()
        revision = commit_of(repository, "HEAD", repo)
        listing = repository.git.execute(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            stdout_as_string=False,
        )
    finally:
        repository.close()
    paths = sorted({os.fsdecode(path).rstrip("/") for path in listing.split(b"\0") if path})
    blobs = (_blob(root, path) for path in paths)
    return _WorkTree(root, repo, revision, {blob.path: blob for blob in blobs if blob is not None})


def _blob(root: Path, path: str) -> Blob | None:
    """One file as a commit would list it; None for one that is deleted and not yet staged so."""
    try:
        facts = (root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(facts.st_mode):
        return Blob(path, "120000", "", facts.st_size)
    if stat.S_ISDIR(facts.st_mode):
        return Blob(path, "160000", "", 0)
    return Blob(path, "100644" if stat.S_ISREG(facts.st_mode) else "000000", "", facts.st_size)
