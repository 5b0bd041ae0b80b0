"""Faults on demand: what goes wrong, where, and how often. Deterministic: counters, and a seed for chances.

The same structure is read from a YAML file:

    requests:
    - match: {cluster: garden, verb: patch, resource: shoots}   # shell patterns; what is left out matches all
      effect: TooManyRequests
      retryAfter: 1
      times: 3              # then it is over; absent = for ever
      after: 2              # the first two matches go well
      probability: 0.5
    operations:
    - {shoot: garden-dev/one, state: Failed, codes: [ERR_CONFIGURATION_PROBLEM], description: no, times: 1}
    nodes:
    - {shoot: garden-dev/one, node: "*-w1-*", message: cannot parse cpuset}
    deletions:
    - {shoot: garden-dev/one, after: 20}   # once that many requests have been answered
"""

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from gitops.sandbox.wire import MODIFIED, ApiError, Request, UnreachableError, unauthorized

Effect = Literal[
    "TooManyRequests",
    "InternalError",
    "Unavailable",
    "Conflict",
    "Unauthorized",
    "Forbidden",
    "Slow",
    "BlackHole",
    "Reset",
]
"""Reset closes the connection; BlackHole answers nothing until the client gives up; Slow answers late."""


@dataclass(frozen=True)
class RequestFault:
    """Requests that go wrong."""

    effect: Effect
    """How."""
    match: Mapping[str, str] = field(default_factory=dict)
    """Shell patterns for cluster, verb, resource, namespace, name, subresource; absent matches all."""
    seconds: float = 0.0
    """How late Slow answers; how long BlackHole holds a connection, in landscape seconds."""
    retry_after: int = 1
    """Seconds in the Retry-After header of TooManyRequests and Unavailable."""
    after: int = 0
    """How many matches go well before."""
    times: int | None = None
    """How many matches go wrong; None for all."""
    probability: float = 1.0
    """The chance of a match to go wrong."""


@dataclass(frozen=True)
class OperationFault:
    """Operations of the gardenlet that go wrong."""

    shoot: str
    """A shell pattern for `<namespace>/<name>`."""
    state: Literal["Error", "Failed", "Never"] = "Error"
    """How the operation ends; Never: it stays in Processing."""
    codes: tuple[str, ...] = ()
    """Error codes of lastErrors."""
    description: str = "the sandbox was told to let this fail"
    """The text of lastErrors."""
    times: int | None = None
    """How many operations go wrong; None for all."""


@dataclass(frozen=True)
class NodeFault:
    """Agents that refuse policies."""

    shoot: str
    """A shell pattern for `<namespace>/<name>`."""
    node: str = "*"
    """A shell pattern for the node's name."""
    policy: str = "*"
    """A shell pattern for the policy's name."""
    message: str = "the sandbox was told to let this fail"
    """The node's error text."""
    times: int | None = None
    """How many policies are refused; None for all."""


@dataclass(frozen=True)
class Deletion:
    """A Shoot that goes away in the middle."""

    shoot: str
    """`<namespace>/<name>`."""
    after: int = 0
    """Once that many requests have been answered by any API server."""


class Faults:
    """The faults in force. Tests may add and remove some while the landscape lives."""

    def __init__(self, seed: int = 0) -> None:
        self.requests: list[RequestFault] = []
        """In order: the first that matches and still has budget decides."""
        self.operations: list[OperationFault] = []
        """As above."""
        self.nodes: list[NodeFault] = []
        """As above."""
        self.deletions: list[Deletion] = []
        """Every one that is still to come."""
        self._seen: dict[int, tuple[object, int]] = {}
        self._random = random.Random(seed)  # noqa: S311 - chances, not secrets
        self._lock = threading.Lock()
        self._answered = 0

    def request(self, facts: Mapping[str, str]) -> RequestFault | None:
        """Return what goes wrong with a request, described by the keys of `match`; None for nothing."""
        with self._lock:
            self._answered += 1
            for fault in self.requests:
                if _matches(fault.match, facts) and self._is_due(fault, fault.after, fault.times):
                    if self._random.random() >= fault.probability:
                        continue
                    return fault
        return None

    def operation(self, shoot: str) -> OperationFault | None:
        """Return how an operation on a Shoot goes wrong; None where it goes well."""
        with self._lock:
            for fault in self.operations:
                if fnmatchcase(shoot, fault.shoot) and self._is_due(fault, 0, fault.times):
                    return fault
        return None

    def node(self, shoot: str, node: str, policy: str) -> NodeFault | None:
        """Return why a node refuses a policy; None where it does not."""
        with self._lock:
            for fault in self.nodes:
                named = fnmatchcase(shoot, fault.shoot) and fnmatchcase(node, fault.node)
                if named and fnmatchcase(policy, fault.policy) and self._is_due(fault, 0, fault.times):
                    return fault
        return None

    def due_deletions(self) -> list[str]:
        """Return the Shoots whose time to go has come, once."""
        with self._lock:
            due = [item for item in self.deletions if self._answered >= item.after]
            self.deletions = [item for item in self.deletions if item not in due]
        return [item.shoot for item in due]

    def _is_due(self, fault: object, after: int, times: int | None) -> bool:
        _, seen = self._seen.get(id(fault), (fault, 0))
        self._seen[id(fault)] = fault, seen + 1  # kept, so that no other fault gets its id
        return seen >= after and (times is None or seen < after + times)


def _matches(match: Mapping[str, str], facts: Mapping[str, str]) -> bool:
    return all(fnmatchcase(facts.get(key, ""), pattern) for key, pattern in match.items())


def failure(fault: RequestFault, url: str) -> Exception:
    """Return what a request to a URL meets, for every effect but Slow."""
    soon = {"retryAfterSeconds": fault.retry_after}
    header = {"Retry-After": str(fault.retry_after)}
    busy = "the server has received too many requests and has asked us to try again later"
    found: dict[str, Exception] = {
        "TooManyRequests": ApiError(429, "TooManyRequests", busy, soon, header),
        "Unavailable": ApiError(503, "ServiceUnavailable", "the server is unable to handle it", soon, header),
        "InternalError": ApiError(500, "InternalError", "Internal error occurred: the sandbox was told so"),
        "Conflict": ApiError(409, "Conflict", f"Operation cannot be fulfilled: {MODIFIED}"),
        "Unauthorized": unauthorized(),
        "Forbidden": ApiError(403, "Forbidden", f"forbidden: the sandbox was told to refuse {url}"),
        "BlackHole": TimeoutError(f"{url} does not answer"),
        "Reset": UnreachableError(f"{url}: the connection was reset"),
    }
    return found[fault.effect]


def read(document: Mapping[str, Any], seed: int = 0) -> Faults:
    """Return the faults that a file describes; raises TypeError for a key that no fault has."""
    faults = Faults(seed)
    faults.requests = [RequestFault(**_snake(item)) for item in _items(document, "requests")]
    faults.operations = [
        OperationFault(**{**_snake(item), "codes": tuple(item.get("codes", ()))})
        for item in _items(document, "operations")
    ]
    faults.nodes = [NodeFault(**_snake(item)) for item in _items(document, "nodes")]
    faults.deletions = [Deletion(**_snake(item)) for item in _items(document, "deletions")]
    return faults


def _items(document: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    items: Sequence[Mapping[str, Any]] = document.get(name) or ()
    return items


def _snake(item: Mapping[str, Any]) -> dict[str, Any]:
    return {("retry_after" if key == "retryAfter" else key): value for key, value in item.items()}


_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def facts(cluster: str, request: Request) -> dict[str, str]:
    """Return what faults can match about a request, read from its path alone."""
    parts = [part for part in request.path.split("/") if part]
    rest = parts[2:] if parts[:1] == ["api"] else parts[3:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = [*rest, "", "", ""][:3]
    verb = _VERBS.get(request.method, "")
    if verb == "get" and not name:
        verb = "watch" if request.parameter("watch") in {"true", "1"} else "list"
    return {
        "cluster": cluster,
        "verb": verb,
        "resource": resource,
        "namespace": namespace,
        "name": name,
        "subresource": subresource,
    }
