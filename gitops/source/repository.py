"""One pinned commit, read from git's objects: no work tree, so no filters and no half-written files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import git

from gitops.desired.artifact import Artifact, Blob
from gitops.errors import SourceError
from gitops.source.artifact import refuse_by_content, refuse_by_listing
from gitops.source.git import commit_of, open_repository
from gitops.source.mirror import is_url, mirror_of


class _Commit:
    """The files of one commit. Reads through one git process, so not from several threads at once."""

    def __init__(self, repository: git.Repo, name: str, revision: str) -> None:
        self.repository = name
        self.revision = revision
        self._git = repository.git
        try:
            self.files: Mapping[str, Blob] = MappingProxyType(_tree(repository, revision))
        except git.GitCommandError as error:
            raise SourceError(self._incomplete(f"the tree of {revision}")) from error

    def read(self, path: str) -> bytes:
        blob = self.files[path]
        refuse_by_listing(blob)
        try:
            data: bytes = self._git.get_object_data(blob.sha)[3]
        except (ValueError, git.GitCommandError, OSError) as error:
            raise SourceError(self._incomplete(f"{path} ({blob.sha})")) from error
        refuse_by_content(blob, data)
        return data

    def _incomplete(self, what: str) -> str:
        return f"{self.repository} lacks {what}, or parts of it: a partial clone is not enough, clone without --filter"


@contextmanager
def open_artifact(repo: str, revision: str, *, cache: Path) -> Iterator[Artifact]:
    """One commit of a repository, for as long as the context lasts.

    Args:
        repo: a folder in a repository, bare or not; or an https, ssh or file URL, which is mirrored first.
        revision: whatever `git rev-parse` understands; tags are followed to their commits.
        cache: a folder for mirrors; used for URLs only, and created when needed.

    Raises:
        SourceError: no repository, no such revision, or git failed.
    """
    if is_url(repo):
        path, name = mirror_of(repo, revision, cache)
    else:
        path, name = Path(repo), repo
    repository = open_repository(path)
    try:
        yield _Commit(repository, name, commit_of(repository, revision, name))
    finally:
        repository.close()


def _tree(repository: git.Repo, revision: str) -> dict[str, Blob]:
    """Every file of a commit, sorted by path; git sorts by bytes, and folders apart."""
    options = ("-r", "-z", "--long", "--full-tree")
    listing: bytes = repository.git.ls_tree(*options, revision, stdout_as_string=False)
    entries = (entry.partition(b"\t") for entry in listing.split(b"\0") if entry)
    blobs = []
    for facts, _, raw_path in entries:
        mode, _, sha, size = facts.decode("ascii").split()
        path = raw_path.decode("utf-8", "backslashreplace")
        blobs.append(Blob(path, mode, sha, 0 if size == "-" else int(size)))
    return {blob.path: blob for blob in sorted(blobs, key=lambda blob: blob.path)}
