"""An overlay's patches applied to the objects of its shoots, each distinct object once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitops.desired.documents import Document
from gitops.desired.overlay import Overlay
from gitops.desired.patches import PatchRule, apply_patch
from gitops.desired.selector import selects
from gitops.desired.strategic import PatchError
from gitops.desired.validate import policy_violations, shoot_violations
from gitops.desired.validate_registration import is_registration, registration_violations
from gitops.errors import Violation
from gitops.manifest import Manifest


class Patching:
    """Applies patches, and collects those that fail and those that find nothing to patch.

    Shoots share policies, so results are kept per object and rules: a policy on a thousand shoots is patched once.

    Attributes:
        violations: patches that do not apply, and rules that the patched objects break.
    """

    def __init__(self, overlay: Overlay) -> None:
        self.violations: list[Violation] = []
        self._overlay = overlay
        self._policies: dict[tuple[int, tuple[int, ...]], tuple[Document, Manifest | None]] = {}
        self._selected: set[int] = set()
        self._used: set[int] = set()

    def shoot(self, document: Document, extended: Manifest, labels: Mapping[str, str]) -> Manifest | None:
        """A Shoot with extensions and patches; None where a patch fails or breaks a rule."""
        patched = self._patched(document, extended, self._rules(labels))
        if patched is extended or patched is None:
            return patched
        names = [
            (manifest["metadata"].get("namespace"), manifest["metadata"]["name"]) for manifest in (extended, patched)
        ]
        wrong = shoot_violations(replace(document, manifest=patched), self._overlay.garden.namespaces)
        if names[0] != names[1]:
            message = "a patch cannot give a Shoot another name or namespace: that would be another Shoot"
            wrong.append(document.violation("patch-renames-shoot", message))
        self.violations.extend(wrong)
        return None if wrong else patched

    def registration(self, document: Document) -> Manifest | None:
        """A registration with the patches that are for all shoots; None where a patch fails or breaks a rule."""
        rules = [number for number, rule in enumerate(self._overlay.patches) if rule.shoots is None]
        self._selected.update(rules)
        patched = self._patched(document, document.manifest, rules)
        if patched is None or patched is document.manifest:
            return patched
        wrong = registration_violations(replace(document, manifest=patched))
        if (patched["kind"], patched["metadata"]["name"]) != (
            document.manifest["kind"],
            document.manifest["metadata"]["name"],
        ):
            message = "a patch cannot give a registration another name: that would be another extension"
            wrong.append(document.violation("patch-renames-registration", message))
        self.violations.extend(wrong)
        return None if wrong else patched

    def policy(self, document: Document, labels: Mapping[str, str]) -> Manifest | None:
        """A policy with the patches for shoots of these labels; None where a patch deletes it or fails."""
        rules = self._rules(labels)
        key = (id(document), tuple(rules))
        if key not in self._policies:
            patched = self._patched(document, document.manifest, rules)
            if patched is not None and patched is not document.manifest:
                self.violations.extend(policy_violations(replace(document, manifest=patched)))
            # The document is kept with the result, so that its id is not given to another.
            self._policies[key] = (document, patched)
        return self._policies[key][1]

    def unused(self) -> list[Violation]:
        """A warning for each patch that found no object on any shoot."""
        return [
            Violation(
                rule.file, rule.line, "", "patch-without-target", "the patch finds no object on any shoot it is for"
            )
            for number, rule in enumerate(self._overlay.patches)
            if number in self._selected - self._used
        ]

    def _rules(self, labels: Mapping[str, str]) -> list[int]:
        rules = [number for number, rule in enumerate(self._overlay.patches) if selects(rule.shoots, labels)]
        self._selected.update(rules)
        return rules

    def _patched(self, document: Document, manifest: Manifest, rules: list[int]) -> Manifest | None:
        patched = manifest
        for number in rules:
            rule = self._overlay.patches[number]
            if not rule.concerns(patched):
                continue
            self._used.add(number)
            try:
                result = apply_patch(rule, patched)
            except PatchError as error:
                self._refuse(rule, document, f"the patch does not apply to {document.file}:{document.line}: {error}")
                return None
            if result is None:
                if document.manifest["kind"] == "Shoot" or is_registration(document):
                    what = document.manifest["kind"]
                    self._refuse(rule, document, f"a patch cannot delete a {what}: nothing here ever does")
                return None
            patched = result
        return patched

    def _refuse(self, rule: PatchRule, document: Document, message: str) -> None:
        self.violations.append(Violation(rule.file, rule.line, document.title, "patch-does-not-apply", message))
