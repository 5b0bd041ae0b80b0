"""The post-receive hook as a file: where git looks for it, and whose it is."""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from enum import Enum
from pathlib import Path

from gitops.errors import Refused, SourceError
from gitops.source.process import GitFailed, run

_NAME = "post-receive"
_PATIENCE = timedelta(minutes=1)


class Foreign(Enum):
    """What to do with a hook that somebody else wrote."""

    REFUSE = "refuse"
    CHAIN = "chain"
    """It is kept under another name, and ours is expected to run it first."""
    REPLACE = "replace"


def install_hook(repo: Path, text: str, *, mark: str, chained: str, foreign: Foreign) -> Path:
    """Write the hook of a repository, bare or not, and return its path. What is ours is written again.

    Args:
        repo: a folder in the repository.
        text: the hook.
        mark: a hook that holds this text is ours.
        chained: the name that another's hook gets.
        foreign: what to do with another's hook.

    Raises:
        SourceError: no repository, or the file cannot be written.
        Refused: another's hook is there, or the folder of hooks is shared with other repositories.
    """
    folder = _hooks_folder(repo, foreign)
    hook = folder / _NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (hook.exists() or hook.is_symlink()) and mark not in _content(hook):
            _make_way(hook, folder / chained, foreign)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".post-receive.") as own:
            partial = Path(own, _NAME)
            partial.write_text(text)
            partial.chmod(0o755)
            partial.replace(hook)
    except OSError as error:
        raise SourceError(f"cannot write {hook}: {error.strerror}") from error
    return hook


def _make_way(hook: Path, aside: Path, foreign: Foreign) -> None:
    if foreign is Foreign.REFUSE:
        message = "add --chain to keep it and run it first, or --force to replace it"
        raise Refused(f"{hook} is there already and is not ours: {message}")
    if foreign is Foreign.CHAIN:
        if aside.exists():
            raise Refused(f"{aside} is there already: two earlier hooks cannot both be kept, join them first")
        hook.rename(aside)


def _hooks_folder(repo: Path, foreign: Foreign) -> Path:
    """By git's rules: core.hooksPath, relative to the git folder that a push runs in, or the common `hooks`."""
    common = Path(_git(repo, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    configured = _git(repo, "config", "--show-scope", "--type=path", "--get", "core.hooksPath", missing=True)
    if not configured:
        return common / "hooks"
    scope, _, path = configured.partition("\t")
    if scope not in {"local", "worktree"} and foreign is not Foreign.REPLACE:
        message = "every repository of this machine that uses it would run the hook; add --force if that is meant"
        raise Refused(f"core.hooksPath is {path} by {scope} configuration: {message}")
    return common / path


def _content(hook: Path) -> str:
    return hook.read_bytes().decode(errors="replace") if hook.is_file() else ""


def _git(repo: Path, *arguments: str, missing: bool = False) -> str:
    """What git prints by its user's own configuration; empty where it exits with 1 and that may be."""
    done = run(["git", "-C", str(repo), *arguments], environment=os.environ, patience=_PATIENCE)
    if done.code and not (missing and done.code == 1):
        raise SourceError(f"{repo}: {GitFailed(done.errors).reason}")
    return os.fsdecode(done.output).strip("\n")
