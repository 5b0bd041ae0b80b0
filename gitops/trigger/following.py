"""Which pushes concern us: those to our repository, and to the branch or tag that we follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from gitops.trigger.push import Ignored, Push, RefChange, RefKind

_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^]]+\]|[^/@:]+):(?P<path>(?!//).+)")
_SSH_BY_443 = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that take ssh on port 443, for networks that let nothing else out, and whose repositories they serve."""
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class RepositoryName:
    """A repository, however it is reached."""

    host: str
    """In lower case, without user and port, which differ between https and ssh; empty for a folder or a bare name."""
    path: str
    """In lower case, as forges fold it, without slashes around it and without `.git`."""

    def __str__(self) -> str:
        return f"{self.host}/{self.path}" if self.host else self.path

    def is_same_as(self, other: RepositoryName) -> bool:
        """Whether both can mean one repository; a name without a host goes with every host."""
        return self.path == other.path and (not self.host or not other.host or self.host == other.host)


def repository_name(address: str) -> RepositoryName:
    """The name behind an https, ssh, git or file URL, ssh's `host:path`, a folder, or `group/project`."""
    host, path = "", address
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, path = parts.hostname or "", unquote(parts.path)
        except ValueError:  # such as half an IPv6 address
            host, path = "", address
    elif found := _SCP.fullmatch(address):
        host, path = found["host"], found["path"]
    host = host.lower().strip("[]")
    return RepositoryName(_SSH_BY_443.get(host, host), path.strip("/").removesuffix(".git").strip("/").lower())


@dataclass(frozen=True)
class Following:
    """What we read from git on every run."""

    repositories: tuple[RepositoryName, ...]
    """Names of the one repository."""
    revision: str
    """`HEAD`, a branch, a tag, or a commit, as `--revision` names it."""

    def concern(self, push: Push) -> tuple[RefChange, ...] | Ignored:
        """The changes of a push that we follow, or why there are none; empty where it does not say what moved."""
        names = [repository_name(address) for address in push.repositories]
        if not any(ours.is_same_as(theirs) for ours in self.repositories for theirs in names):
            return Ignored(f"another repository, {str(names[0])!r}: if that is ours too, say so with --hook-repo")
        if _COMMIT.fullmatch(self.revision):
            return Ignored("one commit is followed, and no branch")
        if not push.changes:
            return ()
        followed = [change for change in push.changes if self._follows(change, push.default_branch)]
        if not followed:
            return Ignored("another branch")
        remaining = tuple(change for change in followed if not change.deleted)
        return remaining or Ignored("what is followed was deleted")

    def _follows(self, change: RefChange, default_branch: str) -> bool:
        """Of HEAD a push says nothing; where the forge does not name its branch either, any may be it."""
        if self.revision == "HEAD":
            return change.kind is RefKind.BRANCH and change.name == (default_branch or change.name)
        full = f"refs/{'heads' if change.kind is RefKind.BRANCH else 'tags'}/{change.name}"
        return self.revision in {full, full.removeprefix("refs/"), change.name}


def following(addresses: Sequence[str], revision: str) -> Following:
    """What is followed, from the repository's address and the other names that it is known by."""
    return Following(tuple(repository_name(address) for address in addresses), revision)
