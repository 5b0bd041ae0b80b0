"""One API server in Kubernetes' words: list, get, create, patch, apply, delete."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

import yaml

from gitops.errors import ApiError, CredentialsError, Unreachable
from gitops.kube.resources import Resource, Resources
from gitops.kube.retry import Retry
from gitops.kube.statuses import raise_for_status
from gitops.kube.transport import Request, Response, Transport
from gitops.manifest import Manifest, Ref, Target
from gitops.ownership import FIELD_MANAGER

PAGE = 500
"""Objects in one page of a LIST, kubectl's own chunk size."""
RESTARTS = 3
"""How often a LIST begins again because its continuation expired under it."""


class Conflicts(Enum):
    """What server-side apply does with a field that another manager owns."""

    REFUSE = "refuse"
    FORCE = "force"


class Mode(Enum):
    """Whether the server stores the result or only computes it."""

    WRITE = "write"
    DRY_RUN = "dry-run"


class Access(Enum):
    """What a shoot kubeconfig may do (gardener docs/usage/shoot/shoot_access.md)."""

    VIEWER = "viewer"
    """Reads all but Secrets; cannot even dry-run."""
    ADMIN = "admin"


@dataclass(frozen=True)
class Listing:
    """A complete LIST, consistent at one resourceVersion."""

    items: tuple[Manifest, ...]
    """In the server's order; `apiVersion` and `kind` are filled in, which lists omit."""
    server_time: datetime | None
    """When the server answered first, by its own clock; None when it did not say."""


@dataclass(frozen=True)
class ShootKubeconfig:
    """A credential for one shoot. It cannot be revoked before it expires: keep it in memory only."""

    config: Manifest = field(repr=False)
    """The kubeconfig, parsed."""
    expires: datetime
    """By the server's clock; may be earlier than asked for, as the landscape caps it."""
    server_time: datetime | None
    """When it was issued, by the same clock; None when the server did not say."""


class Cluster:
    """One API server. Any number of threads may use it.

    Every method raises the errors of `gitops.errors`: Absent (and its subclass Unserved for a kind that the server
    does not know), Forbidden, Conflict, Rejected, Throttled, Unreachable.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        target: Target,
        retry: Retry | None = None,
        resources: Resources | None = None,
    ) -> None:
        """Speak to a server; nothing is sent yet.

        Args:
            transport: carries the requests; closing it stays with its owner.
            target: which server this is, for the Refs of what it returns.
            retry: when requests are repeated.
            resources: a cache of discovery to share between servers.
        """
        self.target = target
        self._transport = transport
        self._retry = retry or Retry()
        self._resources = resources or Resources()

    def through(self, wrap: Callable[[Transport], Transport], *, retry: Retry | None = None) -> Cluster:
        """The same server by a way that lets through, changes or refuses requests.

        Args:
            wrap: makes that way from ours.
            retry: when requests are repeated; None does as we do.
        """
        way = wrap(self._transport)
        return Cluster(way, target=self.target, retry=retry or self._retry, resources=self._resources)

    def list(
        self,
        api_version: str,
        kind: str,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> Listing:
        """Every object of a kind, or of one namespace, in as few pages as needed.

        A continuation that expires (410) starts the whole LIST again, as a mix of two moments would be no state.
        """
        path = self._resource(api_version, kind).path(namespace)
        selectors = (("labelSelector", label_selector), ("fieldSelector", field_selector))
        query = (("limit", str(PAGE)), *(pair for pair in selectors if pair[1]))
        for restart in range(RESTARTS + 1):
            try:
                return self._pages(Request("GET", path, query), api_version, kind)
            except ApiError as error:
                if error.status != 410 or restart == RESTARTS:
                    raise
        raise AssertionError("the last restart returns or raises")

    def get(self, ref: Ref) -> Manifest:
        """The live object."""
        return self._object(Request("GET", self._path(ref)))

    def logs(self, namespace: str, pod: str, container: str, *, limit: int) -> str:
        """The end of a container's log, at most `limit` bytes of it; bytes that are no UTF-8 become `\ufffd`.

        The server has no way to cut at the start, so that the last lines are asked for: as many as fit if they are
        of the usual length.
        """
        path = self._resource("v1", "Pod").path(namespace, pod, "log")
        query = (("container", container), ("tailLines", str(limit // 128)), ("limitBytes", str(limit)))
        return self._send(Request("GET", path, query)).body.decode(errors="replace")

    def proxied(self, namespace: str, pod: str, port: int, path: str) -> str:
        """What a pod serves by HTTP, fetched by the API server; needs more than a viewer's rights."""
        at = self._resource("v1", "Pod").path(namespace, f"{pod}:{port}", "proxy")
        return self._send(Request("GET", f"{at}/{path}")).body.decode(errors="replace")

    def create(self, manifest: Manifest, *, field_manager: str = FIELD_MANAGER) -> Manifest:
        """Create an object that must not exist; the stored object is returned.

        Raises:
            Conflict: it exists already.
        """
        resource = self._resource(manifest["apiVersion"], manifest["kind"])
        path = resource.path(manifest["metadata"].get("namespace") or "")
        query = (("fieldManager", field_manager), ("fieldValidation", "Strict"))
        return self._object(Request("POST", path, query, _json(manifest), "application/json"))

    def patch(self, ref: Ref, operations: Sequence[Mapping[str, Any]]) -> Manifest:
        """Apply an RFC 6902 patch; the stored object is returned.

        Guard it with a `replace` of `/metadata/resourceVersion`: a stale one is answered 409, while a failing
        `test` is answered by an unspecific 422.
        """
        query = (("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict"))
        body = _json(list(operations))
        return self._object(Request("PATCH", self._path(ref), query, body, "application/json-patch+json"))

    def apply(self, manifest: Manifest, *, ownership: Conflicts, mode: Mode) -> Manifest:
        """Server-side apply; the resulting object is returned, as stored or as it would be.

        Raises:
            Conflict: another manager owns a field; `causes` name the fields and the managers.
            Rejected: among others for a field that the schema does not know; `causes` name its path.
        """
        resource = self._resource(manifest["apiVersion"], manifest["kind"])
        metadata = manifest["metadata"]
        query = [
            ("fieldManager", FIELD_MANAGER),
            ("fieldValidation", "Strict"),
            ("force", "true" if ownership is Conflicts.FORCE else "false"),
            *_dry_run(mode),
        ]
        return self._object(
            Request(
                "PATCH",
                resource.path(metadata.get("namespace") or "", metadata["name"]),
                tuple(query),
                _json(manifest),
                "application/apply-patch+yaml",
            )
        )

    def delete(self, ref: Ref, *, uid: str, resource_version: str, mode: Mode) -> None:
        """Delete exactly the object that was seen.

        Raises:
            Conflict: it changed, or was replaced by another of its name, since it was seen.
        """
        options: Manifest = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid, "resourceVersion": resource_version},
            "propagationPolicy": "Background",
        }
        dry_run = _dry_run(mode)
        if dry_run:
            options["dryRun"] = ["All"]  # a body makes the server ignore the query
        self._send(Request("DELETE", self._path(ref), dry_run, _json(options), "application/json"))

    def request_kubeconfig(self, target: Target, access: Access, seconds: int) -> ShootKubeconfig:
        """Have the garden issue a short-lived kubeconfig for a shoot; call it on the garden.

        Args:
            target: the shoot.
            access: whose rights it carries.
            seconds: lifetime, at least 600 (gardener pkg/api/authentication/validation).

        Raises:
            CredentialsError: the answer holds no usable kubeconfig.
        """
        namespace, _, name = target.partition("/")
        resource = self._resource("core.gardener.cloud/v1beta1", "Shoot")
        body = {
            "apiVersion": "authentication.gardener.cloud/v1alpha1",
            "kind": f"{access.value.title()}KubeconfigRequest",
            "spec": {"expirationSeconds": seconds},
        }
        path = resource.path(namespace, name, f"{access.value}kubeconfig")
        request = Request("POST", path, (), _json(body), "application/json")
        response = self._send(request)
        return _shoot_kubeconfig(target, _parsed(request, response), _server_time(response))

    def _pages(self, first: Request, api_version: str, kind: str) -> Listing:
        items: list[Manifest] = []
        request = first
        server_time = None
        while True:
            response = self._send(request)
            page = _parsed(request, response)
            server_time = server_time or _server_time(response)
            items += ({"apiVersion": api_version, "kind": kind, **item} for item in page.get("items") or ())
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return Listing(tuple(items), server_time)
            request = Request("GET", first.path, (*first.query, ("continue", token)))

    def _path(self, ref: Ref) -> str:
        return self._resource(ref.api_version, ref.kind).path(ref.namespace, ref.name)

    def _resource(self, api_version: str, kind: str) -> Resource:
        return self._resources.find(api_version, kind, self._discover)

    def _discover(self, api_version: str) -> Manifest:
        return self._object(Request("GET", f"{'/apis' if '/' in api_version else '/api'}/{api_version}"))

    def _object(self, request: Request) -> Manifest:
        return _parsed(request, self._send(request))

    def _send(self, request: Request) -> Response:
        def once() -> Response:
            response = self._transport(request)
            raise_for_status(request, response)
            return response

        return self._retry(once, request)


def _dry_run(mode: Mode) -> tuple[tuple[str, str], ...]:
    return (("dryRun", "All"),) if mode is Mode.DRY_RUN else ()


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _parsed(request: Request, response: Response) -> Manifest:
    try:
        parsed = json.loads(response.body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise Unreachable("the answer is no Kubernetes object", status=response.status, request=str(request))
    return parsed


def _server_time(response: Response) -> datetime | None:
    try:
        return parsedate_to_datetime(response.headers["Date"])
    except (KeyError, ValueError):
        return None


def _shoot_kubeconfig(target: Target, answer: Manifest, server_time: datetime | None) -> ShootKubeconfig:
    status = answer.get("status") or {}
    try:
        config = yaml.load(base64.b64decode(status["kubeconfig"]), Loader=yaml.CSafeLoader)
        expires = datetime.fromisoformat(status["expirationTimestamp"])
    except (KeyError, TypeError, ValueError, binascii.Error, yaml.YAMLError):
        config, expires = None, None
    if not isinstance(config, dict) or expires is None:
        raise CredentialsError(f"the garden's answer holds no usable kubeconfig for shoot {target}") from None
    return ShootKubeconfig(config, expires, server_time)
