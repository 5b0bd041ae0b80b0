"""What is fetched into a mirror for one revision, and what the mirror keeps."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from pathlib import Path

from gitops.errors import SourceError
from gitops.source.access import Access
from gitops.source.address import Address
from gitops.source.git import ambiguous, environment
from gitops.source.process import GitFailed, TooSlow, git, run

_LOG = logging.getLogger(__name__)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,39}")
_NAME = re.compile(r"(?!.*(?:\.\.|@\{|//|\.lock$|[/.]$))[^\x00-\x20\x7f~^:?*\[\\]+")
"""What may be the name of a branch or tag; see git-check-ref-format(1)."""
_HEAD = "refs/mirror/HEAD"
_KEPT = "refs/mirror/kept/"
_MOST_KEPT = 20
"""Branches, tags and commits of which the mirror keeps what was read last; what is older is fetched again."""
_HOUSEKEEPING = {
    "gc.auto": "500",
    "gc.autoPackLimit": "20",
    "gc.autoDetach": "false",
    "gc.pruneExpire": "1.day.ago",  # somebody may still be reading what a forced push has just made unreachable
}
_FETCH = ("fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--no-auto-gc")


class Mirrored:
    """One remote and its bare mirror, for as long as the mirror's lock is held."""

    def __init__(self, path: Path, address: Address, access: Access) -> None:
        self.address = address
        self._path = path.absolute()
        self._access = access
        self._patience = access.patience
        local = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._local = local | environment(config=_HOUSEKEEPING) | {"GIT_DIR": str(self._path)}

    def exists(self) -> bool:
        """Whether there is a repository that git would open."""
        if not (self._path / "HEAD").exists():
            return False
        return self._says_yes("rev-parse", "--git-dir")

    def sound(self) -> bool:
        """Whether every object that a ref leads to is there and whole, and no git that was killed holds it up.

        Only who holds the mirror's lock writes to it, so whatever git has locked in it now stays locked for ever.
        """
        left = next(self._path.rglob("*.lock"), None)
        return left is None and self._says_yes("fsck", "--no-dangling", "--no-progress")

    def sweep(self) -> None:
        """Remove what was being written when git was killed: git keeps it, and a new try writes it again."""
        folder = self._path / "objects" / "pack"
        for file in (*folder.glob("tmp_*"), *folder.glob(".tmp-*")):
            file.unlink(missing_ok=True)

    def bring(self, revision: str) -> str:
        """Bring the mirror up to date for a revision; returns what to read: an object's id, or an expression.

        Raises:
            GitFailed: fetching failed, or the mirror is damaged.
            SourceError: the remote does not have it.
        """
        if not self._path.exists():
            self._ask("init", "--quiet", "--bare", "--initial-branch=main", str(self._path))
        if _COMMIT.fullmatch(revision):
            return self._commit(revision)
        if not _NAME.fullmatch(revision):
            return self._everything(revision)
        if (found := self._advertised(revision)) is not None:
            return self._named(*found)
        if _ABBREVIATED.fullmatch(revision):
            return self._everything(revision)
        raise SourceError(self._gone(revision))

    def _advertised(self, name: str) -> tuple[str, str] | None:
        """The full name and the object of what the remote calls so; None where it calls nothing so.

        Raises:
            SourceError: it calls a branch and a tag so.
        """
        names = _full_names(name)
        listing = self._talk("ls-remote", "--quiet", "--end-of-options", self.address.url, *names)
        entries = (line.partition("\t") for line in listing.splitlines())
        refs = {full: sha for sha, _, full in entries}
        so_called = [(full, refs[full]) for full in names if full in refs]
        if len(so_called) > 1:
            raise SourceError(ambiguous(name, self.address.shown))
        return so_called[0] if so_called else None

    def _named(self, name: str, expected: str) -> str:
        kept = _KEPT + hashlib.sha256(name.encode()).hexdigest()
        if self._has(expected):
            self._ask("update-ref", kept, expected)
            return expected
        self._fetch_one(name, kept)
        return self._ask("rev-parse", "--verify", "--end-of-options", kept).strip()

    def _commit(self, commit: str) -> str:
        if not self._has(commit):
            try:
                self._fetch_one(commit, _KEPT + commit)
            except GitFailed as failure:
                # Not every server hands out a commit by its id; a branch or a tag may still hold it.
                _LOG.info("%s: commit %s is looked for in all branches: %s", self.address.shown, commit, failure.reason)
                self._everything(commit)
        if not self._has(commit):
            where = f"in no branch or tag of {self.address.shown}, and by its id the server does not hand it out"
            raise SourceError(f"revision {commit!r} is {where}: push it, or name another with --revision")
        return commit

    def _fetch_one(self, remote: str, kept: str) -> None:
        shallow = ["--depth=1"] if self._is_shallow() else []
        target = (self.address.url, f"+{remote}:{kept}")
        try:
            self._talk(*_FETCH, *shallow, "--end-of-options", *target)
        except GitFailed as failure:
            if "shallow" not in failure.errors:
                raise
            self._talk(*_FETCH, "--end-of-options", *target)
        self._tidy(kept)

    def _everything(self, revision: str) -> str:
        """All branches and tags with all of their history."""
        complete = ["--unshallow"] if (self._path / "shallow").exists() else []
        refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        from_head = re.match(r"(HEAD|@)(?![\w/-])", revision) is not None
        if from_head:
            refs.append(f"+HEAD:{_HEAD}")
        self._talk(*_FETCH, *complete, "--prune", "--end-of-options", self.address.url, *refs)
        if from_head:  # a commit and no ref, as fsck takes a HEAD outside of refs/heads for damage
            self._ask("update-ref", "--no-deref", "HEAD", _HEAD)
        self._tidy("")
        return revision

    def _is_shallow(self) -> bool:
        """Whether only single commits are kept here; a mirror that holds history goes on holding it."""
        return (self._path / "shallow").exists() or not self._ask("for-each-ref", "--count=1", "refs/").strip()

    def _tidy(self, fetched: str) -> None:
        """Let go of what was not read for long, so that the disk does not fill up."""
        newest = self._ask("for-each-ref", "--sort=-creatordate", "--format=%(refname)", _KEPT).split()
        for name in [name for name in newest if name != fetched][_MOST_KEPT - 1 :]:
            self._ask("update-ref", "-d", name)
        try:
            self._ask("gc", "--auto", "--quiet")
        except (GitFailed, TooSlow) as failure:  # what was asked for is there all the same
            _LOG.warning("cannot tidy the mirror of %s: %s", self.address.shown, failure)

    def _has(self, found: str) -> bool:
        """Whether an object is there with all that belongs to it, though not with its history."""
        return self._says_yes("rev-list", "--objects", "--no-walk", "--quiet", "--end-of-options", found)

    def _gone(self, name: str) -> str:
        shown = self.address.shown
        if name in {"HEAD", "@"}:
            return f"{shown} has no commit yet, or its HEAD names a branch that is gone: name one with --revision"
        kept = [_KEPT + hashlib.sha256(full.encode()).hexdigest() for full in _full_names(name)]
        seen = self._ask("for-each-ref", "--format=%(objectname:short=12)", *kept).split()
        if seen:
            again = f"it stood at {seen[0]} when it was read last, and nothing is done in its place"
            return f"revision {name!r} is gone from {shown}: {again}; push it again, or name another with --revision"
        return f"revision {name!r} is unknown in {shown}: push it, or name a branch, a tag or a commit"

    def _talk(self, *arguments: str) -> str:
        variables = self._access.variables(self.address) | {"GIT_DIR": str(self._path)}
        return git(arguments, environment=variables, patience=self._patience).decode(errors="replace")

    def _ask(self, *arguments: str) -> str:
        return git(arguments, environment=self._local, patience=self._patience).decode(errors="replace")

    def _says_yes(self, *arguments: str) -> bool:
        return run(["git", *arguments], environment=self._local, patience=self._patience).code == 0


def _full_names(name: str) -> list[str]:
    """The refs that a name may stand for; see gitrevisions(7)."""
    if name in {"HEAD", "@"}:
        return ["HEAD"]
    if name.startswith("refs/"):
        return [name]
    return [f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}"]
