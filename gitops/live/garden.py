"""What the garden holds: its identity, and its Shoots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gitops.errors import Forbidden, Refused
from gitops.kube.cluster import Cluster
from gitops.manifest import Manifest, Target, get, shoot_target

SHOOT = ("core.gardener.cloud/v1beta1", "Shoot")


@dataclass(frozen=True)
class GardenObservation:
    """The Shoots of the overlay's namespaces at one moment."""

    shoots: Mapping[Target, Manifest]
    """In the order of their names."""
    server_time: datetime | None
    """When the first of them were read, by the garden's clock; None when it did not say."""


def observe_garden(garden: Cluster, namespaces: Iterable[str]) -> GardenObservation:
    """Read all Shoots of some namespaces, one LIST each.

    Raises:
        Forbidden, Unreachable: any namespace cannot be read; a part of a garden is no observation.
    """
    shoots: dict[Target, Manifest] = {}
    times: list[datetime] = []
    for namespace in namespaces:
        listing = garden.list(*SHOOT, namespace=namespace)
        shoots.update((shoot_target(shoot), shoot) for shoot in listing.items)
        if listing.server_time is not None:
            times.append(listing.server_time)
    return GardenObservation(dict(sorted(shoots.items())), min(times, default=None))


def check_identity(garden: Cluster, identity: str) -> None:
    """Make sure that the garden is the one the overlay is for.

    Every garden carries its name in ConfigMap `kube-system/cluster-identity`
    (gardener pkg/apis/core/v1beta1/constants/types_constants.go, ClusterIdentity).

    Raises:
        Refused: it is another garden, or carries no identity.
        Forbidden: it may not be read.
    """
    try:
        listing = garden.list(
            "v1", "ConfigMap", namespace="kube-system", field_selector="metadata.name=cluster-identity"
        )
    except Forbidden as error:
        raise Forbidden(
            f"the garden's identity cannot be checked, so nothing is touched: allow `list` of ConfigMap "
            f"kube-system/cluster-identity ({error})",
            status=error.status,
            reason=error.reason,
        ) from error
    found = get(listing.items[0], "data", "cluster-identity") if listing.items else None
    if found is None:
        raise Refused(
            "the cluster has no ConfigMap kube-system/cluster-identity, so it is not known to be a garden: check "
            f"the kubeconfig's context (the overlay is for {identity!r})"
        )
    if found != identity:
        raise Refused(
            f"this is the garden {found!r}, and the overlay is for {identity!r}: choose the other kubeconfig context, "
            "or correct spec.garden.identity"
        )
