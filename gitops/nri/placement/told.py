"""What the plugin on one node tells of its balloons, from whichever of its voices was heard."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

_CONTAINER = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_BALLOON = re.compile(r"(?P<type>[^\s\[\]{}\"\\]+)\[(?P<number>\d{1,6})\]")


class Voice(Enum):
    """Where it was told."""

    TOPOLOGY = "NodeResourceTopology"
    LOG = "log"
    """Told when a container starts; what became of a balloon since is not."""
    METRICS = "metrics"


@dataclass(frozen=True)
class Balloon:
    """One balloon on one node."""

    name: str
    """Such as `fast[0]`."""
    cpus: frozenset[int]
    """Its own; idle ones that it shares are not among them."""
    shared: frozenset[int] = frozenset()
    """Idle CPUs that its containers may use too."""

    @property
    def type(self) -> str:
        """The balloon type's name."""
        return balloon_type(self.name)


@dataclass(frozen=True)
class Told:
    """Everything that one node's plugin told in one voice."""

    voice: Voice
    balloons: Mapping[str, Balloon] = field(default_factory=dict)
    """By name."""
    assignments: Mapping[str, str] = field(default_factory=dict)
    """By container, as `<namespace>/<pod>/<container>`: its balloon's name."""
    names_containers: bool = True
    """Whether the voice tells of containers at all, so that silence about one means something."""


def is_container(text: str) -> bool:
    """Whether a text is `<namespace>/<pod>/<container>`."""
    return _CONTAINER.fullmatch(text) is not None


def is_balloon(text: str) -> bool:
    """Whether a text is a balloon's name such as `fast[0]`."""
    return _BALLOON.fullmatch(text) is not None


def balloon_type(name: str) -> str:
    """`fast` of `fast[0]`."""
    return name.rpartition("[")[0]
