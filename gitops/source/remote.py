"""Where a repository came from, for what is told to its forge."""

from __future__ import annotations

from pathlib import Path

import git

from gitops.errors import SourceError
from gitops.source.address import is_url
from gitops.source.git import open_repository


def remote_url(repo: str) -> str:
    """The URL of a repository, or of the remote `origin` of the one in a folder; empty where there is none.

    It may hold a password: it is for reading, not for showing.
    """
    if is_url(repo):
        return repo
    try:
        repository = open_repository(Path(repo))
    except SourceError:
        return ""  # whoever reads it will say so
    try:
        return str(repository.git.remote("get-url", "origin"))
    except git.GitCommandError:
        return ""
    finally:
        repository.close()
