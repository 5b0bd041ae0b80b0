"""What images resolve to, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from gitops.desired.image_vectors import DeclaredVector
from gitops.gardener.image_vector.check import Resolution
from gitops.plan.document import API_VERSION
from gitops.report.style import Style, Tone
from gitops.report.table import table_lines

_HEADING = ("EXTENSION", "IMAGE", "FROM", "REFERENCE", "MACHINES")


def image_vectors_text(overlay: str, vectors: Iterable[DeclaredVector], style: Style) -> str:
    """A table of images; machines that get the same one share a line."""
    rows: list[tuple[str, ...]] = []
    tones: list[Tone | None] = []
    for vector in vectors:
        for (name, reference, overwritten), alike in groupby(sorted(vector.resolutions, key=_image), key=_image):
            machines = "; ".join(str(found.demand) for found in alike)
            rows.append((vector.rule.extension, name, _origin(overwritten=overwritten), reference or "none", machines))
            tones.append(Tone.CHANGED if overwritten else None if reference else Tone.REMOVED)
    if not rows:
        return f"{overlay}: no image vector is proven; declare `base` for each.\n"
    return "\n".join(table_lines(_HEADING, rows, style, tones)) + "\n"


def image_vectors_document(overlay: str, vectors: Iterable[DeclaredVector]) -> dict[str, Any]:
    """The same as JSON, with the chart values that are declared."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ImageVectors",
        "overlay": overlay,
        "extensions": [
            {
                "extension": vector.rule.extension,
                "registration": vector.rule.registration.value,
                "values": vector.values,
                "images": [
                    {
                        "name": found.name,
                        "kubernetesVersion": found.demand.version,
                        "architecture": found.demand.architecture,
                        "reference": found.reference,
                        "overwritten": found.overwritten,
                    }
                    for found in vector.resolutions
                ],
            }
            for vector in vectors
        ],
    }


def _image(found: Resolution) -> tuple[str, str, bool]:
    return (found.name, found.reference or "", found.overwritten)


def _origin(*, overwritten: bool) -> str:
    return "overwrite" if overwritten else "built-in"
