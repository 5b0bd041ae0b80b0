"""What a run cannot do yet with image vectors."""

from __future__ import annotations

from gitops.desired.overlay import Overlay
from gitops.errors import InvalidInput, Violation


def refuse_image_vectors(overlay: Overlay) -> None:
    """Stop before a run that would leave out what the overlay declares.

    Raises:
        InvalidInput: the overlay has image vectors.
    """
    if overlay.image_vectors:
        message = (
            "spec.imageVectors is not supported yet by runs: `gitops validate` and `gitops image-vector check` prove "
            "it, and nothing writes it to the garden"
        )
        raise InvalidInput([Violation(overlay.file, 0, f"Overlay {overlay.name}", "not-supported-yet", message)])
