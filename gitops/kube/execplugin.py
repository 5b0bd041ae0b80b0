"""Credentials from an exec plugin, such as gardenlogin or kubelogin.

The official client runs the plugin but logs its failure and goes on without a credential, writes a returned client
key to a temporary file, and never runs it again for a certificate. So the running is the library's, and what comes
out of it is handled here.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.kube_config import ConfigNode

from gitops.errors import CredentialsError
from gitops.kube.tls import present

SKEW = timedelta(seconds=30)
"""The plugin is run again this long before its credential expires."""

_SECRET_LIKE = re.compile(r"[A-Za-z0-9+/_=.-]{32,}")


class ExecPlugin:
    """Runs a plugin when there is no credential or it is about to expire, and puts the result to use."""

    def __init__(
        self,
        exec_config: dict[str, Any],
        cluster: dict[str, Any],
        *,
        configuration: Configuration,
        tls: ssl.SSLContext | None,
        now: Callable[[], datetime],
    ) -> None:
        """Take the `exec` section of a user; nothing is run yet.

        Args:
            exec_config: `command`, `args`, `env`, `apiVersion`, `provideClusterInfo`.
            cluster: the cluster section, for plugins that ask for it.
            configuration: where a token goes.
            tls: where a client certificate goes; None when the server is not `https`.
            now: the time, with a time zone.
        """
        self._exec = exec_config
        self._cluster = cluster
        self._configuration = configuration
        self._tls = tls
        self._now = now
        self._due: datetime | None = datetime.min.replace(tzinfo=UTC)

    def renew(self) -> bool:
        """Run the plugin if it is time; True when connections made with an earlier certificate must go.

        Raises:
            CredentialsError: it failed, or returned nothing that can be used.
        """
        if self._due is None or self._now() < self._due:
            return False
        status = self._run()
        presents = self._use(status)
        self._due = self._next(status)
        return presents

    def _run(self) -> dict[str, Any]:
        try:
            status = _run(self._exec, self._cluster)
        except ConfigException as error:
            raise self._failed(_SECRET_LIKE.sub("…", str(error))[:400]) from None
        except OSError as error:
            raise self._failed(f"{error.strerror}; is it installed and on PATH?") from None
        if not isinstance(status, dict):
            raise self._failed("its answer has no status")
        return status

    def _use(self, status: dict[str, Any]) -> bool:
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        if certificate and key and self._tls is not None:
            present(self._tls, certificate.encode(), key.encode())
        if token := status.get("token"):
            self._configuration.api_key["BearerToken"] = f"Bearer {token}"
        elif not (certificate and key):
            raise self._failed("it returned neither a token nor a client certificate with its key")
        return bool(certificate and key)

    def _next(self, status: dict[str, Any]) -> datetime | None:
        """When to run it again; None where the credential holds as long as the process."""
        text = status.get("expirationTimestamp")
        if not text:
            return None
        try:
            return datetime.fromisoformat(text) - SKEW
        except (TypeError, ValueError):
            raise self._failed("its expirationTimestamp is no RFC 3339 time") from None

    def _failed(self, why: str) -> CredentialsError:
        return CredentialsError(f"the kubeconfig's exec plugin {self._exec.get('command')!r} failed: {why}")


def _run(exec_config: dict[str, Any], cluster: dict[str, Any]) -> Any:
    """The `status` of the ExecCredential that the plugin prints."""
    provider: Any = ExecProvider  # published without types
    node: Any = ConfigNode
    return provider(node("exec", exec_config), None, node("cluster", cluster)).run()
