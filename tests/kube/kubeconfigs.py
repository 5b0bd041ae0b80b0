"""Kubeconfigs for the test server."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.kube.certificates import Authority
from tests.kube.https_server import HttpsServer


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def kubeconfig(
    server: HttpsServer,
    authority: Authority,
    *,
    user: dict[str, Any] | None = None,
    cluster: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """One context that trusts the authority; the user is `admin` by a certificate unless another is given.

    `cluster` adds to the cluster section, and None takes out of it.
    """
    if user is None:
        pair = authority.issue("admin")
        user = {"client-certificate-data": encoded(pair.certificate), "client-key-data": encoded(pair.key)}
    section = {"server": server.url, "certificate-authority-data": encoded(authority.certificate), **cluster}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {k: v for k, v in section.items() if v is not None}}],
        "users": [{"name": "u", "user": user}],
    }
