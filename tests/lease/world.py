"""A garden that keeps one lease, in memory, and processes that want it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gitops.cli.sandbox import SandboxTransport
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.lease.lease import Lease
from gitops.lease.leasing import Leasing
from gitops.lease.store import LeaseStore
from gitops.manifest import GARDEN
from gitops.sandbox import Landscape, VirtualClock
from tests.end_to_end.requests import Requests
from tests.lease.times import IdleTime

NAMESPACE = "garden-dev"
PATH = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/shoot-gitops-dev"
SHOOT = {
    "apiVersion": "core.gardener.cloud/v1beta1",
    "kind": "Shoot",
    "metadata": {"name": "one", "namespace": NAMESPACE},
    "spec": {"provider": {"type": "local"}},
}
"""It brings its namespace along."""


@dataclass
class LeaseGarden:
    """A garden that nothing happens in; everybody in it shares one time, which passes only as they wait."""

    time: IdleTime = field(default_factory=IdleTime)
    requests: Requests = field(default_factory=Requests)

    def __post_init__(self) -> None:
        self._landscape = Landscape([SHOOT], VirtualClock(datetime(2026, 6, 1, tzinfo=UTC)))
        self._handler = self._landscape.connect(self._landscape.garden_kubeconfig())
        self.cluster = Cluster(self.requests.through(SandboxTransport(self._handler)), target=GARDEN)
        self.store = LeaseStore(self.cluster, "dev", NAMESPACE)

    def lease(self, process: str, *, skew: timedelta = timedelta(0)) -> Lease:
        """What a run of some process wants."""
        return Lease(self.cluster, "dev", NAMESPACE, "0123456789", self.leasing(process, skew=skew))

    def leasing(self, process: str, *, skew: timedelta = timedelta(0)) -> Leasing:
        return Leasing(time=self.time, process=process, wall=lambda: datetime(2026, 6, 1, tzinfo=UTC) + skew)

    def stored(self) -> dict[str, Any]:
        """The Lease as anybody reads it."""
        answer = SandboxTransport(self._handler)(Request("GET", PATH))
        found: dict[str, Any] = json.loads(answer.body)
        return found

    def write(self, method: str, body: Any = None, content_type: str = "application/merge-patch+json") -> Response:
        """Somebody does something to the Lease."""
        data = None if body is None else json.dumps(body).encode()
        return SandboxTransport(self._handler)(Request(method, PATH, body=data, content_type=content_type))
