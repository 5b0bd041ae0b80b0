"""An overlay composed whole: Shoots, registrations and policies, and its image vectors where the charts want them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from gitops.desired.artifact import Artifact, Blob
from gitops.desired.compose import Desired, Origin, compose
from gitops.desired.documents import DocumentCache, documents_of, line_of
from gitops.desired.image_vector_rule import Registration
from gitops.desired.image_vectors import DeclaredVector, read_image_vectors
from gitops.errors import InvalidInput, Violation
from gitops.gardener.registration_fields import CORE, CORE_V1, EXTENSION, VALUES_AT, registration_ref
from gitops.manifest import Manifest, Ref


def compose_whole(artifact: Artifact, overlay_name: str, now: datetime) -> Desired:
    """The desired state of one overlay, with the values that its image vectors stand for in the registrations.

    Args:
        artifact: the revision to read.
        overlay_name: a folder below `overlays/`.
        now: the time by which CA certificates in image vectors must not have ended.

    Raises:
        InvalidInput: with every violation that was found.
        SourceError: the artifact cannot be read.
    """
    noted = _Noted(artifact)
    desired = _composed(noted, overlay_name, now)
    return replace(desired, content=noted.digest)


class _Noted:
    """An artifact that notes what is read of it."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._read: dict[str, str] = {}

    @property
    def repository(self) -> str:
        return self._artifact.repository

    @property
    def revision(self) -> str:
        return self._artifact.revision

    @property
    def files(self) -> Mapping[str, Blob]:
        return self._artifact.files

    def read(self, path: str) -> bytes:
        data = self._artifact.read(path)
        self._read[path] = hashlib.sha256(data).hexdigest()
        return data

    @property
    def digest(self) -> str:
        """Of every file that was read, with its path."""
        return hashlib.sha256(json.dumps(self._read, sort_keys=True).encode()).hexdigest()


def _composed(artifact: Artifact, overlay_name: str, now: datetime) -> Desired:
    cache: DocumentCache = {}
    desired = compose(artifact, overlay_name, cache)
    if not desired.overlay.image_vectors:
        return desired
    found = read_image_vectors(artifact, desired, now, cache)
    overlay = documents_of(artifact, desired.overlay.file, cache)[0]
    registrations, origins = dict(desired.registrations), dict(desired.origins)
    violations: list[Violation] = []
    for vector in found.vectors:
        ref = _carrier(vector, registrations)
        line = line_of(overlay, vector.rule.at)
        carrier = copy.deepcopy(registrations.get(ref) or _bare(ref))
        twice = [at for place in VALUES_AT[ref.api_version, ref.kind] for at in _put(carrier, place, vector.values)]
        for at in dict.fromkeys(twice):
            message = f"{at} of {ref} is declared in {origins[ref].file}:{origins[ref].line} as well: keep one"
            violations.append(Violation(desired.overlay.file, line, str(ref), "declared-twice", message))
        registrations[ref] = carrier
        origins.setdefault(ref, Origin(desired.overlay.file, line))
    if violations:
        raise InvalidInput(violations)
    warnings = tuple(sorted({*desired.warnings, *found.warnings}))
    return replace(desired, registrations=dict(sorted(registrations.items())), origins=origins, warnings=warnings)


def _carrier(vector: DeclaredVector, registrations: dict[Ref, Manifest]) -> Ref:
    """The object that gets the values: a declared one in its own version."""
    deployments = ((CORE_V1, "ControllerDeployment"), (CORE, "ControllerDeployment"))
    kinds = (EXTENSION,) if vector.rule.registration is Registration.EXTENSION else deployments
    refs = [
        registration_ref({"apiVersion": version, "kind": kind, "metadata": {"name": vector.rule.extension}})
        for version, kind in kinds
    ]
    return next((ref for ref in refs if ref in registrations), refs[0])


def _bare(ref: Ref) -> Manifest:
    return {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name}}


def _put(manifest: Manifest, place: tuple[str, ...], values: dict[str, Any]) -> list[str]:
    """Put chart values in; returns the paths of those that were declared there already."""
    holder = manifest
    for step in place:
        holder[step] = holder.get(step) or {}
        holder = holder[step]
    twice = []
    for key, value in values.items():
        parts = value if key == "image" else {None: value}
        for part, content in parts.items():
            below = holder if part is None else holder.setdefault(key, {})
            name = key if part is None else part
            if name in below:
                twice.append("/" + "/".join((*place, key, *(() if part is None else (part,)))))
            below[name] = copy.deepcopy(content)
    return twice
