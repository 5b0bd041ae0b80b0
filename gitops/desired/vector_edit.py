"""Another image in an image vector's text: its own lines change, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitops.desired.yaml_text import YamlText, at, key_of, line, scalar
from gitops.gardener.image_vector.reference import Reference, repository_of
from gitops.gardener.image_vector.vector import ImageSource


def matching(
    images: Sequence[ImageSource], name: str, target_version: str | None, architecture: str | None
) -> tuple[int, ...]:
    """Positions of the entries of a name, and where it is asked for of a target version and an architecture.

    Args:
        images: the vector.
        name: the image's name.
        target_version: the entry's own constraint, letter by letter; None takes any.
        architecture: one that the entry names; None takes any.
    """
    return tuple(
        position
        for position, source in enumerate(images)
        if source.name == name
        and (target_version is None or source.target_version == target_version)
        and (architecture is None or architecture in (source.architectures or ()))
    )


def with_image(data: bytes, vector: Sequence[str | int], entry: int, reference: Reference) -> bytes:
    """The text with another image in one entry, in the form that the entry has: ref, or repository and tag.

    Args:
        data: the whole file.
        vector: where in it the vector is.
        entry: position in its list.
        reference: the new image.

    Raises:
        ValueError: the entry is written so that its lines cannot be told from others.
    """
    text = YamlText(data)
    node = at(text.root, (*vector, "images", entry))
    ref, repository, tag = (at(node, (key,)) for key in ("ref", "repository", "tag"))
    if ref is not None:
        text.replace_scalar(ref, reference.within(repository_of(ref.value)))
        return text.edited()
    if repository is None:
        raise ValueError(f"the entry on line {line(node)} has no repository of its own: edit it by hand")
    if reference.repository not in {None, repository.value}:
        text.replace_scalar(repository, str(reference.repository))
    if tag is None:
        _insert_tag(text, node, repository, reference.tag)
    elif tag.value != reference.tag:
        text.replace_scalar(tag, reference.tag)
    return text.edited()


def _insert_tag(text: YamlText, node: Any, repository: Any, tag: str) -> None:
    if node.flow_style:
        end = repository.end_mark.index
        text.replace(end, end, f", tag: {scalar(tag)}")
    else:
        column = key_of(node, "repository").start_mark.column
        text.insert_after(repository, [f"tag: {scalar(tag)}"], column)


def with_entry(data: bytes, vector: Sequence[str | int], like: ImageSource, reference: Reference) -> bytes:
    """The text with a new entry at the end, which replaces a built-in one because it has the same key.

    Args:
        data: the whole file.
        vector: where in it the vector is.
        like: the built-in entry.
        reference: the new image.

    Raises:
        ValueError: the vector's list is empty, or written in one line.
    """
    text = YamlText(data)
    images = at(text.root, (*vector, "images"))
    if images is None or not images.value or images.flow_style:
        raise ValueError("the vector has no list of images with one entry per line: add the first entry by hand")
    first, *others = _entry(like, reference)
    text.insert_after(images, [f"- {first}", *(f"  {other}" for other in others)], images.start_mark.column)
    return text.edited()


def _entry(like: ImageSource, reference: Reference) -> list[str]:
    lines = [f"name: {scalar(like.name)}"]
    for key, value in (("runtimeVersion", like.runtime_version), ("targetVersion", like.target_version)):
        if value is not None:
            lines.append(f"{key}: {scalar(value)}")
    if like.architectures is not None:
        lines.append(f"architectures: [{', '.join(map(scalar, like.architectures))}]")
    repository = reference.repository or like.repository or repository_of(like.ref or "")
    return [*lines, f"repository: {scalar(repository)}", f"tag: {scalar(reference.tag)}"]
