"""One pinned commit, read from git's objects: no work tree, so no filters and no half-written files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import git

from gitops.desired.artifact import Artifact, Blob
from gitops.errors import GitopsError, SourceError, Untrusted
from gitops.source.access import Access
from gitops.source.address import is_url
from gitops.source.artifact import refuse_by_content, refuse_by_listing
from gitops.source.git import commit_of, open_repository
from gitops.source.headline import Headline, headline_of
from gitops.source.mirror import Mirror, mirror_of
from gitops.source.signature import Signed
from gitops.source.trust import Tag, Trust, require_signed

_DEFAULT_ACCESS = Access()


class Commit(Artifact, Protocol):
    """The files of one commit, and what people call it."""

    @property
    def headline(self) -> Headline:
        """Its subject and author."""


class _Commit:
    """The files of one commit. Reads through one git process, so not from several threads at once.

    Every object is held against its id, so that what is read is what the commit's id, and whoever signed it, stand for.
    """

    def __init__(self, repository: git.Repo, name: str, revision: str, mirror: Mirror | None) -> None:
        self.repository = name
        self.revision = revision
        self._git = repository.git
        self._mirror = mirror
        try:
            self.files: Mapping[str, Blob] = MappingProxyType(self._tree())
        except git.GitCommandError as error:
            raise self._incomplete(f"the tree of {self.revision}") from error

    def read(self, path: str) -> bytes:
        blob = self.files[path]
        refuse_by_listing(blob)
        data = self._object(blob.sha, "blob", path)
        refuse_by_content(blob, data)
        return data

    def _tree(self) -> dict[str, Blob]:
        """Every file of the commit, sorted by path; git sorts by bytes, and folders apart."""
        commit = self._object(self.revision, "commit", "its commit")
        self.headline = headline_of(commit)
        self._object(commit.split(b"\n", 1)[0].removeprefix(b"tree ").decode(), "tree", "its root")
        options = ("-r", "-t", "-z", "--long", "--full-tree")
        listing: bytes = self._git.ls_tree(*options, self.revision, stdout_as_string=False)
        entries = (entry.partition(b"\t") for entry in listing.split(b"\0") if entry)
        blobs = []
        for facts, _, raw_path in entries:
            mode, kind, sha, size = facts.decode("ascii").split()
            path = raw_path.decode("utf-8", "backslashreplace")
            if kind == "tree":
                self._object(sha, kind, path)
            else:
                blobs.append(Blob(path, mode, sha, 0 if size == "-" else int(size)))
        return {blob.path: blob for blob in sorted(blobs, key=lambda blob: blob.path)}

    def _object(self, sha: str, kind: str, shown: str) -> bytes:
        try:
            data: bytes = self._git.get_object_data(sha)[3]
        except (ValueError, git.GitCommandError, OSError) as error:
            raise self._incomplete(f"{shown} ({sha})") from error
        digest = hashlib.sha1 if len(sha) == 40 else hashlib.sha256
        if digest(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest() != sha:
            raise self._damaged(f"{self.repository} is damaged: {shown} is not what its id {sha} stands for")
        return data

    def _incomplete(self, what: str) -> SourceError:
        why = "a partial clone is not enough, clone without --filter"
        if self._mirror is not None:
            why = "the mirror is damaged"
        return self._damaged(f"{self.repository} lacks {what}, or parts of it: {why}")

    def _damaged(self, message: str) -> SourceError:
        if self._mirror is None:
            return SourceError(message)
        self._mirror.damaged()
        return SourceError(f"{message}; it is made anew when this is run again")


@contextmanager
def open_artifact(
    repo: str, revision: str, *, cache: Path, access: Access = _DEFAULT_ACCESS, trust: Trust | None = None
) -> Iterator[Commit]:
    """One commit of a repository, for as long as the context lasts.

    Args:
        repo: a folder in a repository, bare or not; or an https, ssh or file URL, which is mirrored first.
        revision: whatever `git rev-parse` understands; tags are followed to their commits.
        cache: a folder for mirrors; used for URLs only, and created when needed.
        access: how a URL is reached.
        trust: whose signature the commit must carry; None when nobody's.

    Raises:
        SourceError: no repository, no such revision, or git failed.
        Untrusted: the signature that is required is missing or not good.
    """
    tagged = trust is not None and Signed.TAG in trust.signed
    wanted = f"refs/tags/{revision.removeprefix('refs/tags/')}" if tagged else revision
    mirror = None
    path, name = Path(repo), repo
    if is_url(repo):
        mirror = mirror_of(repo, wanted, cache, access)
        path, name, wanted = mirror.path, mirror.shown, mirror.revision
    repository = open_repository(path)
    try:
        tag = None
        if tagged:
            tag = Tag(revision.removeprefix("refs/tags/"), _tag_object(repository, wanted, name))
            wanted = tag.object
        commit = commit_of(repository, wanted, name)  # nothing is looked up by name after that
        with _reading(commit):
            if trust is not None:
                _keys_elsewhere(repository, trust)
                require_signed(Path(repository.common_dir), trust, commit=commit, tag=tag, shown=name)
            yield _Commit(repository, name, commit, mirror)
    finally:
        repository.close()


@contextmanager
def _reading(commit: str) -> Iterator[None]:
    """What goes wrong in the block says of which commit."""
    try:
        yield
    except GitopsError as error:
        error.revision = error.revision or commit
        raise


def _tag_object(repository: git.Repo, wanted: str, name: str) -> str:
    """The object that a tag of exactly this name stands for."""
    if _OBJECT.fullmatch(wanted):  # a mirror has looked it up
        return wanted
    try:
        return str(repository.git.show_ref("--verify", "--hash", wanted)).strip()
    except git.GitCommandError as error:
        tag = wanted.removeprefix("refs/tags/")
        message = f"{name}: there is no tag {tag!r}, and a signed tag is required; name one with --revision"
        raise Untrusted(message, rule="not-a-signed-tag") from error


_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _keys_elsewhere(repository: git.Repo, trust: Trust) -> None:
    """Whoever may push to the repository could add a key of his own to keys that stand in its work tree."""
    if repository.working_tree_dir is None:
        return
    root = Path(repository.working_tree_dir).resolve()
    for file in filter(None, (trust.allowed_signers, trust.revoked_signers, *trust.trusted_keys)):
        if file.resolve().is_relative_to(root):
            message = f"{file} stands in the repository that it is to protect, where whoever pushes can change it"
            raise Untrusted(f"{message}: keep it elsewhere", rule="keys-in-repository")
