"""One API server: from a request to a response, without sockets."""

from urllib.parse import unquote

from gitops.sandbox import access, deleting, discovery, patching, reading, watching, writing
from gitops.sandbox.access import Identity, Issuer
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.reading import Scope, answer
from gitops.sandbox.watching import Patience
from gitops.sandbox.wire import (
    ApiError,
    Request,
    Response,
    encoded,
    method_not_allowed,
    no_such_resource,
    not_found,
)

_OPTIONS = {
    "POST": "CreateOptions",
    "PUT": "UpdateOptions",
    "PATCH": "PatchOptions",
    "DELETE": "DeleteOptions",
}


class ApiServer:
    """The garden's or a shoot's API."""

    def __init__(self, cluster: Cluster, issuer: Issuer | None = None) -> None:
        self.cluster = cluster
        """The state behind it."""
        self._issuer = issuer

    def handle(self, request: Request, identity: Identity, patience: Patience = "backlog") -> Response:
        """Answer a request of somebody who has been authenticated. Every failure is an answer, too."""
        try:
            return self._answer(request, identity, patience)
        except ApiError as problem:
            return Response(
                problem.code, {"Content-Type": "application/json", **problem.headers}, encoded(problem.status)
            )

    def _answer(self, request: Request, identity: Identity, patience: Patience) -> Response:
        if request.path in {"/healthz", "/livez", "/readyz"}:
            return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, b"ok")
        if request.method == "GET":
            document = discovery.document(self.cluster, request.path)
            if document is not None:
                return answer(encoded(document))
        if (request.method, request.path) == ("POST", access.SELF_REVIEW):
            return access.self_review(identity)
        scope = self._scope(request.path)
        if scope is None:
            return Response(404, {"Content-Type": "text/plain; charset=utf-8"}, b"404 page not found\n")
        verb = _verb(request, scope)
        access.authorize(identity, verb, scope)
        if verb in {"get", "list", "watch"}:
            return self._read(request, scope, verb, patience)
        return self._write(request, scope, verb, identity)

    def _read(self, request: Request, scope: Scope, verb: str, patience: Patience) -> Response:
        if verb == "watch":
            return watching.watch(self.cluster, scope, request, patience)
        read = reading.get if verb == "get" else reading.list_
        return read(self.cluster, scope, request)

    def _write(self, request: Request, scope: Scope, verb: str, identity: Identity) -> Response:
        if "protobuf" in request.content_type:
            accepted = "application/json, application/yaml"
            text = "the body of the request was in an unknown format - accepted media types include: "
            raise ApiError(415, "UnsupportedMediaType", text + accepted)
        if access.is_kubeconfig(scope.resource, scope.subresource) and self._issuer is not None:
            shoot = reading.current(self.cluster, scope).manifest()
            return self._issuer.issue(shoot, request, scope.subresource, identity.user)
        write = writing.write_of(self.cluster, scope, request, identity.user, _OPTIONS[request.method])
        verbs = {
            "create": writing.create,
            "update": writing.replace,
            "patch": patching.patch,
            "delete": deleting.delete,
            "deletecollection": deleting.delete_collection,
        }
        return verbs[verb](write, request)

    def _scope(self, path: str) -> Scope | None:
        """Return what a path names; None outside served groups; raises 404 for unknown resources."""
        parts = [unquote(part) for part in path.split("/") if part]
        match parts:
            case ["api", version, *rest] if rest:
                group = ""
            case ["apis", group, version, *rest] if rest:
                if not any((item.group, item.version) == (group, version) for item in self.cluster.resources()):
                    return None
            case _:
                return None
        namespace = ""
        if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] not in {"status", "finalize"}:
            namespace, rest = rest[1], rest[2:]
        resource = self.cluster.resource(group, version, rest[0])
        name, subresource = [*rest[1:], "", ""][:2]
        if subresource and subresource not in resource.subresources:
            raise not_found(group, rest[0], name) if resource.custom else no_such_resource()
        return Scope(resource, namespace, name, subresource)


def _verb(request: Request, scope: Scope) -> str:
    """Return the API's verb for a request; raises 405 where the path does not take the method."""
    if access.is_kubeconfig(scope.resource, scope.subresource):
        if request.method != "POST":
            raise method_not_allowed()
        return "create"
    on_object = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    on_collection = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
    if scope.resource.namespaced and not scope.namespace:
        on_collection = {"GET": "list"}
    verb = (on_object if scope.name else on_collection).get(request.method)
    if verb is None or (scope.subresource and verb == "delete"):
        raise method_not_allowed()
    if verb in {"get", "list"} and request.parameter("watch") in {"true", "1"}:
        return "watch"
    return verb
