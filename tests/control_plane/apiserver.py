"""A kube-apiserver on loopback: of the garden, or of one shoot."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from tests.control_plane import certificates
from tests.control_plane.certificates import Pair
from tests.control_plane.client import Client
from tests.control_plane.etcd import Etcd
from tests.control_plane.process import Process, free_port

ADMIN = "admin"
_AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [
        {"level": "None", "users": ["system:apiserver"]},
        {
            "level": "RequestResponse",  # what other servers ask about a user's rights, and what they are told
            "resources": [{"group": "authorization.k8s.io", "resources": ["subjectaccessreviews"]}],
        },
        {"level": "Metadata"},
    ],
}


class KubeApiServer:
    """A starting or running kube-apiserver; `wait_until_ready` before use.

    Attributes:
        url: `https://127.0.0.1:<port>`.
        authority: signs its serving certificate and all its client certificates.
        prefix: of its keys in etcd.
        kubeconfig: of a user in group system:masters.
        client: that user.
        audit_log: one JSON event per answered request.
    """

    def __init__(self, binary: Path, etcd: Etcd, folder: Path, *, aggregator: Pair | None = None) -> None:
        """Start the process.

        Args:
            binary: path of kube-apiserver.
            etcd: where it keeps its objects, below `prefix`.
            folder: its certificates and logs; its name is the etcd prefix.
            aggregator: authority of the client certificate it shows to aggregated API servers; None if it has none.
        """
        folder.mkdir(mode=0o700)
        self._folder = folder
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        self.prefix = f"/{folder.name}/"
        self.authority = certificates.authority(f"{folder.name}-ca")
        self.audit_log = folder / "audit.log"
        self.kubeconfig = kubeconfig(
            self.url, self.authority, certificates.client(self.authority, ADMIN, "system:masters")
        )
        self.client = Client.from_kubeconfig(self.kubeconfig)
        command = [str(binary), f"--etcd-servers={etcd.url}", f"--etcd-prefix={self.prefix}"]
        command += ["--bind-address=127.0.0.1", f"--secure-port={port}", "--authorization-mode=RBAC"]
        command += [*self._identity_flags(), *self._audit_flags(), *self._aggregator_flags(aggregator)]
        # No controller makes ServiceAccounts here.
        command += ["--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount"]
        command += ["--allow-privileged=true"]  # as Gardener runs it
        self._process = Process(command, folder / "kube-apiserver.log")

    def wait_until_ready(self) -> None:
        """Wait until it serves, and its own objects are there."""
        self._process.wait_until(partial(self.client.serves, "/readyz"))
        for path in ("namespaces/default", "namespaces/kube-system", "namespaces/default/services/kubernetes"):
            self._process.wait_until(partial(self.client.serves, f"/api/v1/{path}"))

    def stop(self) -> None:
        self._process.stop()

    def _identity_flags(self) -> list[str]:
        certificate, key = certificates.serving(self.authority).write(self._folder, "serving")
        authority = self._folder / "ca.crt"
        authority.write_text(self.authority.certificate_pem)
        tokens = self._folder / "service-account.key"
        tokens.write_text(certificates.key_pem(certificates.new_key()))
        return [
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--client-ca-file={authority}",
            f"--service-account-issuer={self.url}",
            f"--service-account-key-file={tokens}",
            f"--service-account-signing-key-file={tokens}",
        ]

    def _audit_flags(self) -> list[str]:
        policy = self._folder / "audit-policy.json"
        policy.write_text(json.dumps(_AUDIT_POLICY))
        return [f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}", "--audit-log-mode=blocking"]

    def _aggregator_flags(self, aggregator: Pair | None) -> list[str]:
        if aggregator is None:
            return []
        authority = self._folder / "front-proxy-ca.crt"
        authority.write_text(aggregator.certificate_pem)
        certificate, key = certificates.client(aggregator, "front-proxy-client").write(self._folder, "front-proxy")
        return [
            f"--requestheader-client-ca-file={authority}",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            f"--proxy-client-cert-file={certificate}",
            f"--proxy-client-key-file={key}",
        ]


def kubeconfig(url: str, authority: Pair, user: Pair) -> dict[str, Any]:
    """A kubeconfig with one context, certificates inline."""
    cluster = {"server": url, "certificate-authority-data": authority.certificate_base64}
    credentials = {
        "client-certificate-data": user.certificate_base64,
        "client-key-data": user.key_base64,
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "tests",
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "tests", "user": credentials}],
    }
