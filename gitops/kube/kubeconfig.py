"""From a kubeconfig to a transport: files merged like kubectl, a dict in memory, or a pod's own account.

The official client authenticates. What it would write to temporary files (client certificates and keys, given as
data or by an exec plugin) is taken out of its hands first and goes into a TLS context from memory.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import certifi
from kubernetes.client import Configuration
from kubernetes.config import ConfigException, load_kube_config_from_dict
from kubernetes.config.incluster_config import InClusterConfigLoader

from gitops.errors import CredentialsError
from gitops.kube.execplugin import ExecPlugin
from gitops.kube.kubeconfig_files import find, read
from gitops.kube.tls import in_memory, present, trust
from gitops.kube.transport import ClientTransport, Timeouts
from gitops.manifest import Manifest

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where Kubernetes mounts a pod's account."""

_TLS_KEYS = frozenset({"client-certificate", "client-certificate-data", "client-key", "client-key-data", "exec"})
_IMPERSONATION = {"as": "Impersonate-User", "as-uid": "Impersonate-Uid", "as-groups": "Impersonate-Group"}


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Connecting:
    """How connections are made, whatever the credential."""

    pool_size: int = 16
    """Connections that are kept open; more are made when more threads ask at once, and closed after use."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    now: Callable[[], datetime] = _utc_now
    """The time with its zone, for credentials that expire."""


def open_garden(
    environment: Mapping[str, str],
    *,
    file: Path | None = None,
    context: str = "",
    connecting: Connecting | None = None,
) -> ClientTransport:
    """The garden as kubectl would find it: `--kubeconfig`, KUBECONFIG, `~/.kube/config`, the pod's own account.

    Args:
        environment: KUBECONFIG, HOME and the variables that tell a pod where its server is.
        file: an explicit kubeconfig; it must exist.
        context: which context; empty takes the current one.
        connecting: how connections are made.

    Raises:
        CredentialsError: none of them is there, or the one that is cannot be used.
    """
    paths = find(environment, file)
    if paths:
        return connect(read(paths), context=context, connecting=connecting)
    if environment.get("KUBERNETES_SERVICE_HOST") and not context:
        return connect_in_cluster(environment, connecting=connecting)
    raise CredentialsError("no kubeconfig found: pass --kubeconfig FILE, set KUBECONFIG, or put one at ~/.kube/config")


def connect(kubeconfig: Manifest, *, context: str = "", connecting: Connecting | None = None) -> ClientTransport:
    """A transport from a parsed kubeconfig; relative paths in it are relative to the working directory.

    Args:
        kubeconfig: as parsed from YAML.
        context: which context; empty takes the current one.
        connecting: how connections are made.

    Raises:
        CredentialsError: the context is missing or cannot be used.
    """
    connecting = connecting or Connecting()
    cluster, user = _select(kubeconfig, context)
    configuration = _configuration(cluster, user, connecting)
    tls = _tls(configuration, cluster, user)
    renew = None
    if user.get("exec"):
        renew = ExecPlugin(user["exec"], cluster, configuration=configuration, tls=tls, now=connecting.now).renew
    headers = _impersonation(user)
    return ClientTransport(configuration, tls=tls, headers=headers, renew=renew, timeouts=connecting.timeouts)


def connect_in_cluster(
    environment: Mapping[str, str], *, account: Path = SERVICE_ACCOUNT, connecting: Connecting | None = None
) -> ClientTransport:
    """A transport with the account of the pod we run in; the library re-reads its token every minute.

    Args:
        environment: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
        account: where the account's `token` and `ca.crt` are mounted.
        connecting: how connections are made.

    Raises:
        CredentialsError: this is not a pod, or it has no account mounted.
    """
    connecting = connecting or Connecting()
    configuration = Configuration(connection_pool_maxsize=connecting.pool_size)
    loader: Any = InClusterConfigLoader  # published without types
    try:
        loader(str(account / "token"), str(account / "ca.crt"), environ=environment).load_and_set(configuration)
    except ConfigException as error:
        raise CredentialsError(f"the pod's own account cannot be used: {error}") from None
    configuration.ssl_ca_cert = None
    tls = trust((account / "ca.crt").read_bytes())
    return ClientTransport(configuration, tls=tls, timeouts=connecting.timeouts)


def _select(kubeconfig: Manifest, context: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cluster and the user of a context."""
    name = context or kubeconfig.get("current-context")
    if not name:
        raise CredentialsError("the kubeconfig has no current-context: choose one, `kubectl config use-context NAME`")
    chosen = _named(kubeconfig, "context", name)
    cluster = _named(kubeconfig, "cluster", chosen.get("cluster") or "")
    user = _named(kubeconfig, "user", chosen["user"]) if chosen.get("user") else {}
    if not isinstance(cluster.get("server"), str):
        raise CredentialsError(f"the kubeconfig's cluster {chosen['cluster']!r} has no server")
    return cluster, user


def _named(kubeconfig: Manifest, kind: str, name: str) -> dict[str, Any]:
    entries = kubeconfig.get(f"{kind}s") or []
    names = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get(kind), dict | None):
            if entry.get("name") == name:
                return entry[kind] or {}
            names.append(str(entry.get("name")))
    there = ", ".join(sorted(names)) or "none"
    raise CredentialsError(f"the kubeconfig has no {kind} {name!r} (it has: {there})")


def _tls(configuration: Configuration, cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext | None:
    """Trust and client certificate; None for a server without TLS."""
    if not configuration.host.startswith("https://"):
        return None
    context = trust(_content(cluster, "certificate-authority"), verify=configuration.verify_ssl)
    certificate, key = _content(user, "client-certificate"), _content(user, "client-key")
    if certificate and key:
        present(context, certificate, key)
    elif certificate or key:
        raise CredentialsError("the kubeconfig's user has only one of client-certificate and client-key")
    return context


def _configuration(cluster: dict[str, Any], user: dict[str, Any], connecting: Connecting) -> Configuration:
    """Host, proxy and tokens as the library reads them, from a kubeconfig without TLS material."""
    configuration = Configuration(connection_pool_maxsize=connecting.pool_size)
    served = {k: v for k, v in cluster.items() if not k.startswith("certificate-authority")}
    with _verified_provider({k: v for k, v in user.items() if k not in _TLS_KEYS}) as authenticated:
        reduced = {
            "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "clusters": [{"name": "it", "cluster": served}],
            "users": [{"name": "it", "user": authenticated}],
        }
        try:
            load_kube_config_from_dict(  # type: ignore[no-untyped-call]
                reduced, client_configuration=configuration, persist_config=False
            )
        except Exception as error:  # noqa: BLE001 - the library raises anything, with anything in its text
            why = str(error) if isinstance(error, ConfigException) else type(error).__name__
            raise CredentialsError(f"the kubeconfig's user cannot be used: {why}") from None
    if "auth-provider" in user and "BearerToken" not in configuration.api_key:
        raise CredentialsError("the kubeconfig's auth-provider gives no token: log in anew, or use an exec plugin")
    return configuration


@contextmanager
def _verified_provider(user: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A user whose OIDC provider is verified, by a CA that is no temporary file.

    The library sends the refresh token to an unverified provider when no CA is named, so the public ones are.
    """
    provider = user.get("auth-provider")
    if not isinstance(provider, dict) or provider.get("name") != "oidc":
        yield user
        return
    config = {"idp-certificate-authority": certifi.where(), **(provider.get("config") or {})}
    ca = _content(config, "idp-certificate-authority")
    config.pop("idp-certificate-authority-data", None)
    with in_memory(ca or b"") as path:
        yield {**user, "auth-provider": {**provider, "config": {**config, "idp-certificate-authority": path}}}


def _content(section: dict[str, Any], key: str) -> bytes | None:
    """The bytes of `<key>-data` or of the file at `<key>`; None when neither is there."""
    if data := section.get(f"{key}-data"):
        try:
            return base64.b64decode(data, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise CredentialsError(f"the kubeconfig's {key}-data is not base64") from None
    if path := section.get(key):
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise CredentialsError(f"the kubeconfig's {key} {path}: {error.strerror}") from None
    return None


def _impersonation(user: dict[str, Any]) -> list[tuple[str, str]]:
    """Headers for `as`, `as-uid` and `as-groups`, which the library does not know."""
    headers = []
    for key, header in _IMPERSONATION.items():
        values = user.get(key) or []
        headers += [(header, str(value)) for value in (values if isinstance(values, list) else [values])]
    if user.get("as-user-extra"):
        raise CredentialsError("the kubeconfig's user has as-user-extra, which is not supported: remove it")
    return headers
