"""A remote repository, mirrored into a bare one that is kept for the next time.

Of a branch, a tag or a commit only that one commit is fetched, and only if the mirror does not hold it yet. What needs
history (`main~2`, an abbreviated id, a server that hands out nothing but branches) makes the mirror a full one.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gitops.errors import SourceError
from gitops.source.access import Access
from gitops.source.address import address_of
from gitops.source.fetching import Mirrored
from gitops.source.git import require_revision
from gitops.source.process import GitFailed, TooSlow

_DAMAGED = "shoot-gitops-damaged"
_LOOK_AGAIN = 0.1
"""Seconds between two attempts to get a lock that another process holds."""


@dataclass(frozen=True)
class Mirror:
    """A bare repository that holds what was asked for."""

    path: Path
    shown: str
    """The address without credentials."""
    revision: str
    """What was asked for, as the mirror knows it: an id, or an expression."""

    def damaged(self) -> None:
        """Have it made anew the next time that it is asked for."""
        with suppress(FileNotFoundError):  # it is gone altogether, and so will be made anew
            (self.path / _DAMAGED).touch()


def mirror_of(url: str, revision: str, cache: Path, access: Access) -> Mirror:
    """An up-to-date mirror of a URL, as far as a revision needs one.

    Forced pushes are followed; a branch or tag that is gone is an error, whatever the mirror still holds. Processes
    that share the cache wait for each other. A mirror that is damaged is made anew.

    Args:
        url: https, ssh or file.
        revision: what will be read: HEAD, a branch, a tag, a commit, or an expression.
        cache: the folder that holds the mirrors.
        access: how the remote is reached.

    Raises:
        SourceError: the URL cannot be used, the remote does not answer or has no such revision; no credentials in it.
    """
    address = address_of(url)
    require_revision(revision)
    path = cache / (hashlib.sha256(address.shown.encode()).hexdigest()[:32] + ".git")
    with _locked(path.with_suffix(".lock"), access.patience.total_seconds(), address.shown):
        mirrored = Mirrored(path, address, access)
        if (path / _DAMAGED).exists() or not mirrored.exists():
            _make_anew(path)
        mirrored.sweep()
        try:
            try:
                found = mirrored.bring(revision)
            except GitFailed as failure:
                if failure.far or mirrored.sound():
                    raise
                _make_anew(path)
                found = mirrored.bring(revision)
        except GitFailed as failure:
            raise SourceError(_explained(failure, mirrored, access)) from None
        except TooSlow as slow:
            message = f"cannot fetch {address.shown}: {slow}; is the server well? --git-timeout gives it more time"
            raise SourceError(message) from None
    return Mirror(path, address.shown, found)


def _make_anew(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)


def _explained(failure: GitFailed, mirrored: Mirrored, access: Access) -> str:
    """Why fetching failed, and what can be done about it."""
    address = mirrored.address
    reason = failure.reason
    for secret in access.secrets(address):
        reason = reason.replace(secret, "***")
    hint = next((hint for sign, hint in _HINTS.items() if sign in failure.errors), "check the address and your access")
    return f"cannot fetch {address.shown}: {reason}; {hint}"


_HINTS = {
    "Host key verification failed": "its host key is not in --ssh-known-hosts (or has changed, which may be an "
    "attack): `ssh-keyscan HOST`, and compare the fingerprint with what the server's owner publishes",
    "terminal prompts disabled": "it wants credentials: --git-credentials FILE, or GITOPS_GIT_PASSWORD_FILE",
    "could not read Username": "it wants credentials: --git-credentials FILE, or GITOPS_GIT_PASSWORD_FILE",
    "Authentication failed": "the server refuses these credentials: renew them",
    "Permission denied": "the server does not take this --ssh-key: give the key's public half read access there",
    "certificate": "nobody who is trusted vouches for the server: name its authority with --git-ca-file",
}
"""By what git or ssh says."""


def _lock_file(path: Path) -> TextIO:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path.open("w")
    except OSError as error:
        where = f"cannot keep a mirror in {path.parent}: {error.strerror}"
        raise SourceError(f"{where}; XDG_CACHE_HOME names the folder for it") from error


@contextmanager
def _locked(path: Path, patience: float, shown: str) -> Iterator[None]:
    with _lock_file(path) as lock:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    message = f"another process has been fetching {shown} for {patience:g} s: is it stuck?"
                    raise SourceError(message) from None
                time.sleep(_LOOK_AGAIN)
        yield
