"""The registrations of extensions: what the garden and its runtime cluster know, one LIST per kind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from gitops.errors import Forbidden, Refused
from gitops.gardener.registration_fields import CORE_V1, EXTENSION, INSTALLATION, REGISTRATION
from gitops.kube.cluster import Cluster
from gitops.kube.statuses import Unserved
from gitops.manifest import RUNTIME, Manifest, Ref, Target, ref_of
from gitops.plan.observed import ObservedRegistrations

_DEPLOYMENT = "ControllerDeployment"


def observe_registrations(garden: Cluster, runtime: Cluster | None, declared: Iterable[Ref]) -> ObservedRegistrations:
    """Read everything that the declared registrations depend on, and what depends on them.

    Args:
        garden: the (virtual) garden.
        runtime: the cluster that gardener-operator runs in; None where nobody said how to reach it.
        declared: the registrations that git declares.

    Raises:
        Refused: an operator Extension is declared and `runtime` is None.
        Forbidden, Unreachable: any of it cannot be read.
    """
    refs = tuple(declared)
    reading = _Reading()
    extensions = [ref for ref in refs if ref.target == RUNTIME]
    if runtime is not None:
        reading.read(runtime, EXTENSION)  # first: what the operator says it has rendered is in what is read after it
    elif extensions:
        raise Refused(
            f"{extensions[0]} ({EXTENSION[0]}) lives in the garden's runtime cluster: give its kubeconfig with "
            "--runtime-kubeconfig"
        )
    versions = {ref.api_version for ref in refs if ref.kind == _DEPLOYMENT} or {CORE_V1}
    reading.read(garden, REGISTRATION)
    for version in sorted(versions):
        reading.read(garden, (version, _DEPLOYMENT))
    installations = reading.list(garden, INSTALLATION)
    return ObservedRegistrations(
        reading.objects, installations, frozenset(reading.unserved), min(reading.times, default=None)
    )


def list_registrations(garden: Cluster) -> ObservedRegistrations | None:
    """The ControllerRegistrations alone; None where they may not be listed, as by members of a project.

    Raises:
        Unreachable: they cannot be read.
    """
    reading = _Reading()
    try:
        reading.read(garden, REGISTRATION)
    except Forbidden:
        return None
    return ObservedRegistrations(reading.objects, server_time=min(reading.times, default=None))


class _Reading:
    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.unserved: set[tuple[Target, str, str]] = set()
        self.times: list[datetime] = []

    def read(self, cluster: Cluster, kind: tuple[str, str]) -> None:
        for manifest in self.list(cluster, kind):
            self.objects[ref_of(cluster.target, manifest)] = manifest

    def list(self, cluster: Cluster, kind: tuple[str, str]) -> tuple[Manifest, ...]:
        try:
            listing = cluster.list(*kind)
        except Unserved:
            self.unserved.add((cluster.target, *kind))
            return ()
        if listing.server_time is not None:
            self.times.append(listing.server_time)
        return listing.items
