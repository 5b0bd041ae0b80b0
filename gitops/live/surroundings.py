"""What a shoot holds besides a policy that decides what becomes of it; read only while one is about to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from gitops.errors import Absent, ApiError, Forbidden
from gitops.kube.cluster import Cluster
from gitops.manifest import Manifest, Ref
from gitops.nri.agents import NAME_LABEL, PLUGINS
from gitops.nri.resolution import POLICY_GROUP
from gitops.nri.topology import API as TOPOLOGY
from gitops.plan.observed import Kind, Surroundings

_T = TypeVar("_T")
_PLURALS = {
    "BalloonsPolicy": "balloonspolicies",
    "TopologyAwarePolicy": "topologyawarepolicies",
    "TemplatePolicy": "templatepolicies",
}


def observe_surroundings(
    cluster: Cluster, policies: Iterable[Ref], cloud_profile: Manifest | ApiError | None
) -> Surroundings:
    """One GET per policy kind and two LISTs; what may not be read is named, and so is what cannot be known then.

    Args:
        cluster: the shoot's API server.
        policies: those that are about to change.
        cloud_profile: of the Shoot; None where it names none.

    Raises:
        ApiError: the server does not answer.
    """
    unread: list[str] = []
    if isinstance(cloud_profile, ApiError):
        unread.append(
            "how many CPUs a machine has that no node shows yet, as the CloudProfile cannot be read "
            f"({_why(cloud_profile)})"
        )
    definitions: dict[Kind, Manifest] = {}
    for kind in sorted({(ref.api_version, ref.kind) for ref in policies}):
        found = _read(partial(cluster.get, _definition(cluster, kind)), "which fields the CRD knows", unread)
        if found is not None:
            definitions[kind] = found
    topologies = _read(lambda: cluster.list(*TOPOLOGY).items, "what is pinned to CPUs now", unread)
    selector = f"{NAME_LABEL} in ({','.join(PLUGINS)})"
    daemon_sets = _read(
        lambda: cluster.list("apps/v1", "DaemonSet", label_selector=selector).items, "where agents run", unread
    )
    profile = None if isinstance(cloud_profile, ApiError) else cloud_profile
    return Surroundings(definitions, topologies or (), daemon_sets or (), profile, tuple(unread))


def _read(read: Callable[[], _T], question: str, unread: list[str]) -> _T | None:
    """What is there; None where it is absent, or may not be read, of which note is taken."""
    try:
        return read()
    except Absent:
        return None
    except Forbidden as error:
        unread.append(f"{question} ({_why(error)})")
        return None


def _definition(cluster: Cluster, kind: Kind) -> Ref:
    name = f"{_PLURALS[kind[1]]}.{POLICY_GROUP}"
    return Ref(cluster.target, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name)


def _why(error: ApiError) -> str:
    return f"{type(error).__name__.lower()}: {error}"
