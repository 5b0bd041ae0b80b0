"""From parsed data to a vector, with everything that Gardener would refuse or misread.

Stricter than Gardener in what it reads without a word: keys in other letters (Go's JSON takes `Tag` for `tag`), numbers
where text belongs (`1.10` becomes `1.1`), a null entry (it crashes), misspelt keys (they are ignored).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from gitops.gardener.image_vector.certificates import certificate_end
from gitops.gardener.image_vector.constraints import parse_constraint
from gitops.gardener.image_vector.vector import ImageSource

Place: TypeAlias = tuple[str | int, ...]
"""Map keys and positions in lists, from the vector's root."""


@dataclass(frozen=True)
class Finding:
    """A broken rule, or something that is probably not meant."""

    at: Place
    rule: str
    message: str


@dataclass(frozen=True)
class Vector:
    """An image vector that was read."""

    images: tuple[ImageSource, ...]
    """In the order of the file."""
    findings: tuple[Finding, ...]
    """What is wrong with it; where there is anything, the images are of no use."""


_TEXTS = ("name", "runtimeVersion", "targetVersion", "ref", "repository", "tag", "version")
_READ = {*_TEXTS, "architectures"}
_IGNORED = {"sourceRepository", "labels", "resourceId", "comment"}


def read_vector(data: Any, now: datetime | None = None) -> Vector:
    """A vector from what its YAML says.

    Args:
        data: the JSON value of the file.
        now: the time by which a CA certificate must not have ended; None does not ask.
    """
    if not isinstance(data, Mapping):
        return Vector((), (Finding((), "wrong-type", "an image vector is a map with a list `images`"),))
    findings = [*_other_letters(data, {"images", "caBundle"}, ()), *_bundle(data.get("caBundle"), now)]
    raw = data.get("images")
    if raw is not None and not isinstance(raw, list):
        return Vector((), (*findings, Finding(("images",), "wrong-type", "images must be a list")))
    images: list[ImageSource] = []
    for at, entry in enumerate(raw or []):
        place = ("images", at)
        if isinstance(entry, Mapping):
            wrong = [*_other_letters(entry, _READ, place), *_misspelt(entry, place), *_types(entry, place)]
            images.append(_source(entry))
            findings += wrong or _rules(images[-1], place)
        else:
            findings.append(Finding(place, "wrong-type", "an entry must be a map with a name: Gardener crashes on it"))
    return Vector(tuple(images), tuple(findings))


def _source(entry: Mapping[str, Any]) -> ImageSource:
    def text(key: str) -> str | None:
        value = entry.get(key)
        return value if isinstance(value, str) else None

    raw = entry.get("architectures")
    return ImageSource(
        name=text("name") or "",
        runtime_version=text("runtimeVersion"),
        target_version=text("targetVersion"),
        architectures=tuple(map(str, raw)) if isinstance(raw, list) else None,
        ref=text("ref"),
        repository=text("repository"),
        tag=text("tag"),
        version=text("version"),
    )


def _other_letters(entry: Mapping[str, Any], known: set[str], place: Place) -> Iterator[Finding]:
    folded = {key.casefold(): key for key in known}
    for key in entry:
        if key not in known and key.casefold() in folded:
            message = f"write {folded[key.casefold()]!r}, not {key!r}: some readers see it and some do not"
            yield Finding((*place, key), "key-letters", message)


def _misspelt(entry: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    folded = {key.casefold() for key in _READ}
    for key in entry:
        if key.casefold() in folded or key in _IGNORED:
            continue
        if close := difflib.get_close_matches(key, _READ, n=1, cutoff=0.8):
            message = f"there is no key {key!r}, and Gardener ignores it: did you mean {close[0]!r}?"
            yield Finding((*place, key), "unknown-key", message)


def _types(entry: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    for key in _TEXTS:
        value = entry.get(key)
        if isinstance(value, bool | int | float):
            message = f"{key} must be text: quote it as it should read, or Gardener makes its own text of a number"
            yield Finding((*place, key), "not-a-string", message)
        elif value is not None and not isinstance(value, str):
            yield Finding((*place, key), "wrong-type", f"{key} must be text")
    architectures = entry.get("architectures")
    if architectures is None:
        return
    if not isinstance(architectures, list) or not all(isinstance(item, str) for item in architectures):
        yield Finding((*place, "architectures"), "wrong-type", "architectures must be a list of text")


def _rules(source: ImageSource, place: Place) -> list[Finding]:
    """The rules of ValidateImageVector, and one for architectures, which Gardener does not look at."""
    found: list[Finding] = []

    def refuse(key: str, rule: str, message: str) -> None:
        found.append(Finding((*place, key) if key else place, rule, message))

    if not source.name:
        refuse("name", "image-name", "an image needs its name")
    if source.ref is None and source.repository is None:
        message = "an image needs ref, or repository and tag: Gardener reads a vector by itself, before it merges"
        refuse("", "image-incomplete", message)
    if source.ref is not None and (source.repository is not None or source.tag is not None):
        refuse("ref", "image-twice", "ref says it all: leave out repository and tag")
    for key, text in (("ref", source.ref), ("repository", source.repository), ("tag", source.tag)):
        if text == "":
            refuse(key, "image-empty", f"{key} must not be empty: leave it out, or say what it is")
    for key, constraint in (("runtimeVersion", source.runtime_version), ("targetVersion", source.target_version)):
        try:
            _ = constraint is None or parse_constraint(constraint)
        except ValueError as error:
            refuse(key, "version-constraint", str(error))
    if source.architectures == ():
        refuse("architectures", "architectures-empty", "an empty list is for no machine at all: leave it out")
    return found


def _bundle(raw: Any, now: datetime | None) -> Iterator[Finding]:
    if raw is None:
        return
    inline = raw.get("inline") if isinstance(raw, Mapping) else raw
    if not isinstance(raw, Mapping) or not isinstance(inline, str | None):
        yield Finding(("caBundle",), "wrong-type", "caBundle must be a map with the text `inline`")
        return
    yield from _other_letters(raw, {"inline"}, ("caBundle",))
    if inline is None:
        return
    place = ("caBundle", "inline")
    try:
        end = certificate_end(inline)
    except ValueError as error:
        yield Finding(place, "ca-bundle", f"not a CA certificate: {error}")
        return
    if now is not None and now > end:
        yield Finding(place, "ca-bundle", f"the certificate ended on {end:%Y-%m-%d}")


def repeated(images: Sequence[ImageSource]) -> list[tuple[int, int]]:
    """Positions of entries whose key an earlier one has, with the position of that: a merge leaves one of them."""
    first: dict[object, int] = {}
    return [(at, first[image.key]) for at, image in enumerate(images) if first.setdefault(image.key, at) != at]
