"""A remote repository, mirrored into a bare one that is kept for the next time."""

from __future__ import annotations

import fcntl
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import git

from gitops.errors import SourceError
from gitops.source.git import environment, without_credentials

_PROTOCOLS = {"https": "https", "ssh": "ssh", "file": "file"}
_SCP = re.compile(r"(?:[^/@:]+@)?[^/@:]+:(?!//).+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HEAD = "refs/mirror/HEAD"
_REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", f"+HEAD:{_HEAD}")


def is_url(repo: str) -> bool:
    """Whether a repository is named by a URL, or by ssh's `host:path`, and not by a folder."""
    return "://" in repo or (_SCP.fullmatch(repo) is not None and not Path(repo).exists())


def mirror_of(url: str, revision: str, cache: Path) -> tuple[Path, str]:
    """An up-to-date bare mirror of a URL, and the URL without credentials.

    Forced pushes and deleted branches are followed. Processes that share the cache wait for each other.

    Args:
        url: https, ssh or file.
        revision: what will be read; a full commit id that no branch holds is asked for by itself.
        cache: the folder that holds the mirrors.

    Raises:
        SourceError: the URL cannot be used, or fetching failed; messages hold no credentials.
    """
    shown = _shown(url)
    protocol = _protocol(url, shown)
    mirror = cache / (hashlib.sha256(shown.encode()).hexdigest()[:32] + ".git")
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(mirror.with_suffix(".lock")):
        try:
            repository = git.Repo.init(mirror, bare=True, mkdir=True)
            try:
                _fetch(repository, url, revision, protocol)
            finally:
                repository.close()
        except git.GitCommandError as error:
            reason = without_credentials(_reason(error), url)
            raise SourceError(f"cannot fetch {shown}: {reason}; check the address and your access") from None
    return mirror, shown


def _fetch(repository: git.Repo, url: str, revision: str, protocol: str) -> None:
    repository.git.update_environment(**environment(protocol), GIT_DIR=str(Path(repository.git_dir).resolve()))
    repository.git.symbolic_ref("HEAD", _HEAD)
    # The address is an argument, never configuration: credentials in it do not reach the disk.
    options = ("--quiet", "--force", "--no-write-fetch-head", "--no-auto-gc")
    repository.git.fetch(*options, "--prune", "--end-of-options", url, *_REFS)
    if _COMMIT.fullmatch(revision) and not _has(repository, revision):
        repository.git.fetch(*options, "--end-of-options", url, f"+{revision}:refs/mirror/{revision}")


def _has(repository: git.Repo, commit: str) -> bool:
    status, _, _ = repository.git.execute(
        ["git", "cat-file", "-e", commit], with_extended_output=True, with_exceptions=False
    )
    return status == 0


def _protocol(url: str, shown: str) -> str:
    if "://" not in url:
        return "ssh"
    protocol = _PROTOCOLS.get(urlsplit(url).scheme)
    if protocol is None:
        raise SourceError(f"{shown}: only https, ssh and file addresses are fetched")
    return protocol


def _shown(url: str) -> str:
    if "://" not in url:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: git.GitCommandError) -> str:
    """The last thing git said, which is the one that matters."""
    text = str(error.stderr).strip().removeprefix("stderr: ").strip("' \n")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
    return (fatal or lines or ["git said nothing"])[-1]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
