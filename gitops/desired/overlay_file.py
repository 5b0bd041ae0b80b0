"""From an overlay's file to an `Overlay`, or to everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import durationpy

from gitops.desired.artifact import Artifact
from gitops.desired.documents import Document, DocumentCache, documents_of, parse_values
from gitops.desired.image_vector_rule import ControllerImage, ImageVectorRule, Registration, VectorSource
from gitops.desired.overlay import (
    ApprovalRule,
    Concurrency,
    ExtensionRule,
    ExtensionState,
    Garden,
    Gate,
    IgnoreRule,
    Overlay,
    PolicySource,
    Unit,
    Verification,
    Wave,
)
from gitops.desired.patch_text import read_patch, read_target
from gitops.desired.patches import PatchRule
from gitops.desired.paths import resolve
from gitops.desired.schema_check import schema_violations
from gitops.desired.selector import Selector, label_selector
from gitops.desired.windows import Window, parse_window
from gitops.errors import InvalidInput, Violation
from gitops.gardener.image_vector.rendering import Form
from gitops.manifest import Element, Path, Step
from gitops.nri.acceptance.cpuset import parse_cpuset
from gitops.nri.acceptance.machine import Machine, parse_machine
from gitops.nri.prerequisites.wanted import DEFAULT_IMAGE, Demand, Prerequisites
from gitops.ownership.owners import Tool

_FOLDER = "overlays"
_FILE = "overlay.yaml"
_T = TypeVar("_T")
_ELEMENT = re.compile(r"\[([^=\]]+)=(.*)\]")
_GATE = Gate()


def overlay_names(artifact: Artifact) -> tuple[str, ...]:
    """The overlays of a revision, sorted: every folder below `overlays/` that holds an `overlay.yaml`."""
    parts = (path.split("/") for path in artifact.files)
    return tuple(sorted(name[1] for name in parts if len(name) == 3 and (name[0], name[2]) == (_FOLDER, _FILE)))


def read_overlay(artifact: Artifact, name: str, cache: DocumentCache) -> Overlay:
    """One overlay by its name.

    Raises:
        InvalidInput: there is no such overlay, or it breaks rules; all of them are told.
    """
    path = f"{_FOLDER}/{name}/{_FILE}"
    if path not in artifact.files or "/" in name:
        known = ", ".join(overlay_names(artifact)) or f"none: add {_FOLDER}/<name>/{_FILE}"
        message = f"there is no overlay {name!r} at this revision; the overlays are {known}"
        raise InvalidInput([Violation(_FOLDER, 0, "", "unknown-overlay", message)])
    documents = documents_of(artifact, path, cache)
    if len(documents) != 1:
        message = f"the file must hold exactly one Overlay, not {len(documents)} documents"
        raise InvalidInput([Violation(path, documents[1].line if documents else 0, "", "overlay-file", message)])
    if violations := schema_violations(documents[0]):
        raise InvalidInput(violations)
    return _Reading(artifact, documents[0]).overlay(name)


class _Reading:
    """Reads one overlay whose shape is sound, and collects what the shape cannot say."""

    def __init__(self, artifact: Artifact, document: Document) -> None:
        self._artifact = artifact
        self._document = document
        self._file = document.file
        self._spec: dict[str, Any] = document.manifest["spec"]
        self._violations: list[Violation] = []

    def overlay(self, name: str) -> Overlay:
        spec = self._spec
        if (declared := self._document.manifest["metadata"]["name"]) != name:
            self._refuse("overlay-name", f"metadata.name is {declared!r}, its folder {name!r}", "metadata", "name")
        overlay = Overlay(
            name=name,
            file=self._file,
            garden=self._garden(),
            resources=tuple(self._path(raw, "resources", at) for at, raw in enumerate(spec["resources"])),
            waves=self._waves(),
            policies=self._each("policies", self._policy),
            extensions=self._each("extensions", self._extension),
            image_vectors=self._each("imageVectors", self._image_vector),
            patches=self._each("patches", self._patch),
            ignore=self._each("ignore", self._ignore),
            gate=self._gate(),
            prerequisites=_prerequisites(spec.get("prerequisites", {})),
            verification=_verification(spec.get("verification", {})),
            adopt=frozenset(Tool(tool) for tool in spec.get("adopt", [])),
            machines=self._machines(),
            node_waves=tuple(tuple(raw["policies"]) for raw in spec.get("nodeWaves", [])),
            max_deletions=spec.get("prune", {}).get("maxDeletions", Overlay.max_deletions),
        )
        if self._violations:
            raise InvalidInput(self._violations)
        return overlay

    def _refuse(self, rule: str, message: str, *at: str | int) -> None:
        self._violations.append(self._document.violation(rule, message, *at))

    def _line(self, *at: str | int) -> int:
        return self._document.violation("", "", "spec", *at).line

    def _each(self, key: str, read: Callable[[dict[str, Any], str, int], _T]) -> tuple[_T, ...]:
        return tuple(read(raw, key, position) for position, raw in enumerate(self._spec.get(key, [])))

    def _garden(self) -> Garden:
        garden = self._spec["garden"]
        for at, namespace in enumerate(garden["namespaces"]):
            if namespace == "garden":
                message = "namespace garden holds the landscape's own Shoots (ManagedSeeds): no overlay may write there"
                self._refuse("namespace-garden", message, "spec", "garden", "namespaces", at)
        return Garden(garden["identity"], tuple(garden["namespaces"]))

    def _path(self, raw: str, *at: str | int) -> str:
        try:
            return resolve(self._file, raw)
        except ValueError as error:
            self._refuse("path", str(error), "spec", *at)
            return ""

    def _shoots(self, raw: dict[str, Any], *at: str | int) -> Selector | None:
        if "shoots" not in raw:
            return None
        try:
            return label_selector(raw["shoots"])
        except ValueError as error:
            self._refuse("selector", str(error), "spec", *at, "shoots")
            return None

    def _policy(self, raw: dict[str, Any], key: str, at: int) -> PolicySource:
        return PolicySource(self._path(raw["path"], key, at, "path"), self._shoots(raw, key, at), self._line(key, at))

    def _extension(self, raw: dict[str, Any], key: str, at: int) -> ExtensionRule:
        rule = ExtensionRule(
            type=raw["type"],
            state=ExtensionState(raw["state"]),
            provider_config=raw.get("providerConfig"),
            replaces=tuple(raw.get("replaces", [])),
            shoots=self._shoots(raw, key, at),
            line=self._line(key, at),
        )
        if rule.state is ExtensionState.DISABLED and (rule.replaces or rule.provider_config is not None):
            self._refuse(
                "extension", "a disabled extension has no providerConfig and replaces nothing", "spec", key, at
            )
        if rule.type in rule.replaces:
            self._refuse("extension", f"{rule.type!r} cannot replace itself", "spec", key, at, "replaces")
        return rule

    def _image_vector(self, raw: dict[str, Any], key: str, at: int) -> ImageVectorRule:
        image, components = raw.get("image"), raw.get("components", [])
        declares_vector = {"path", "inline"} & raw.keys() or not (image or components)
        return ImageVectorRule(
            extension=raw["extension"],
            registration=Registration(raw["registration"]),
            form=Form(raw["form"]),
            overwrite=self._vector_source(raw, key, at) if declares_vector else None,
            base=self._path(raw["base"], key, at, "base") if "base" in raw else None,
            needs=tuple(raw.get("needs", [])),
            image=None if image is None else ControllerImage(image.get("repository"), image.get("tag")),
            components=tuple(
                (component["name"], self._vector_source(component, key, at, "components", position))
                for position, component in enumerate(components)
            ),
            at=("spec", key, at),
        )

    def _vector_source(self, raw: dict[str, Any], *at: str | int) -> VectorSource:
        if ("path" in raw) == ("inline" in raw):
            self._refuse("vector-source", "needs exactly one of 'path' and 'inline'", "spec", *at)
        path = self._path(raw["path"], *at, "path") if "path" in raw else None
        return VectorSource(path, raw.get("inline"), ("spec", *at))

    def _patch(self, raw: dict[str, Any], key: str, at: int) -> PatchRule:
        text_file = self._file
        line = self._line(key, at)
        shoots = self._shoots(raw, key, at)
        operations: tuple[dict[str, Any], ...] = ()
        documents: tuple[dict[str, Any], ...] = ()
        target = None
        try:
            target = read_target(raw["target"]) if "target" in raw else None
            if "path" in raw:
                text_file = resolve(self._file, raw["path"])
            operations, documents = read_patch(self._patch_values(raw, text_file, key, at), target)
        except InvalidInput as error:
            self._violations.extend(error.violations)
        except ValueError as error:
            self._violations.append(Violation(self._file, line, "", "patch-text", str(error)))
        return PatchRule(target, shoots, operations, documents, self._file, line)

    def _patch_values(self, raw: dict[str, Any], file: str, key: str, at: int) -> list[Any]:
        if "path" in raw:
            if file not in self._artifact.files:
                raise ValueError(f"there is no file {file!r}")
            return parse_values(self._artifact.read(file), file)
        if not isinstance(raw["patch"], str):
            return [raw["patch"]]
        try:
            return parse_values(raw["patch"].encode(), file)
        except InvalidInput as error:
            # Lines inside the text count from the line after `patch: |`.
            first = self._line(key, at, "patch") if "\n" in raw["patch"] else self._line(key, at, "patch") - 1
            raise InvalidInput(
                [Violation(file, first + v.line, v.object, v.rule, v.message) for v in error.violations]
            ) from error

    def _ignore(self, raw: dict[str, Any], key: str, at: int) -> IgnoreRule:
        paths = tuple(_steps(pointer) for pointer in raw["paths"])
        return IgnoreRule(raw["kind"], paths, self._shoots(raw, key, at), self._line(key, at))

    def _machines(self) -> dict[str, Machine]:
        machines: dict[str, Machine] = {}
        for at, raw in enumerate(self._spec.get("machines", [])):
            if raw["type"] in machines:
                self._refuse("machine", f"machine type {raw['type']!r} is there twice", "spec", "machines", at, "type")
            try:
                isolated = parse_cpuset(raw.get("isolated", ""))
                machines[raw["type"]] = replace(parse_machine(raw["shape"]), isolated=isolated)
            except ValueError as error:
                self._refuse("machine", str(error), "spec", "machines", at)
        return machines

    def _waves(self) -> tuple[Wave, ...]:
        waves = self._each("waves", self._wave)
        names: dict[str, int] = {}
        for at, wave in enumerate(waves):
            if wave.name in names:
                first = names[wave.name]
                message = f"wave {wave.name!r} was already given on line {first}: name each once"
                self._refuse("wave-name", message, "spec", "waves", at, "name")
            elif wave.name == "garden":
                message = "'garden' is the name of the step before all waves: choose another"
                self._refuse("wave-name", message, "spec", "waves", at, "name")
            names.setdefault(wave.name, wave.line)
        return waves

    def _wave(self, raw: dict[str, Any], key: str, at: int) -> Wave:
        return Wave(
            name=raw["name"],
            shoots=self._shoots(raw, key, at),
            max_concurrent=_concurrency(raw.get("maxConcurrent", 1)),
            max_failures=raw.get("maxFailures", 0),
            soak=_duration(raw.get("soak", "0s")),
            line=self._line(key, at),
            approval=ApprovalRule(raw.get("approval", ApprovalRule.NOT_REQUIRED.value)),
            windows=tuple(self._windows(raw.get("windows", []), key, at)),
        )

    def _windows(self, windows: list[dict[str, Any]], key: str, wave: int) -> Iterator[Window]:
        for at, raw in enumerate(windows):
            try:
                yield parse_window(raw["schedule"], _duration(raw["duration"]), raw.get("zone", "UTC"))
            except ValueError as error:
                field = str(error).partition(" ")[0]
                self._refuse("window", str(error), "spec", key, wave, "windows", at, *([field] if field in raw else []))

    def _gate(self) -> Gate:
        gate = self._spec.get("gate", {})
        return Gate(
            _duration(gate["timeout"]) if "timeout" in gate else _GATE.timeout,
            _duration(gate["quarantineAfter"]) if "quarantineAfter" in gate else _GATE.quarantine_after,
        )


_DEMANDS = {"Install": Demand.REPAIR, "Enable": Demand.REPAIR, "Require": Demand.REQUIRE, "Ignore": Demand.IGNORE}


def _prerequisites(raw: dict[str, Any]) -> Prerequisites:
    dbus, nri, cgroup = (_DEMANDS[raw.get(key, "Ignore")] for key in ("dbus", "nri", "cgroupV2"))
    return Prerequisites(dbus, nri, cgroup, raw.get("image", DEFAULT_IMAGE), raw.get("pullSecret", ""))


def _verification(raw: dict[str, Any]) -> Verification:
    return Verification(raw.get("placement") == "Require", raw.get("instance", ""))


def _duration(text: str) -> timedelta:
    return durationpy.from_str(text)


def _concurrency(raw: int | str) -> Concurrency:
    if isinstance(raw, str):
        return Concurrency(int(raw.removesuffix("%")), Unit.PERCENT)
    return Concurrency(raw, Unit.SHOOTS)


def _steps(pointer: str) -> Path:
    """`/spec/extensions/[type=x]/disabled` as a path; escapes are RFC 6901's."""
    steps: list[Step] = []
    for part in pointer[1:].split("/"):
        text = part.replace("~1", "/").replace("~0", "~")
        element = _ELEMENT.fullmatch(text)
        steps.append(Element(element[1], element[2]) if element else text)
    return tuple(steps)
