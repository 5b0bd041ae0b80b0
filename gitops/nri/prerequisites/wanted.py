"""What an overlay asks of every node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Demand(Enum):
    """How much an overlay asks for one prerequisite."""

    IGNORE = "Ignore"
    """Nobody looks."""
    REQUIRE = "Require"
    """It must be there; no node is ever changed for it."""
    REPAIR = "Repair"
    """Where it is missing it is brought: `Install` for D-Bus, `Enable` for NRI."""


class Need(Enum):
    """One prerequisite."""

    DBUS = "D-Bus"
    """The system bus, through which `patch-runtime` of the plugins' charts restarts the container runtime."""
    NRI = "NRI"
    """The Node Resource Interface of the container runtime, without which no plugin is ever asked."""
    CGROUP_V2 = "cgroup v2"


DEFAULT_IMAGE = "busybox:stable"
"""What the jobs on nodes run in unless the overlay says otherwise: it needs `sh`, `chroot` and `nsenter`, no more."""


@dataclass(frozen=True)
class Prerequisites:
    """What must hold on every node of a shoot before its Shoot is written."""

    dbus: Demand = Demand.IGNORE
    nri: Demand = Demand.IGNORE
    cgroup_v2: Demand = Demand.IGNORE
    """Never `REPAIR`: it is decided when a machine boots."""
    image: str = DEFAULT_IMAGE
    """Of the jobs that look at nodes and repair them."""
    pull_secret: str = ""
    """A Secret in kube-system of the shoot, with which the image is pulled; empty where none is needed."""

    def demand(self, need: Need) -> Demand:
        """What is asked for one prerequisite."""
        return {Need.DBUS: self.dbus, Need.NRI: self.nri, Need.CGROUP_V2: self.cgroup_v2}[need]

    @property
    def any(self) -> bool:
        """Whether anything is asked at all."""
        return any(self.demand(need) is not Demand.IGNORE for need in Need)
