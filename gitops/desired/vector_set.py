"""Which file and entry an image is set in, and the edit of it, proven to change nothing else."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitops.desired.artifact import Artifact
from gitops.desired.documents import documents_of, parse
from gitops.desired.edits import FileEdit
from gitops.desired.image_vector_rule import ImageVectorRule
from gitops.desired.overlay import Overlay
from gitops.desired.vector_edit import matching, with_entry, with_image
from gitops.errors import InvalidInput
from gitops.gardener.image_vector.reading import read_vector
from gitops.gardener.image_vector.reference import Reference, repository_of
from gitops.gardener.image_vector.vector import ImageSource
from gitops.manifest import Manifest


@dataclass(frozen=True)
class Wanted:
    """The image to set; what is None need not be said where it is clear."""

    name: str
    reference: Reference
    extension: str | None = None
    target_version: str | None = None
    architecture: str | None = None


@dataclass(frozen=True)
class _Candidate:
    """A vector that has the image, or whose extension has it."""

    rule: ImageVectorRule
    file: str
    manifest: Manifest
    """The whole file."""
    place: tuple[str | int, ...]
    """Where in it the vector is."""
    images: tuple[ImageSource, ...]
    base: tuple[ImageSource, ...]


def set_image(artifact: Artifact, overlay: Overlay, wanted: Wanted) -> FileEdit:
    """The edit that sets one image of an overlay.

    An image that is not overwritten yet gets an entry with the key of the extension's own, so that it wins.

    Raises:
        ValueError: no entry, or more than one, is meant; or its text cannot be edited.
        InvalidInput: a file that must be read breaks rules.
    """
    candidate = _candidate(artifact, overlay, wanted)
    before = artifact.read(candidate.file)
    expected = copy.deepcopy(candidate.manifest)
    images = _at(expected, candidate.place)["images"]
    options = (wanted.name, wanted.target_version, wanted.architecture)
    positions = matching(candidate.images, *options)
    if positions:
        position = _only(positions, candidate.images, wanted)
        after = with_image(before, candidate.place, position, wanted.reference)
        images[position] |= _fields(images[position], wanted.reference)
    else:
        like = candidate.base[_only(matching(candidate.base, *options), candidate.base, wanted)]
        after = with_entry(before, candidate.place, like, wanted.reference)
        images.append(_new_entry(like, wanted.reference))
    if _read_back(after, candidate.file) != expected:
        message = f"{candidate.file} is written so that more than image {wanted.name} would change: edit it by hand"
        raise ValueError(message)
    return FileEdit(candidate.file, before, after)


def _read_back(data: bytes, file: str) -> Manifest | None:
    """What edited text says; None where the edit broke it."""
    try:
        (document,) = parse(data, file)
    except InvalidInput:
        return None
    return document.manifest


def _candidate(artifact: Artifact, overlay: Overlay, wanted: Wanted) -> _Candidate:
    found = list(_candidates(artifact, overlay, wanted.extension))
    options = (wanted.name, wanted.target_version, wanted.architecture)
    having = [one for one in found if matching(one.images, *options) or matching(one.base, *options)]
    if not having:
        names = sorted({source.name for one in found for source in (*one.images, *one.base)})
        which = f"there is no such image; there are {', '.join(names)}" if names else "it has no image vector"
        raise ValueError(f"overlay {overlay.name}: {which}")
    if len(having) > 1:
        extensions = ", ".join(one.rule.extension for one in having)
        raise ValueError(f"image {wanted.name} is in several vectors: say which with --extension ({extensions})")
    return having[0]


def _candidates(artifact: Artifact, overlay: Overlay, extension: str | None) -> Iterator[_Candidate]:
    for rule in overlay.image_vectors:
        if rule.overwrite is None or extension not in {None, rule.extension}:
            continue
        file = rule.overwrite.path or overlay.file
        place = () if rule.overwrite.path else (*rule.overwrite.at, "inline")
        manifest = _manifest(artifact, file)
        base = read_vector(_manifest(artifact, rule.base)).images if rule.base else ()
        yield _Candidate(rule, file, manifest, place, read_vector(_at(manifest, place)).images, base)


def _manifest(artifact: Artifact, file: str) -> Manifest:
    if file not in artifact.files:
        raise ValueError(f"there is no file {file!r}")
    documents = documents_of(artifact, file, {})
    if len(documents) != 1:
        raise ValueError(f"{file} must hold one document")
    return documents[0].manifest


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _only(positions: tuple[int, ...], images: tuple[ImageSource, ...], wanted: Wanted) -> int:
    if len(positions) == 1:
        return positions[0]
    entries = "; ".join(_told(images[position]) for position in positions)
    message = f"image {wanted.name} has several entries: say which with --target-version and --architecture ({entries})"
    raise ValueError(message)


def _told(source: ImageSource) -> str:
    parts = [f"target version {source.target_version!r}"] if source.target_version is not None else []
    if source.architectures is not None:
        parts.append(f"architectures {', '.join(source.architectures)}")
    return ", ".join(parts) or "for any version and architecture"


def _fields(entry: dict[str, Any], reference: Reference) -> dict[str, str]:
    if "ref" in entry:
        return {"ref": reference.within(repository_of(entry["ref"]))}
    return {"repository": reference.repository or entry["repository"], "tag": reference.tag}


def _new_entry(like: ImageSource, reference: Reference) -> dict[str, Any]:
    fields = {
        "name": like.name,
        "runtimeVersion": like.runtime_version,
        "targetVersion": like.target_version,
        "architectures": None if like.architectures is None else list(like.architectures),
        "repository": reference.repository or like.repository or repository_of(like.ref or ""),
        "tag": reference.tag,
    }
    return {key: value for key, value in fields.items() if value is not None}
