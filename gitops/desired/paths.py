"""Paths as overlays write them, relative to the overlay's own file, and the files they stand for."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Sequence

from gitops.desired.artifact import Artifact

_MANIFESTS = (".yaml", ".yml", ".json")
_NO_FOLDER = "not a folder; symlinks are not followed"


def resolve(overlay_file: str, raw: str) -> str:
    """The path inside the repository; empty for the repository itself.

    Raises:
        ValueError: it leaves the repository, or is no relative path.
    """
    if "://" in raw or raw.startswith("/"):
        raise ValueError(f"{raw!r} must be a path inside this repository, relative to the overlay's file")
    if any(sign in raw for sign in "*?[\\"):
        raise ValueError(f"{raw!r}: patterns are not supported; name the file, or the folder (it is read as a whole)")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(overlay_file), raw))
    if path == ".." or path.startswith("../"):
        raise ValueError(f"{raw!r} leads out of the repository")
    return "" if path == "." else path


def manifest_files(artifact: Artifact, path: str) -> list[str]:
    """The manifest files that a path stands for: itself, or every .yaml, .yml and .json below it.

    Raises:
        ValueError: there is nothing of that name, or no manifest in it; the message says which.
    """
    if path in artifact.files:
        return [path]
    below = files_below(list(artifact.files), path)
    if not below:
        raise ValueError(f"there is no file and no folder {path!r}{_link_hint(artifact, path)}")
    # A symlink or submodule is listed too, so that reading it refuses what would be left out without a word.
    manifests = [file for file in below if file.endswith(_MANIFESTS) or not artifact.files[file].mode.startswith("100")]
    if not manifests:
        raise ValueError(f"folder {path!r} holds no .yaml, .yml or .json file")
    return manifests


def files_below(files: Sequence[str], folder: str) -> list[str]:
    """The files of a sorted list that are in a folder or deeper."""
    if not folder:
        return list(files)
    start = bisect_left(files, folder + "/")
    end = bisect_left(files, folder + "0")  # "0" is the character after "/"
    return list(files[start:end])


def _link_hint(artifact: Artifact, path: str) -> str:
    parts = path.split("/")
    parents = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    link = next((parent for parent in parents if parent in artifact.files), None)
    if link is None:
        return ""
    what = "a submodule; other repositories are not read" if artifact.files[link].mode == "160000" else _NO_FOLDER
    return f" ({link!r} is {what})"
