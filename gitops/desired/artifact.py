"""What composition reads from: the files of one revision.

The protocol stands here, below `gitops.source`, which implements it; tests and other tools may bring their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Blob:
    """One file of a revision, as git's tree lists it; its content has not been looked at."""

    path: str
    """Inside the repository, with slashes, without a leading one."""
    mode: str
    """Git's six octal digits: 100644 and 100755 are files, 120000 a symlink, 160000 a submodule."""
    sha: str
    """The blob's id; empty in a work tree, where content may change under the same name."""
    size: int
    """Bytes; 0 for a submodule."""


class Artifact(Protocol):
    """The files of one revision of one repository."""

    @property
    def repository(self) -> str:
        """Where it came from, for people; credentials are already taken out."""

    @property
    def revision(self) -> str:
        """The commit, 40 hex digits."""

    @property
    def files(self) -> Mapping[str, Blob]:
        """Every file by its path, sorted by path."""

    def read(self, path: str) -> bytes:
        """The content of one file.

        Raises:
            KeyError: no file of that name.
            InvalidInput: it is a symlink, a submodule, a Git LFS pointer, too large, or holds a NUL byte.
            SourceError: git could not read it.
        """
