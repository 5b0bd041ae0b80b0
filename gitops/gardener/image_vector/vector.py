"""The nouns: a source of an image, what is looked up, and the image that is found (types.go)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Key: TypeAlias = tuple[str, str, str, str | None]
"""What makes two entries the same one: name, runtime version, target version, architectures; letter by letter."""

ARCHITECTURES = ("amd64", "arm64")
"""What a worker's machine may have, and what an entry without architectures is for."""
DIGEST = "sha256:"
"""How a tag begins that is a digest and nothing else."""


@dataclass(frozen=True)
class ImageSource:
    """One entry of an image vector."""

    name: str
    runtime_version: str | None = None
    """Constraint on the version of the cluster that the image runs in."""
    target_version: str | None = None
    """Constraint on the version of the cluster that the image works on."""
    architectures: tuple[str, ...] | None = None
    """None is for all of `ARCHITECTURES`; an empty tuple is for none."""
    ref: str | None = None
    """The whole image reference; excludes repository and tag."""
    repository: str | None = None
    tag: str | None = None
    """A tag, `sha256:…`, or both as `v1@sha256:…`."""
    version: str | None = None
    """For people; takes no part in the lookup."""

    @property
    def key(self) -> Key:
        """What decides which entry an overwrite replaces: order of architectures and spaces in versions count."""
        architectures = None if self.architectures is None else "".join(self.architectures)
        return (self.name, self.runtime_version or "", self.target_version or "", architectures)

    def image(self, target_version: str | None = None) -> Image:
        """The image it stands for; without a tag it has the version that is asked for."""
        if self.ref is not None:
            return Image(self.ref, self.version)
        tag = self.tag
        if tag is None and target_version is not None:
            tag = "v" + target_version.lstrip("v")
        if tag is None:
            return Image(self.repository or "", self.version)
        joint = "@" if tag.startswith(DIGEST) else ":"
        return Image(f"{self.repository}{joint}{tag}", tag if self.version is None else self.version)


@dataclass(frozen=True)
class Image:
    """What a lookup found."""

    reference: str
    """As a container runtime pulls it."""
    version: str | None
    """For people; the tag where the entry says nothing else."""


@dataclass(frozen=True)
class Lookup:
    """What an extension asks its image vector for."""

    name: str
    runtime_version: str | None = None
    """None: the extension does not say, and every entry fits."""
    target_version: str | None = None
    """None: the extension does not say, and every entry fits."""
    architecture: str | None = None
    """None: the extension does not say, which means amd64."""
