"""The documents an overlay names: Shoots, registrations, and what may go inside the Shoots, each checked by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitops.desired.artifact import Artifact
from gitops.desired.documents import Document, DocumentCache, documents_of, line_of
from gitops.desired.overlay import Overlay
from gitops.desired.paths import manifest_files
from gitops.desired.selector import Selector, selects
from gitops.desired.validate import policy_violations, shoot_violations
from gitops.desired.validate_registration import is_registration, registration_violations
from gitops.errors import InvalidInput, Violation
from gitops.gardener.registration_fields import registration_ref
from gitops.manifest import Ref, Target, shoot_target


@dataclass(frozen=True)
class Declared:
    """What git declares, before anything is composed."""

    shoots: Mapping[Target, Document]
    """Every sound Shoot, sorted by target."""
    registrations: Mapping[Ref, Document]
    """Every sound registration, sorted by its Ref."""
    policies: tuple[tuple[Selector | None, tuple[Document, ...]], ...]
    """For each of the overlay's policy sources its selector and its sound documents."""
    violations: tuple[Violation, ...]

    def policies_for(self, labels: Mapping[str, str]) -> list[Document]:
        """What goes inside a shoot with these labels, in the overlay's order."""
        return [policy for selector, found in self.policies if selects(selector, labels) for policy in found]


def collect(artifact: Artifact, overlay: Overlay, cache: DocumentCache) -> Declared:
    """Every document that the overlay names, and everything that is wrong with them one by one.

    Raises:
        SourceError: the artifact cannot be read.
    """
    collecting = _Collecting(artifact, overlay, cache)
    shoots, registrations = collecting.resources()
    policies = tuple((source.shoots, collecting.policies(source.path, source.line)) for source in overlay.policies)
    return Declared(shoots, registrations, policies, tuple(collecting.violations))


class _Collecting:
    def __init__(self, artifact: Artifact, overlay: Overlay, cache: DocumentCache) -> None:
        self.violations: list[Violation] = []
        self._artifact = artifact
        self._overlay = overlay
        self._cache = cache
        self._checked: dict[tuple[str, int, tuple[str | int, ...]], tuple[Document, ...]] = {}

    def resources(self) -> tuple[dict[Target, Document], dict[Ref, Document]]:
        resources_line = line_of(self._overlay_document(), ("spec", "resources"))
        shoots: dict[Target, Document] = {}
        registrations: dict[tuple[str, ...], Document] = {}
        files = [file for path in self._overlay.resources for file in self._files(path, resources_line)]
        for document in self._documents(list(dict.fromkeys(files))):
            registers = is_registration(document)
            if registers:
                wrong = registration_violations(document)
            else:
                wrong = shoot_violations(document, self._overlay.garden.namespaces)
            self.violations.extend(wrong)
            if wrong:
                continue
            if registers:
                first = registrations.setdefault(registration_ref(document.manifest).identity, document)
            else:
                first = shoots.setdefault(shoot_target(document.manifest), document)
            if first is not document:
                message = f"the {document.manifest['kind']} is declared in {first.file}:{first.line} as well: keep one"
                self.violations.append(document.violation("declared-twice", message))
        if not shoots and not self.violations:
            message = "the overlay's resources hold no Shoot: an empty state is never applied"
            self.violations.append(Violation(self._overlay.file, resources_line, "", "no-shoots", message))
        by_ref = {registration_ref(document.manifest): document for document in registrations.values()}
        return dict(sorted(shoots.items())), dict(sorted(by_ref.items()))

    def policies(self, path: str, line: int) -> tuple[Document, ...]:
        """The sound documents below a path; a document that two sources name is checked, and given, once."""
        sound: list[Document] = []
        for document in self._documents(self._files(path, line)):
            key = (document.file, document.index, document.within)
            if key not in self._checked:
                wrong = policy_violations(document)
                self.violations.extend(wrong)
                self._checked[key] = () if wrong else (document,)
            sound.extend(self._checked[key])
        return tuple(sound)

    def _overlay_document(self) -> Document:
        return documents_of(self._artifact, self._overlay.file, self._cache)[0]

    def _files(self, path: str, line: int) -> list[str]:
        try:
            return manifest_files(self._artifact, path)
        except ValueError as error:
            self.violations.append(Violation(self._overlay.file, line, "", "path", str(error)))
            return []

    def _documents(self, files: list[str]) -> list[Document]:
        found: list[Document] = []
        for file in files:
            try:
                documents = documents_of(self._artifact, file, self._cache)
            except InvalidInput as error:
                self.violations.extend(error.violations)
                continue
            if not documents and len(files) == 1:
                message = "the file holds no object"
                self.violations.append(Violation(file, 0, "", "empty-file", message))
            found.extend(documents)
        return found
