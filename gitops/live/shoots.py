"""What one shoot holds: the objects of the kinds that are declared for it, and its nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from gitops.errors import Absent
from gitops.kube.cluster import Cluster
from gitops.kube.statuses import Unserved
from gitops.manifest import Manifest, Ref, State, Target, ref_of
from gitops.ownership.applyset import PART_OF

Kind = tuple[str, str]
"""apiVersion and kind."""

CROWDED_GROUPS = frozenset({"", "apps", "batch", "networking.k8s.io", "rbac.authorization.k8s.io"})
"""Groups whose kinds a cluster is full of, nearly all of them not ours."""


class Nodes(Enum):
    """Whether the shoot's nodes are read too."""

    OBSERVE = "observe"
    OMIT = "omit"


@dataclass(frozen=True)
class ShootObservation:
    """One shoot at one moment."""

    objects: State
    """Every object of the kinds asked for; of crowded kinds only ours and those asked for by name."""
    nodes: tuple[Manifest, ...]
    """Empty as well when they were not asked for."""
    unserved: frozenset[Kind]
    """Kinds that the shoot does not serve, such as those of a CRD that is not there yet."""


def observe_shoot(
    cluster: Cluster,
    target: Target,
    kinds: Sequence[Kind],
    *,
    wanted: Collection[Ref] = (),
    applyset: str = "",
    nodes: Nodes = Nodes.OBSERVE,
) -> ShootObservation:
    """Read one shoot: one LIST per kind over all namespaces, and one of the nodes.

    Of kinds in `CROWDED_GROUPS` a whole LIST could be megabytes for one ConfigMap of ours. There the LIST is narrowed
    to the members of our ApplySet, and each wanted object that is not among them (new, or not adopted yet) costs one
    GET: a run with nothing to do makes none. Custom resources are few and always read whole, since who wins a node
    depends on the policies of others too.

    Args:
        cluster: the shoot's API server.
        target: the shoot.
        kinds: what to read; those of `wanted` and those that may have to be pruned.
        wanted: the declared objects of this shoot.
        applyset: our ApplySet's id; empty reads crowded kinds by name only.
        nodes: whether to read the nodes.

    Raises:
        Forbidden, Unreachable: any of it cannot be read.
    """
    objects: dict[Ref, Manifest] = {}
    unserved: set[Kind] = set()
    for kind in dict.fromkeys(kinds):
        try:
            for manifest in _observe(cluster, kind, [ref for ref in wanted if _kind(ref) == kind], applyset):
                objects[ref_of(target, manifest)] = manifest
        except Unserved:
            unserved.add(kind)
    listed = cluster.list("v1", "Node").items if nodes is Nodes.OBSERVE else ()
    return ShootObservation(objects, listed, frozenset(unserved))


def _observe(cluster: Cluster, kind: Kind, wanted: Sequence[Ref], applyset: str) -> Iterator[Manifest]:
    if kind[0].rpartition("/")[0] not in CROWDED_GROUPS:
        yield from cluster.list(*kind).items
        return
    seen = set()
    if applyset:
        for manifest in cluster.list(*kind, label_selector=f"{PART_OF}={applyset}").items:
            seen.add(ref_of("", manifest).identity[3:])
            yield manifest
    for ref in wanted:
        if (ref.namespace, ref.name) not in seen:
            yield from _present(cluster, ref)


def _present(cluster: Cluster, ref: Ref) -> Iterator[Manifest]:
    """The object, or nothing where it is absent."""
    try:
        yield cluster.get(ref)
    except Unserved:
        raise
    except Absent:
        return


def _kind(ref: Ref) -> Kind:
    return (ref.api_version, ref.kind)
