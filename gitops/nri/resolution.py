"""Which policy a node uses: decided by names alone, `node.<NODE>` over `group.<GROUP>` or `default`.

Source: nri-plugins pkg/agent/agent.go. Nothing is merged and nothing falls through: a node in group X uses
`group.X` or nothing, never `default`. Only policies of one kind in one namespace, that of the agent, compete.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from enum import IntEnum

from gitops.manifest import Manifest, get

POLICY_GROUP = "config.nri"
"""The API group; `v1alpha1` is its only version."""

POLICY_KINDS = frozenset({"BalloonsPolicy", "TopologyAwarePolicy", "TemplatePolicy"})
"""The kinds that nodes resolve by name and answer in `status.nodes`."""

GROUP_LABELS = ("config.nri/group", "group.config.nri", "resource-policy.nri.io/group")
"""Node labels that name the group; the first with a value counts, the last two are deprecated."""

_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class Stage(IntEnum):
    """The order in which policies are written: what most nodes share comes first."""

    DEFAULT = 0
    GROUP = 1
    NODE = 2
    UNUSED = 3
    """A name that no node will ever look for."""


def is_policy(manifest: Manifest) -> bool:
    """Whether it is a policy that nodes resolve by name."""
    group, slash, _ = str(manifest.get("apiVersion")).partition("/")
    return bool(slash) and group == POLICY_GROUP and str(manifest.get("kind")) in POLICY_KINDS


def stage(policy_name: str) -> Stage:
    """When a policy of this name is written, and whether any node can use it at all."""
    if policy_name == "default":
        return Stage.DEFAULT
    kind, _, rest = policy_name.partition(".")
    if not rest:
        return Stage.UNUSED
    return {"group": Stage.GROUP, "node": Stage.NODE}.get(kind, Stage.UNUSED)


def node_name(node: Manifest) -> str:
    """`metadata.name` of a Node; empty when it has none."""
    return str(get(node, "metadata", "name") or "")


def shared_policy(node: Manifest) -> str | None:
    """The policy a node uses unless it has one of its own: `group.<GROUP>`, or `default` outside all groups.

    None: the label's value cannot be part of an object's name (upper case, underscore), so that no policy can
    ever match.
    """
    labels = get(node, "metadata", "labels")
    group = next((value for label in GROUP_LABELS if (value := get(labels, label))), None)
    if group is None:
        return "default"
    name = f"group.{group}"
    return name if _OBJECT_NAME.fullmatch(name) else None


def effective_policy(node: Manifest, policy_names: Collection[str]) -> str | None:
    """The name of the policy a node will use, out of those that exist; None: it has no configuration."""
    own = f"node.{node_name(node)}"
    if own in policy_names:
        return own
    shared = shared_policy(node)
    return shared if shared in policy_names else None


def resolve(nodes: Iterable[Manifest], policy_names: Collection[str]) -> Mapping[str, str | None]:
    """Every node's name with the name of the policy it will use; None: it has no configuration."""
    return {node_name(node): effective_policy(node, policy_names) for node in nodes}


def nodes_of(policy_name: str, nodes: Iterable[Manifest], policy_names: Collection[str]) -> tuple[Manifest, ...]:
    """Those of the nodes that will use the policy of this name."""
    return tuple(node for node in nodes if effective_policy(node, policy_names) == policy_name)


def live_nodes(nodes: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Those of the nodes that are here to stay: the ones being deleted will not answer any more."""
    return tuple(node for node in nodes if not get(node, "metadata", "deletionTimestamp"))


def unconfigured_nodes(nodes: Iterable[Manifest], policy_names: Collection[str]) -> tuple[Manifest, ...]:
    """The live nodes without configuration; `shared_policy` tells which policy each of them misses."""
    return tuple(node for node in live_nodes(nodes) if effective_policy(node, policy_names) is None)
