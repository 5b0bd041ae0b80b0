"""The servers of a landscape: a garden, and a pool of shoot API servers that grows on demand."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.control_plane import certificates, gardener, objects
from tests.control_plane.apiserver import KubeApiServer
from tests.control_plane.build import Binaries
from tests.control_plane.client import Client
from tests.control_plane.etcd import Baseline, Etcd
from tests.control_plane.gardener import GardenerApiServer
from tests.control_plane.pool import ShootServers
from tests.control_plane.retry import until_accepted

IDENTITY = "landscape-dev"


class Landscape:
    """Running servers with the objects that operators make: CloudProfile and ControllerRegistrations.

    Attributes:
        kubeconfig: path of the garden's admin kubeconfig.
        client: admin of the garden.
        identity: content of ConfigMap kube-system/cluster-identity.
        shoots: the API servers of shoots.
    """

    def __init__(self, binaries: Binaries, folder: Path) -> None:
        """Start everything but shoot servers below `folder`, which must be empty, and wait until it serves."""
        self.identity = IDENTITY
        self._etcd = Etcd(binaries.etcd, folder)
        aggregator = certificates.authority("front-proxy-ca")
        self._garden = KubeApiServer(binaries.kube_apiserver, self._etcd, folder / "garden", aggregator=aggregator)
        self.shoots = ShootServers(binaries.kube_apiserver, self._etcd, folder)
        self._garden.wait_until_ready()
        self.client: Client = self._garden.client
        self._gardener = GardenerApiServer(
            binaries.gardener_apiserver, self._etcd, self._garden, folder / "gardener", IDENTITY
        )
        self.kubeconfig = folder / "kubeconfig"
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(json.dumps(self._garden.kubeconfig))
        self._furnish()
        self._baseline = Baseline(self._etcd, self._garden.prefix, gardener.PREFIX)

    @property
    def audit_log(self) -> Path:
        return self._garden.audit_log

    def wipe(self) -> None:
        """Delete every object of the garden that came after the start."""
        self._baseline.restore()

    def stop(self) -> None:
        self.shoots.stop()
        self._gardener.stop()
        self._garden.stop()
        self._etcd.stop()

    def _furnish(self) -> None:
        self.client.post("/api/v1/namespaces", {"metadata": {"name": "garden"}})
        until_accepted(partial(self.client.post, f"{objects.CORE}/cloudprofiles", objects.cloud_profile()))
        for registration in objects.controller_registrations():
            until_accepted(partial(self.client.post, f"{objects.CORE}/controllerregistrations", registration))
