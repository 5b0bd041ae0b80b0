"""Who may do what: bearer tokens, two roles, and the kubeconfigs that carry them."""

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from gitops.sandbox import shoots
from gitops.sandbox.clock import Clock, stamp
from gitops.sandbox.decoding import decode
from gitops.sandbox.kinds import Resource
from gitops.sandbox.reading import Scope, answer
from gitops.sandbox.wire import (
    Manifest,
    Request,
    Response,
    encoded,
    forbidden,
    invalid,
    invalid_value,
    unauthorized,
)

Role = Literal["admin", "viewer"]

GROUP = "authentication.gardener.cloud"
SELF_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_SHORTEST, _LONGEST, _USUAL = 600, 86400, 3600


@dataclass(frozen=True)
class Identity:
    """Who a token stands for."""

    cluster: str
    """The only cluster that knows the token."""
    user: str
    """The name that shows in messages."""
    role: Role
    """admin: everything; viewer: reading, but no Secrets."""
    expires: datetime | None
    """None for a token that lasts as long as the landscape."""


class Tokens:
    """The tokens of a landscape, in memory only."""

    def __init__(self, clock: Clock, make: Callable[[], str] = lambda: secrets.token_urlsafe(24)) -> None:
        self._clock, self._make = clock, make
        self._known: dict[str, Identity] = {}

    def mint(self, cluster: str, user: str, role: Role, seconds: int | None = None) -> str:
        """Return a new token; None makes one that does not expire."""
        expires = None if seconds is None else self._clock.now() + timedelta(seconds=seconds)
        token = self._make()
        self._known[token] = Identity(cluster, user, role, expires)
        return token

    def identity(self, cluster: str, token: str) -> Identity:
        """Return who a token stands for; raises 401 where it is unknown here, or expired."""
        found = self._known.get(token)
        if found is None or found.cluster != cluster:
            raise unauthorized()
        if found.expires is not None and found.expires <= self._clock.now():
            raise unauthorized()
        return found

    def expire(self, cluster: str) -> None:
        """Make every minted, temporary token of a cluster invalid at once."""
        for token, identity in list(self._known.items()):
            if identity.cluster == cluster and identity.expires is not None:
                del self._known[token]


def authorize(identity: Identity, verb: str, scope: Scope) -> None:
    """Let an identity through; raises 403 where its role does not allow the verb."""
    resource = scope.resource
    reads = verb in {"get", "list", "watch"}
    if identity.role == "admin" or (reads and resource.plural != "secrets"):
        return
    where = f' in the namespace "{scope.namespace}"' if scope.namespace else " at the cluster scope"
    named = f"{resource.plural}/{scope.subresource}" if scope.subresource else resource.plural
    text = f'User "{identity.user}" cannot {verb} resource "{named}" in API group "{resource.group}"{where}'
    raise forbidden(resource.group, resource.plural, scope.name, text)


def self_review(identity: Identity) -> Response:
    """Answer a SelfSubjectReview: who asks."""
    body: Manifest = {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "status": {"userInfo": {"username": identity.user, "groups": ["system:authenticated"]}},
    }
    return answer(encoded(body), 201)


def kubeconfig(name: str, server: str, certificate: bytes, token: str) -> bytes:
    """Return a kubeconfig (JSON is YAML) with one cluster, one user and one context."""
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(certificate).decode()}
    return encoded(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "users": [{"name": name, "user": {"token": token}}],
        }
    )


@dataclass(frozen=True)
class Issuer:
    """What it takes to answer adminkubeconfig and viewerkubeconfig."""

    tokens: Tokens
    """Where credentials are minted."""
    server: Callable[[str], str]
    """Returns the URL of a cluster by its name."""
    certificate: Callable[[], bytes]
    """Returns the PEM that clients trust."""
    clock: Clock
    """The landscape's time."""

    def issue(self, shoot: Manifest, request: Request, subresource: str, user: str) -> Response:
        """Answer a kubeconfig request; raises 422 for under ten minutes, or a shoot without API."""
        role: Role = "admin" if subresource == "adminkubeconfig" else "viewer"
        kind = "AdminKubeconfigRequest" if role == "admin" else "ViewerKubeconfigRequest"
        asked = decode(request.body or b"{}", kind).manifest
        spec = asked.get("spec") or {}
        wanted = spec.get("expirationSeconds") or _USUAL
        if wanted < _SHORTEST:
            cause = invalid_value("spec.expirationSeconds", wanted, "may not specify a duration less than 10 minutes")
            raise invalid(GROUP, kind, "", [cause])
        metadata = shoot["metadata"]
        if not shoot.get("status", {}).get("advertisedAddresses"):
            text = "no suitable advertised address for kube-apiserver found in .status.advertisedAddresses"
            raise invalid(GROUP, kind, metadata["name"], [invalid_value("status.status", None, text)])
        seconds = min(wanted, _LONGEST)
        cluster = f"{metadata['namespace']}/{metadata['name']}"
        token = self.tokens.mint(cluster, f"gardener.cloud:{role}:{user}", role, seconds)
        name = f"{metadata['namespace']}--{metadata['name']}-external"
        config = kubeconfig(name, self.server(cluster), self.certificate(), token)
        status = {
            "kubeconfig": base64.b64encode(config).decode(),
            "expirationTimestamp": stamp(self.clock.now() + timedelta(seconds=seconds)),
        }
        body: Manifest = {
            "kind": kind,
            "apiVersion": f"{GROUP}/v1alpha1",
            "metadata": {},
            "spec": {"expirationSeconds": seconds},
            "status": status,
        }
        return answer(encoded(body), 201)


def is_kubeconfig(resource: Resource, subresource: str) -> bool:
    """Tell whether a subresource is one of the two that answer kubeconfigs."""
    return resource.plural == "shoots" and subresource in shoots.KUBECONFIGS
