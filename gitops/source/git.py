"""Git, run so that nothing but the repository's own objects and refs has a say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import git

from gitops.errors import SourceError

_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.quotePath": "false",
    "core.warnAmbiguousRefs": "true",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}

_CERTAIN = re.compile(r"HEAD|@|[0-9a-f]{40}|[0-9a-f]{64}")
"""What means the same whatever branches and tags are called."""


def environment(protocols: str = "none", config: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables for a git process.

    Args:
        protocols: which transports it may use, joined by colons; `none` also stops a partial clone from
            fetching missing objects in the middle of reading.
        config: more settings; like all that stand here, they win over every configuration file.
    """
    settings = {**_CONFIG, **(config or {})}
    variables = {
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    for number, (key, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def open_repository(path: Path) -> git.Repo:
    """The repository that a folder is in, bare or not, ready to be read; the caller closes it.

    Raises:
        SourceError: there is none, or git will not open it.
    """
    try:
        repository = git.Repo(path, search_parent_directories=True, expand_vars=False)
    except git.NoSuchPathError as error:
        raise SourceError(f"{path} does not exist: name a git repository with --repo") from error
    except git.InvalidGitRepositoryError as error:
        raise SourceError(
            f"{path} is not in a git repository: run `git init` and commit, or name one with --repo"
        ) from error
    # A hook runs with GIT_DIR set to the repository it belongs to, which need not be this one.
    located = {"GIT_DIR": str(Path(repository.git_dir).resolve())}
    if repository.working_tree_dir is not None:
        located["GIT_WORK_TREE"] = str(Path(repository.working_tree_dir).resolve())
        located["GIT_INDEX_FILE"] = str(Path(repository.git_dir).resolve() / "index")
    repository.git.update_environment(**environment(), **located)
    return repository


def commit_of(repository: git.Repo, revision: str, shown: str) -> str:
    """The commit that a branch, tag, abbreviation or expression stands for, 40 hex digits.

    Args:
        repository: where to look.
        revision: whatever `git rev-parse` understands.
        shown: the repository as messages call it.

    Raises:
        SourceError: it stands for no commit of this repository, or for a branch and a tag.
    """
    require_revision(revision)
    asking = ("--verify", "--end-of-options", revision + "^{commit}")
    try:
        _, found, warnings = repository.git.rev_parse(*asking, with_extended_output=True)
    except git.GitCommandError as error:
        raise SourceError(_unknown(repository, revision, shown)) from error
    if "is ambiguous" in warnings and not _CERTAIN.fullmatch(revision):
        raise SourceError(ambiguous(revision, shown))
    return str(found).splitlines()[-1]


def ambiguous(revision: str, shown: str) -> str:
    """Why a name is refused that is a branch's and a tag's.

    Git takes the tag. Whoever may push tags, though not to a branch that is protected, could put another commit in the
    place of that branch.
    """
    which = "more than one branch or tag is called so: say refs/heads/… or refs/tags/…"
    return f"revision {revision!r} is ambiguous in {shown}: {which}"


def require_revision(revision: str) -> None:
    """Raises SourceError for what git could take for an option, or for nothing at all."""
    if revision.startswith("-") or not revision:
        raise SourceError(f"{revision!r} is not a revision: name a branch, a tag or a commit")


def _unknown(repository: git.Repo, revision: str, shown: str) -> str:
    if revision == "HEAD":
        return f"{shown} has no commit yet: commit something, or name a branch with --revision"
    shallow = (Path(repository.common_dir) / "shallow").exists()
    hint = "; this is a shallow clone, so `git fetch --unshallow` may bring it" if shallow else ""
    return f"revision {revision!r} is unknown in {shown}: fetch it, or name a branch, a tag or a commit{hint}"
