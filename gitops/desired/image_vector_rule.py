"""What an overlay says about image vectors, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gitops.gardener.image_vector.rendering import Form


class Registration(Enum):
    """The object that carries an extension's chart values."""

    CONTROLLER_DEPLOYMENT = "ControllerDeployment"
    """In the garden itself."""
    EXTENSION = "Extension"
    """`operator.gardener.cloud`, in the runtime cluster of a landscape that gardener-operator manages."""


@dataclass(frozen=True)
class VectorSource:
    """Where an image vector is written; exactly one of the two is set."""

    path: str | None
    """A file inside the repository."""
    inline: Any
    """The vector itself, in the overlay; any JSON value until it is read."""
    at: tuple[str | int, ...]
    """Where the overlay says so."""


@dataclass(frozen=True)
class ControllerImage:
    """The image of an extension's own controller: chart values, not part of any vector."""

    repository: str | None
    """None leaves the chart's."""
    tag: str | None
    """A tag or a digest; None leaves the chart's."""


@dataclass(frozen=True)
class ImageVectorRule:
    """The images of one extension."""

    extension: str
    """Name of the object that is written."""
    registration: Registration
    form: Form
    """What the extension's chart wants."""
    overwrite: VectorSource | None
    """What is merged over the extension's own vector; None where only the controller's image is declared."""
    base: str | None
    """The extension's own vector, inside the repository; None leaves unproven that the overwrite wins."""
    needs: tuple[str, ...]
    """Images that the extension's chart is known to pull, whatever its vector says."""
    image: ControllerImage | None
    components: tuple[tuple[str, VectorSource], ...]
    """Overwrites for components that the extension deploys in its turn, by name."""
    at: tuple[str | int, ...]
    """Where the overlay says so."""
