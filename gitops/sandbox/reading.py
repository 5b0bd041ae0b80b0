"""GET: one object, lists in pages, tables."""

import base64
import json
from dataclasses import dataclass

from gitops.sandbox import selectors, tables
from gitops.sandbox.cluster import Cluster, prefix
from gitops.sandbox.kinds import Resource
from gitops.sandbox.store import Stored
from gitops.sandbox.wire import Manifest, Request, Response, bad_request, encoded, expired, not_found


@dataclass(frozen=True)
class Scope:
    """What a request's path names."""

    resource: Resource
    """The resource, in the request's version."""
    namespace: str = ""
    """Empty for cluster-scoped resources and for all namespaces."""
    name: str = ""
    """Empty for the collection."""
    subresource: str = ""
    """e.g. status; empty for the object itself."""


def answer(body: bytes, status: int = 200, warnings: tuple[str, ...] = ()) -> Response:
    """Return a JSON answer."""
    headers = {"Content-Type": "application/json"}
    if warnings:
        headers["Warning"] = ", ".join(f"299 - {json.dumps(text)}" for text in warnings)
    return Response(status, headers, body)


def current(cluster: Cluster, scope: Scope) -> Stored:
    """Return the stored object a path names; raises 404 where there is none."""
    resource = scope.resource
    stored = cluster.store.get(cluster.collection(resource), scope.namespace, scope.name)
    if stored is None:
        raise not_found(resource.group, resource.plural, scope.name)
    return stored


def get(cluster: Cluster, scope: Scope, request: Request) -> Response:
    """Answer one object."""
    stored = current(cluster, scope)
    if "as=Table" in request.accept:
        manifest = cluster.served(stored, scope.resource)
        revision = str(stored.revision)
        return answer(encoded(tables.table(scope.resource, [manifest], revision, cluster.clock.now())))
    if scope.resource.api_version == scope.resource.stored_version:
        return answer(stored.data)
    return answer(encoded(cluster.served(stored, scope.resource)))


def chosen(scope: Scope, request: Request) -> "selectors.Predicate | None":
    """Return whether an object is asked for; None where all are."""
    tests = []
    if request.parameter("labelSelector"):
        tests.append(selectors.labels(request.parameter("labelSelector")))
    if request.parameter("fieldSelector"):
        tests.append(selectors.fields(request.parameter("fieldSelector"), scope.resource.plural))
    return (lambda manifest: all(test(manifest) for test in tests)) if tests else None


def list_(cluster: Cluster, scope: Scope, request: Request) -> Response:
    """Answer a collection, or a page of it."""
    resource = scope.resource
    wanted = chosen(scope, request)
    at, start = _position(cluster, request)
    with cluster.store.changed:
        items = cluster.store.objects(cluster.collection(resource), scope.namespace, at=at)
        revision = at if at is not None else cluster.store.revision
    if start is not None:
        items = [item for item in items if (item.namespace, item.name) > start]
    if wanted is not None:
        by_labels = not request.parameter("fieldSelector")
        items = [item for item in items if wanted(_view(item, by_labels=by_labels))]
    metadata: Manifest = {"resourceVersion": str(revision)}
    limit = _number(request, "limit")
    if limit and len(items) > limit:
        metadata["continue"] = _token(revision, items[limit - 1])
        if wanted is None:
            metadata["remainingItemCount"] = len(items) - limit
        items = items[:limit]
    if "as=Table" in request.accept:
        manifests = [cluster.served(item, resource) for item in items]
        document = tables.table(resource, manifests, str(revision), cluster.clock.now())
        document["metadata"] = metadata
        return answer(encoded(document))
    head = encoded({"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": metadata})
    return answer(head[:-1] + b',"items":[' + b",".join(_list_items(cluster, resource, items)) + b"]}")


def _number(request: Request, name: str) -> int:
    text = request.parameter(name) or "0"
    if not text.isdigit():
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text)


def _view(stored: Stored, *, by_labels: bool) -> Manifest:
    """Return what selectors look at; parsing the object is only needed for fields."""
    return {"metadata": {"labels": stored.labels}} if by_labels else stored.manifest()


def _list_items(cluster: Cluster, resource: Resource, items: list[Stored]) -> list[bytes]:
    if resource.api_version != resource.stored_version:
        manifests = [cluster.served(item, resource) for item in items]
        if resource.custom:
            return [encoded(manifest) for manifest in manifests]
        bare = [{k: v for k, v in m.items() if k not in {"kind", "apiVersion"}} for m in manifests]
        return [encoded(manifest) for manifest in bare]
    if resource.custom:
        return [item.data for item in items]
    start = len(prefix(resource))  # items of built-in lists do not repeat kind and apiVersion
    return [b"{" + item.data[start:] for item in items]


def _position(cluster: Cluster, request: Request) -> tuple[int | None, tuple[str, str] | None]:
    token = request.parameter("continue")
    if not token:
        return None, None
    try:
        read = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        position = read["rv"], (read["namespace"], read["name"])
    except (ValueError, KeyError, TypeError) as problem:
        raise bad_request(f"invalid continue token: continue key is not valid: {problem}") from problem
    if position[0] > cluster.store.revision:
        raise expired("The provided continue parameter is too old")
    return position


def _token(revision: int, last: Stored) -> str:
    raw = encoded({"rv": revision, "namespace": last.namespace, "name": last.name})
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
