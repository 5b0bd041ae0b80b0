"""What these tests say to a landscape."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from gitops.sandbox import Handler, Landscape, Request

SHOOTS = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots"
POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
EXTENSION = "cri-resmgr-extension"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class RefusedError(Exception):
    """An API server answered with a failure."""

    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        super().__init__(f"{status}: {body.get('message')}")
        self.status = status
        self.body = body
        self.headers = headers


@dataclass(frozen=True)
class Client:
    """One user of one API server."""

    handler: Handler
    """The way there."""

    def call(self, method: str, path: str, body: Any = None, form: str = "application/json") -> Any:
        """Send a request and return the parsed answer; raises RefusedError from 400 on."""
        target, _, query = path.partition("?")
        parameters = tuple(tuple(part.split("=", 1)) for part in query.split("&") if part)
        data = None if body is None else json.dumps(body).encode()
        response = self.handler(Request(method, target, parameters, data, form))  # type: ignore[arg-type]  # pairs
        document = json.loads(response.body) if response.body.startswith(b"{") else {}
        if response.status >= 400:
            raise RefusedError(response.status, document, dict(response.headers))
        return document

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def merge(self, path: str, body: Any) -> Any:
        return self.call("PATCH", f"{path}?fieldManager=test", body, MERGE_PATCH)


def declared(name: str, **spec: Any) -> dict[str, Any]:
    """Return a Shoot as a repository declares it: partial."""
    workers = [{"name": "w1", "minimum": 2, "maximum": 2, "machine": {"type": "m5.large"}}]
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": name, "namespace": "garden-dev"},
        "spec": {"provider": {"workers": workers}, **spec},
    }


def garden(landscape: Landscape) -> Client:
    """Return an administrator of the garden."""
    return Client(landscape.connect(landscape.garden_kubeconfig()))


def minted(landscape: Landscape, shoot: str, kind: str = "adminkubeconfig") -> bytes:
    """Return a fresh kubeconfig for a shoot, as the garden answers it."""
    body = {"spec": {"expirationSeconds": 600}}
    answer = garden(landscape).call("POST", f"{SHOOTS}/{shoot}/{kind}", body)
    return base64.b64decode(answer["status"]["kubeconfig"])


def shoot(landscape: Landscape, name: str) -> Client:
    """Return an administrator of a shoot whose credentials do not expire."""
    return Client(landscape.connect(landscape.shoot_kubeconfig(f"garden-dev/{name}")))


def enable(landscape: Landscape, name: str) -> Any:
    """Switch the policy extension on, and keep the others."""
    patch = [{"op": "add", "path": "/spec/extensions/-", "value": {"type": EXTENSION}}]
    return garden(landscape).call("PATCH", f"{SHOOTS}/{name}?fieldManager=test", patch, JSON_PATCH)


def policy(name: str, cpu: str = "1") -> dict[str, Any]:
    """Return a BalloonsPolicy."""
    return {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"reservedResources": {"cpu": cpu}},
    }


def apply_policy(landscape: Landscape, target: str, name: str, cpu: str = "1") -> Any:
    """Apply a policy in a shoot."""
    path = f"{POLICIES}/{name}?fieldManager=test"
    return shoot(landscape, target).call("PATCH", path, policy(name, cpu), APPLY_PATCH)
