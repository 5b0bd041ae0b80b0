"""Who will use which policy, in words: what to know before a policy is written.

Everything follows from names (see `resolution`), so everything is known before any node sees anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gitops.manifest import Manifest, get
from gitops.nri.machines import POOL_LABEL, Pool
from gitops.nri.resolution import (
    GROUP_LABELS,
    Stage,
    effective_policy,
    live_nodes,
    node_name,
    shared_policy,
    stage,
    unconfigured_nodes,
)

_LABEL = GROUP_LABELS[0]


def as_declared(nodes: Iterable[Manifest], pools: Sequence[Pool]) -> tuple[Manifest, ...]:
    """The live nodes that stay, with the labels that their worker pools declare.

    Gardener brings them to existing nodes without replacing any (gardener docs/usage/shoot/shoot_updates.md).
    """
    labels = {pool.name: pool.labels for pool in pools}
    return tuple(
        _labelled(node, labels.get(str(get(node, "metadata", "labels", POOL_LABEL)))) for node in live_nodes(nodes)
    )


def used_by(nodes: Sequence[Manifest], pools: Sequence[Pool], names: Collection[str]) -> str:
    """Such as `14 nodes: 12 default, 2 group.latency; 3 nodes would have no configuration`.

    Args:
        nodes: as declared; where there is none, the pools speak for their nodes to come.
        pools: the worker pools.
        names: of all policies of one kind in one namespace, as they will be.
    """
    if not nodes:
        return _used_by_pools(pools, names)
    found = [effective_policy(node, names) for node in nodes]
    counts = Counter(name for name in found if name is not None)
    parts = []
    if counts:
        uses = ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda name: (stage(name), name)))
        parts.append(f"{_nodes(counts.total())}: {uses}")
    if bare := found.count(None):
        parts.append(f"{_nodes(bare)} would have no configuration")
    return "; ".join(parts)


def remarks(nodes: Sequence[Manifest], pools: Sequence[Pool], names: Collection[str]) -> Iterator[str]:
    """What is probably not meant: nodes without policy, policies without nodes, labels of old.

    Args:
        nodes: as declared.
        pools: the worker pools.
        names: of all policies of one kind in one namespace, as they will be.
    """
    yield from _missing(nodes, pools, names)
    yield from _outdated(nodes, pools)
    if nodes or pools:
        wanted = {shared_policy(one) for one in (*nodes, *(pool.node for pool in pools))}
        known = {f"node.{node_name(node)}" for node in nodes}
        for name in sorted(names):
            if remark := _unwanted(name, wanted, known, observed=bool(nodes)):
                yield remark


def _labelled(node: Manifest, labels: Mapping[str, str] | None) -> Manifest:
    if not labels:
        return node
    metadata = node["metadata"]
    return {**node, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}}


def _used_by_pools(pools: Sequence[Pool], names: Collection[str]) -> str:
    users: dict[str | None, list[str]] = {}
    for pool in pools:
        users.setdefault(effective_policy(pool.node, names), []).append(pool.name)
    bare = users.pop(None, [])
    parts = [f"{_pools(users[name])} will use {name}" for name in sorted(filter(None, users))]
    return "; ".join([*parts, *([f"{_pools(bare)} would have no configuration"] if bare else [])])


def _missing(nodes: Sequence[Manifest], pools: Sequence[Pool], names: Collection[str]) -> Iterator[str]:
    """Which policy it is that they look for; nothing falls back to `default`."""
    look: dict[str, list[str]] = {}
    for node in unconfigured_nodes(nodes, names):
        look.setdefault(_sought(node), []).append(f"node {node_name(node)}")
    for pool in pools:
        if effective_policy(pool.node, names) is None:
            look.setdefault(_sought(pool.node), []).append(f"worker pool {pool.name}")
    for sought, who in sorted(look.items()):
        yield f"{who[0]}{f' and {len(who) - 1} more' if who[1:] else ''}: {sought}"


def _sought(node: Manifest) -> str:
    name = shared_policy(node)
    if name is not None:
        return f"no policy {name}, and nothing falls back to another"
    label, value = _group(node)
    return f"label {label}={value} can match no policy, as names have lower case letters, digits, - and . only"


def _outdated(nodes: Sequence[Manifest], pools: Sequence[Pool]) -> Iterator[str]:
    old = Counter(label for one in (*nodes, *(pool.node for pool in pools)) if (label := _group(one)[0]) != _LABEL)
    for label in sorted(filter(None, old)):
        yield f"the label {label} is deprecated: name groups by {_LABEL}"


def _group(node: Manifest) -> tuple[str, str]:
    """The label that names the group, and its value; empty outside all groups."""
    labels = get(node, "metadata", "labels")
    return next(((label, str(value)) for label in GROUP_LABELS if (value := get(labels, label)) is not None), ("", ""))


def _unwanted(name: str, wanted: Collection[str | None], known: Collection[str], *, observed: bool) -> str:
    match stage(name):
        case Stage.UNUSED:
            return f"{name}: no node will ever use it: policies are named default, group.<GROUP> or node.<NODE>"
        case Stage.GROUP if name not in wanted:
            return f"{name}: no node is in that group: label a worker pool {_LABEL}={name.removeprefix('group.')}"
        case Stage.NODE if observed and name not in known:
            return f"{name}: there is no such node"
    return ""


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _pools(names: Sequence[str]) -> str:
    return f"worker pool{'' if len(names) == 1 else 's'} {', '.join(names)}"
