"""Real git repositories in temporary folders, made by the git command and untouched by anybody's configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-11-30T10:00:00Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2026-11-30T10:00:00Z",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(folder: Path, *arguments: str) -> str:
    """What git prints when it runs in a folder; fails the test where git fails."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def new_repository(folder: Path, files: dict[str, str | bytes]) -> str:
    """A repository on branch main with one commit of these files; returns the commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    return commit(folder, files)


def commit(folder: Path, files: dict[str, str | bytes], message: str = "change") -> str:
    """Writes files, commits everything that is there, and returns the commit."""
    write(folder, files)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    """Writes files and their folders."""
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
