"""An overlay's image vectors: read, checked against what its Shoots need, and as the values that charts want."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitops.desired.artifact import Artifact
from gitops.desired.compose import Desired
from gitops.desired.documents import Document, DocumentCache, documents_of, line_of
from gitops.desired.image_vector_rule import ImageVectorRule, VectorSource
from gitops.errors import InvalidInput, Violation
from gitops.gardener.image_vector.cases import Demand
from gitops.gardener.image_vector.check import Resolution, check_overwrite, resolutions
from gitops.gardener.image_vector.reading import Finding, Vector, read_vector
from gitops.gardener.image_vector.rendering import components_value, known_form, overwrite_value
from gitops.gardener.image_vector.versions import release
from gitops.manifest import Manifest, get


@dataclass(frozen=True)
class DeclaredVector:
    """What an overlay declares for one extension."""

    rule: ImageVectorRule
    values: dict[str, Any]
    """The chart values that it stands for: `imageVectorOverwrite`, `componentImageVectorOverwrites`, `image`."""
    resolutions: tuple[Resolution, ...]
    """What each image resolves to on the declared machines; empty without a base."""


@dataclass(frozen=True)
class ImageVectors:
    """All of an overlay's image vectors, sound and checked."""

    vectors: tuple[DeclaredVector, ...]
    """In the overlay's order."""
    warnings: tuple[Violation, ...]
    """What is allowed and probably not meant."""


def read_image_vectors(
    artifact: Artifact, desired: Desired, now: datetime, cache: DocumentCache | None = None
) -> ImageVectors:
    """The overlay's image vectors, proven to do what they say.

    Args:
        artifact: the revision that `desired` was composed from.
        desired: the composed overlay.
        now: the time by which CA certificates must not have ended.
        cache: parsed files of earlier calls, by blob id; None keeps nothing.

    Raises:
        InvalidInput: with every violation that was found.
        SourceError: the artifact cannot be read.
    """
    reading = _Reading(artifact, desired, now, {} if cache is None else cache)
    vectors = tuple(reading.declared(rule) for rule in desired.overlay.image_vectors)
    reading.declared_twice()
    if reading.violations:
        raise InvalidInput(reading.violations)
    return ImageVectors(vectors, tuple(sorted(reading.warnings)))


def demands(shoot: Manifest) -> Iterator[Demand]:
    """The kinds of machines that a Shoot declares; one without workers stands for amd64, which is Gardener's default.

    Raises:
        ValueError: a Kubernetes version that is none.
    """
    own = get(shoot, "spec", "kubernetes", "version")
    for worker in get(shoot, "spec", "provider", "workers") or [{}]:
        version = get(worker, "kubernetes", "version") or own
        if version is not None:
            release(version)
        yield Demand(version, get(worker, "machine", "architecture") or "amd64")


@dataclass(frozen=True)
class _Place:
    """Where a vector is written."""

    document: Document
    prefix: tuple[str | int, ...]
    extension: str

    def violation(self, finding: Finding) -> Violation:
        file, line = self.document.file, line_of(self.document, (*self.prefix, *finding.at))
        return Violation(file, line, f"image vector of {self.extension}", finding.rule, finding.message)


class _Reading:
    """Reads one vector after the other, and collects what is wrong.

    Attributes:
        violations: found so far.
        warnings: found so far.
    """

    def __init__(self, artifact: Artifact, desired: Desired, now: datetime, cache: DocumentCache) -> None:
        self.violations: list[Violation] = []
        self.warnings: list[Violation] = []
        self._artifact = artifact
        self._desired = desired
        self._now = now
        self._cache = cache
        self._overlay = documents_of(artifact, desired.overlay.file, cache)[0]
        self._demands = tuple(sorted(set(self._demanded()), key=str))

    def _demanded(self) -> Iterator[Demand]:
        for shoot in self._desired.shoots.values():
            try:
                yield from demands(shoot.shoot)
            except ValueError as error:
                ref, origin = next((ref, origin) for ref, origin in shoot.origins.items() if ref.kind == "Shoot")
                found = Violation(origin.file, origin.line, str(ref), "kubernetes-version", str(error))
                self.violations.append(found)

    def declared_twice(self) -> None:
        first: dict[str, int] = {}
        for rule in self._desired.overlay.image_vectors:
            line = line_of(self._overlay, rule.at)
            if first.setdefault(rule.extension, line) != line:
                message = f"line {first[rule.extension]} is for the same extension: keep one"
                self._refuse(rule, "image-vector-twice", message)

    def declared(self, rule: ImageVectorRule) -> DeclaredVector:
        """One vector; of no use where a violation was found."""
        values: dict[str, Any] = {}
        found: tuple[Resolution, ...] = ()
        form = known_form(rule.extension)
        if form is not None and form is not rule.form:
            message = f"the chart of {rule.extension} wants {form.value}: the other form renders text that is no vector"
            self._refuse(rule, "vector-form", message, "form")
        if rule.overwrite is not None and (read := self._vector(rule, rule.overwrite)) is not None:
            data, vector, place = read
            values["imageVectorOverwrite"] = overwrite_value(data, rule.form)
            found = self._checked(rule, vector, place)
        if rule.components:
            values["componentImageVectorOverwrites"] = self._components(rule)
        if rule.image is not None:
            image = {"repository": rule.image.repository, "tag": rule.image.tag}
            values["image"] = {key: text for key, text in image.items() if text is not None}
        return DeclaredVector(rule, values, found)

    def _checked(self, rule: ImageVectorRule, overwrite: Vector, place: _Place) -> tuple[Resolution, ...]:
        if rule.base is None:
            message = "without `base`, the extension's own vector, nothing proves that this overwrite wins"
            self.warnings.append(self._violation(rule, "no-base", message))
            return ()
        read = self._vector(rule, VectorSource(rule.base, None, (*rule.at, "base")))
        if read is None or overwrite.findings:
            return ()
        base = read[1].images
        check = check_overwrite(base, overwrite.images, self._demands, rule.needs)
        self.violations += map(place.violation, check.problems)
        self.warnings += map(place.violation, check.warnings)
        return resolutions(base, overwrite.images, self._demands)

    def _components(self, rule: ImageVectorRule) -> Any:
        vectors: dict[str, Any] = {}
        for name, source in rule.components:
            read = self._vector(rule, source)
            if name in vectors:
                self._refuse(rule, "component-twice", f"component {name!r} is given twice: keep one", *source.at[3:])
            elif read is not None:
                vectors[name] = read[0]
        return components_value(vectors, rule.form)

    def _vector(self, rule: ImageVectorRule, source: VectorSource) -> tuple[dict[str, Any], Vector, _Place] | None:
        """The value, the vector and its place; None where there is nothing to read."""
        if source.path is None:
            place = _Place(self._overlay, (*source.at, "inline"), rule.extension)
            data: dict[str, Any] = source.inline
        else:
            document = self._file(rule, source.path, *source.at[3:])
            if document is None:
                return None
            place, data = _Place(document, (), rule.extension), document.manifest
        vector = read_vector(data, self._now)
        self.violations += map(place.violation, vector.findings)
        return data, vector, place

    def _file(self, rule: ImageVectorRule, path: str, *at: str | int) -> Document | None:
        if path not in self._artifact.files:
            self._refuse(rule, "path", f"there is no file {path!r}", *at)
            return None
        try:
            documents = documents_of(self._artifact, path, self._cache)
        except InvalidInput as error:
            for found in error.violations:
                vague = found.rule == "not-an-object"
                message = "an image vector is a map with a list `images`" if vague else found.message
                self.violations.append(Violation(found.file, found.line, found.object, found.rule, message))
            return None
        if len(documents) != 1:
            message = f"the file must hold one image vector, not {len(documents) or 'none'}"
            self.violations.append(Violation(path, 0, f"image vector of {rule.extension}", "vector-file", message))
            return None
        return documents[0]

    def _violation(self, rule: ImageVectorRule, name: str, message: str, *at: str | int) -> Violation:
        return _Place(self._overlay, rule.at, rule.extension).violation(Finding(at, name, message))

    def _refuse(self, rule: ImageVectorRule, name: str, message: str, *at: str | int) -> None:
        self.violations.append(self._violation(rule, name, message, *at))
