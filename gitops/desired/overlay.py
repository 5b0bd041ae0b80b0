"""An overlay as frozen values: which Shoots, policies and extensions go where, and in which waves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any

from gitops.desired.image_vector_rule import ImageVectorRule
from gitops.desired.patches import PatchRule
from gitops.desired.selector import Selector
from gitops.desired.windows import Window
from gitops.manifest import Path
from gitops.nri.acceptance.machine import Machine
from gitops.nri.prerequisites.wanted import Prerequisites
from gitops.ownership.owners import Tool


@dataclass(frozen=True)
class Garden:
    """Which garden this is for, and where in it the overlay may write."""

    identity: str
    """What ConfigMap kube-system/cluster-identity of that garden says."""
    namespaces: tuple[str, ...]
    """The only namespaces whose Shoots may be written; at least one. The first also holds what is kept of the overlay
    itself, so that one with another first namespace begins anew."""


@dataclass(frozen=True)
class PolicySource:
    """A file or folder of manifests for inside the shoots."""

    path: str
    """Inside the repository, already resolved from where the overlay stands."""
    shoots: Selector | None
    """Over declared labels; None means every shoot."""
    line: int
    """Where the overlay says so."""


class ExtensionState(Enum):
    """What becomes of an extension."""

    ENABLED = "Enabled"
    DISABLED = "Disabled"


@dataclass(frozen=True)
class ExtensionRule:
    """One extension on the shoots it is declared for."""

    type: str
    """`Shoot.spec.extensions[].type`."""
    state: ExtensionState
    provider_config: Any
    """Any JSON value; None where the overlay declares none, so that nothing is owned there."""
    replaces: tuple[str, ...]
    """Types that are disabled in the same write, because this one takes over from them."""
    shoots: Selector | None
    """None means every shoot."""
    line: int
    """Where the overlay says so."""


@dataclass(frozen=True)
class IgnoreRule:
    """Fields that somebody else may change: never reported as drift and never written."""

    kind: str
    paths: tuple[Path, ...]
    """Each covers everything below it."""
    shoots: Selector | None
    """None means every shoot."""
    line: int
    """Where the overlay says so."""


@dataclass(frozen=True)
class Concurrency:
    """How many shoots of a wave may be in flight: a number, or a share of the wave."""

    amount: int
    """Shoots, or percent of the wave."""
    unit: Unit

    def of(self, size: int) -> int:
        """Shoots in flight in a wave of `size` shoots; a share is rounded down, and never below one."""
        return max(1, self.amount if self.unit is Unit.SHOOTS else size * self.amount // 100)


class Unit(Enum):
    """What an amount counts."""

    SHOOTS = "shoots"
    PERCENT = "percent"


class ApprovalRule(Enum):
    """Whether the plan of a wave's shoots must be approved before they are written."""

    REQUIRED = "Required"
    NOT_REQUIRED = "NotRequired"


@dataclass(frozen=True)
class Wave:
    """One step of the rollout."""

    name: str
    shoots: Selector | None
    """None means all shoots that no earlier wave took."""
    max_concurrent: Concurrency
    max_failures: int
    """How many shoots may fail before the rollout stops; 0 stops at the first."""
    soak: timedelta
    """How long a shoot must stay current before it counts as passed."""
    line: int
    """Where the overlay says so."""
    approval: ApprovalRule = ApprovalRule.NOT_REQUIRED
    windows: tuple[Window, ...] = ()
    """When shoots may be started: while any is open; empty means always."""


@dataclass(frozen=True)
class Gate:
    """How long the rollout waits for what it wrote."""

    timeout: timedelta = timedelta(minutes=45)
    """From the write until the gate must be open; later is a failure."""
    quarantine_after: timedelta = timedelta(minutes=5)
    """How long a shoot may be unreachable before the rollout goes on without it."""


@dataclass(frozen=True)
class Verification:
    """Whether a shoot must show where its containers run before it counts as converged."""

    placement: bool = False
    """Whether every container must be known to run where its policy says."""
    instance: str = ""
    """`app.kubernetes.io/instance` of the plugin's DaemonSet; empty means any."""


ADOPTABLE = frozenset({Tool.FLUX, Tool.ARGO_CD, Tool.HELM})
"""Tools that let go of an object when they are told to; others would go on writing."""


@dataclass(frozen=True)
class Overlay:
    """One environment."""

    name: str
    """Its folder under `overlays/`."""
    file: str
    """The overlay's own path inside the repository."""
    garden: Garden
    resources: tuple[str, ...]
    """Files or folders of Shoots, inside the repository."""
    waves: tuple[Wave, ...]
    """At least one, in their order."""
    policies: tuple[PolicySource, ...] = ()
    extensions: tuple[ExtensionRule, ...] = ()
    image_vectors: tuple[ImageVectorRule, ...] = ()
    patches: tuple[PatchRule, ...] = ()
    """In the order they apply."""
    ignore: tuple[IgnoreRule, ...] = ()
    gate: Gate = field(default_factory=Gate)
    adopt: frozenset[Tool] = frozenset()
    """Tools whose objects may be taken over; an object of any other tool is refused."""
    machines: Mapping[str, Machine] = field(default_factory=dict)
    """By machine type: what no CloudProfile tells."""
    prerequisites: Prerequisites = field(default_factory=Prerequisites)
    verification: Verification = field(default_factory=Verification)
    node_waves: tuple[tuple[str, ...], ...] = ()
    """Globs of policy names, wave by wave: inside a shoot, the nodes of an earlier wave accept their policies before a
    policy of a later one is written. Policies that no wave names come last."""
    max_deletions: int = 10
    """The most objects one run may prune; more is refused before anything is deleted."""
