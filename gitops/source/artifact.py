"""Which files of a revision may be read. Only those that are read are judged."""

from __future__ import annotations

from gitops.desired.artifact import Artifact, Blob
from gitops.errors import InvalidInput, Violation

MAX_SIZE = 5 * 1024 * 1024
"""Bytes; no Kubernetes object fits an API server beyond 3 MiB, and etcd's limit is lower still."""

_FILES = {"100644", "100755", "100664"}
_REFUSED_MODES = {
    "120000": ("symlink", "is a symlink, and symlinks are not followed: put the file itself here"),
    "160000": ("submodule", "is a submodule, and other repositories are not read: put the file itself here"),
}
_LFS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")
"""How pointers begin, today's and those of before LFS had its name (git-lfs docs/spec.md)."""


def refuse_by_listing(blob: Blob) -> None:
    """Raises InvalidInput for what its mode or size already rules out, before anything is read."""
    if blob.mode in _REFUSED_MODES:
        rule, message = _REFUSED_MODES[blob.mode]
        raise _refusal(blob, rule, message)
    if blob.mode not in _FILES:
        raise _refusal(blob, "not-a-file", "is no regular file")
    if blob.size > MAX_SIZE:
        raise _refusal(blob, "too-large", f"has {blob.size} bytes, more than the {MAX_SIZE} that are read: split it")


def refuse_by_content(blob: Blob, data: bytes) -> None:
    """Raises InvalidInput for what only its content tells."""
    if len(data) > MAX_SIZE:
        raise _refusal(blob, "too-large", f"has {len(data)} bytes, more than the {MAX_SIZE} that are read: split it")
    if data.startswith(_LFS):
        raise _refusal(blob, "lfs-pointer", "is a Git LFS pointer, not the file: keep manifests out of LFS", line=1)
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise _refusal(blob, "nul-byte", "holds a NUL byte: save it as text, in UTF-8", line=line)


def _refusal(blob: Blob, rule: str, message: str, *, line: int = 0) -> InvalidInput:
    return InvalidInput([Violation(blob.path, line, "", rule, f"the file {message}")])


__all__ = ["MAX_SIZE", "Artifact", "Blob", "refuse_by_content", "refuse_by_listing"]
