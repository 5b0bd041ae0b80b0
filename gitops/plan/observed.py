"""What planning is given of the world: one value per shoot, in which not knowing is a value too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gitops.errors import ApiError, GitopsError
from gitops.manifest import Manifest, Ref, State, Target
from gitops.nri.placement.verification import Scene

Kind = tuple[str, str]
"""apiVersion and kind."""


@dataclass(frozen=True)
class NodeWork:
    """What of ours is at work on a shoot's nodes, and what was noted of them."""

    ledger: Manifest | None
    """The ConfigMap; None where there is none."""
    daemon_sets: tuple[Manifest, ...]
    """Ours."""
    pods: tuple[Manifest, ...]
    """Theirs."""
    run: str
    """Which run looked, unlike every other."""


@dataclass(frozen=True)
class Surroundings:
    """What the fate of a policy depends on; what is absent is simply not among it."""

    definitions: Mapping[Kind, Manifest] = field(default_factory=dict)
    """The CustomResourceDefinitions of the policies, by what they define."""
    topologies: tuple[Manifest, ...] = ()
    """The NodeResourceTopology of each node that has one."""
    daemon_sets: tuple[Manifest, ...] = ()
    """Those of the policies' plugins."""
    cloud_profile: Manifest | None = None
    unread: tuple[str, ...] = ()
    """A sentence for each of these that nobody could read."""


@dataclass(frozen=True)
class Inside:
    """What one shoot's own API server holds."""

    objects: State
    """Every object of the kinds that may concern us, ours or not."""
    nodes: tuple[Manifest, ...]
    unserved: frozenset[Kind]
    """Kinds that the shoot does not serve, such as those of a CRD that is not there yet."""
    dry_runs: Mapping[Ref, Manifest | ApiError] = field(default_factory=dict)
    """What applying an object would make of it, or why the server refuses; only for objects that may differ."""
    node_work: NodeWork | None = None
    """None where the overlay asks nothing of nodes."""
    scene: Scene | None = None
    """Where containers run; None where nobody asks, or where it is too early to."""
    surroundings: Surroundings | None = None
    """None while no policy is about to change: then nobody has looked."""


@dataclass(frozen=True)
class Unobserved:
    """Nobody has looked, and why not."""

    reason: str


@dataclass(frozen=True)
class ObservedRegistrations:
    """The registrations of extensions at one moment, in the garden and in the runtime cluster."""

    objects: State = field(default_factory=dict)
    """Every object of the kinds that concern us, declared or not."""
    installations: tuple[Manifest, ...] = ()
    """Every ControllerInstallation: one per extension and seed."""
    unserved: frozenset[tuple[Target, str, str]] = frozenset()
    """Target, apiVersion and kind of what a server does not serve."""
    server_time: datetime | None = None
    """When they were read, by the garden's clock; None when nobody looked."""


NO_REGISTRATIONS = ObservedRegistrations()


@dataclass(frozen=True)
class Observed:
    """One shoot at one moment."""

    shoot: Manifest | None
    """The live Shoot; None when the garden has none of that name."""
    server_time: datetime
    """When the garden was read, by its own clock."""
    inside: Inside | Unobserved | GitopsError
    """The shoot's own objects, or why they are not known."""
