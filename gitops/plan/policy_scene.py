"""The policies of one shoot as they will be, and the nodes that will use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import Overlay
from gitops.manifest import Manifest, Ref, State
from gitops.nri.machines import Pool, machines_of
from gitops.nri.resolution import is_policy, node_name
from gitops.nri.topology import containers_of, cpus_of
from gitops.nri.usage import as_declared
from gitops.ownership.applyset import applyset_id, set_of
from gitops.plan.observed import Inside

Contest = tuple[str, str]
"""Kind and namespace: only policies that have both in common compete for a node."""


@dataclass(frozen=True)
class PolicyScene:
    """Everything that says who will use which policy."""

    pools: tuple[Pool, ...]
    """Worker pools; none where the Shoot declares none, or where nobody knows it."""
    nodes: tuple[Manifest, ...]
    """Live nodes that stay, labelled as their pools declare."""
    before: Mapping[Contest, frozenset[str]]
    """Names of the policies that are there."""
    after: Mapping[Contest, frozenset[str]]
    """Names of the policies that will be there."""
    containers: Mapping[str, int] = field(default_factory=dict)
    """By node: how many containers it shows that are pinned; nodes that do not show any are not in it."""


def policy_scene(desired: DesiredShoot, overlay: Overlay, inside: Inside, shoot: Manifest | None) -> PolicyScene:
    """The scene of one shoot.

    Args:
        desired: what is declared.
        overlay: where machines are declared, and whose objects may go.
        inside: what the shoot holds.
        shoot: the Shoot as it will be; None where nobody knows.
    """
    around = inside.surroundings
    topologies = around.topologies if around else ()
    counted = {node_name(one): cpus for one in topologies if (cpus := cpus_of(one))}
    profile = around.cloud_profile if around else None
    pools = machines_of(shoot, profile, overlay.machines, inside.nodes, counted) if shoot is not None else ()
    ours = applyset_id(overlay.name)
    declared = {ref.identity for ref in desired.objects}
    left = {ref: one for ref, one in inside.objects.items() if ref.identity in declared or set_of(one) != ours}
    return PolicyScene(
        pools=pools,
        nodes=as_declared(inside.nodes, pools),
        before=contests(inside.objects),
        after=contests({**left, **desired.objects}),
        containers={node_name(one): count for one in topologies if (count := containers_of(one))},
    )


def contests(objects: State | Mapping[Ref, Manifest]) -> dict[Contest, frozenset[str]]:
    """The policies among objects, by what they compete in."""
    names: dict[Contest, set[str]] = {}
    for ref, manifest in objects.items():
        if is_policy(manifest):
            names.setdefault((ref.kind, ref.namespace), set()).add(ref.name)
    return {contest: frozenset(found) for contest, found in names.items()}
