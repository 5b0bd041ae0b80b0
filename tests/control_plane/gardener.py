"""A gardener-apiserver, aggregated into the garden's kube-apiserver.

The arrangement is that of Gardener's own test environment, gardener/gardener test/envtest.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.control_plane import certificates
from tests.control_plane.apiserver import KubeApiServer
from tests.control_plane.certificates import Pair
from tests.control_plane.etcd import Etcd
from tests.control_plane.process import Process, free_port

PREFIX = "/gardener/"
_SERVICE = "gardener-apiserver"
_GROUP_VERSIONS = (
    ("core.gardener.cloud", "v1"),
    ("core.gardener.cloud", "v1beta1"),
    ("seedmanagement.gardener.cloud", "v1alpha1"),
    ("operations.gardener.cloud", "v1alpha1"),
    ("security.gardener.cloud", "v1alpha1"),
)


class GardenerApiServer:
    """A running gardener-apiserver with all its default admission plugins on."""

    def __init__(self, binary: Path, etcd: Etcd, garden: KubeApiServer, folder: Path, identity: str) -> None:
        """Start the process.

        Args:
            binary: path of gardener-apiserver.
            etcd: where it keeps its objects, below `PREFIX`.
            garden: a ready kube-apiserver that has an aggregator.
            folder: for its certificates and log.
            identity: it creates ConfigMap kube-system/cluster-identity with this content.
        """
        folder.mkdir(mode=0o700)
        self._garden = garden
        authority = certificates.authority("gardener-ca")
        certificate, key = certificates.serving(authority).write(folder, "serving")
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(json.dumps(garden.kubeconfig))
        port = free_port()
        self._process = Process(
            [
                str(binary),
                f"--etcd-servers={etcd.url}",
                f"--etcd-prefix={PREFIX}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--tls-cert-file={certificate}",
                f"--tls-private-key-file={key}",
                f"--cluster-identity={identity}",
                f"--authentication-kubeconfig={kubeconfig}",
                f"--authorization-kubeconfig={kubeconfig}",
                f"--kubeconfig={kubeconfig}",
                "--authorization-always-allow-paths=/healthz",
            ],
            folder / "gardener-apiserver.log",
        )
        self._register(authority, port)
        for path in ("core.gardener.cloud/v1beta1/shoots", "security.gardener.cloud/v1alpha1/credentialsbindings"):
            self._process.wait_until(partial(garden.client.serves, f"/apis/{path}"))

    def stop(self) -> None:
        self._process.stop()

    def _register(self, authority: Pair, port: int) -> None:
        ports = [{"port": port}]
        service = {
            "metadata": {"name": _SERVICE},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": ports},
        }
        self._garden.client.post("/api/v1/namespaces/kube-system/services", service)
        for group, version in _GROUP_VERSIONS:
            spec = {
                "group": group,
                "version": version,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
                "caBundle": authority.certificate_base64,
                "service": {"namespace": "kube-system", "name": _SERVICE, "port": port},
            }
            api_service = {"metadata": {"name": f"{version}.{group}"}, "spec": spec}
            self._garden.client.post("/apis/apiregistration.k8s.io/v1/apiservices", api_service)
