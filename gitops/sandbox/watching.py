"""Watches: what happened since a resourceVersion, and what happens from now on."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from gitops.sandbox import tables
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.reading import Scope, chosen
from gitops.sandbox.store import Collection, Event, Stored
from gitops.sandbox.wire import ApiError, Manifest, Request, Response, encoded

Patience = Literal["backlog", "timeout"]
"""Whether a watch ends with what has already happened, or waits for more until its timeout."""

_PAUSE = 0.25


def watch(cluster: Cluster, scope: Scope, request: Request, patience: Patience) -> Response:
    """Answer a watch; raises 500 for a resourceVersion that is none, as the server does."""
    revision = request.parameter("resourceVersion") or "0"
    if not revision.isdigit():
        text = f'strconv.ParseUint: parsing "{revision}": invalid syntax'
        raise ApiError(500, "", f'invalid resource version "{revision}": {text}')
    return Response(
        200,
        {"Content-Type": "application/json"},
        b"",
        _lines(cluster, scope, request, int(revision), patience),
    )


def _lines(cluster: Cluster, scope: Scope, request: Request, revision: int, patience: Patience) -> Iterator[bytes]:
    show = _Shown(cluster, scope, request)
    streams_list = request.parameter("sendInitialEvents") == "true"
    if not revision or streams_list:
        with cluster.store.changed:
            start = cluster.store.objects(show.where, scope.namespace)
            revision = cluster.store.revision
        yield from (show.line("ADDED", stored) for stored in start if show.wanted(stored))
        if streams_list:
            yield show.bookmark(revision, {"annotations": {"k8s.io/initial-events-end": "true"}})
    seconds = int(request.parameter("timeoutSeconds") or 1800)
    deadline = cluster.clock.now() + timedelta(seconds=seconds)
    seen = revision
    try:
        until = None if patience == "backlog" else deadline
        for looked, events in _changes(cluster, show.where, revision, until):
            for event in events:
                yield from show.event(event)
            seen = looked
    except ApiError as gone:
        yield encoded({"type": "ERROR", "object": gone.status}) + b"\n"
        return
    if request.parameter("allowWatchBookmarks") == "true":
        yield show.bookmark(seen)


def _changes(
    cluster: Cluster, where: Collection, revision: int, deadline: datetime | None
) -> Iterator[tuple[int, list[Event]]]:
    """Yield how far we have looked, and what happened, until the deadline; without one, what has happened."""
    store = cluster.store
    while True:
        with store.changed:
            events = store.events(where, revision)
            over = store.closed or deadline is None or cluster.clock.now() >= deadline
            if not events and not over:
                store.changed.wait(_PAUSE)
                continue
            revision = store.revision
        yield revision, events
        if over:
            return


class _Shown:
    """How one watch spells events."""

    def __init__(self, cluster: Cluster, scope: Scope, request: Request) -> None:
        self._cluster, self._scope = cluster, scope
        self._chosen = chosen(scope, request)
        self.where = cluster.collection(scope.resource)
        self._as_table = "as=Table" in request.accept
        self._is_first = True

    def wanted(self, stored: Stored) -> bool:
        """Tell whether the selectors choose an object."""
        if self._scope.namespace and stored.namespace != self._scope.namespace:
            return False
        return self._chosen is None or self._chosen(stored.manifest())

    def event(self, event: Event) -> Iterator[bytes]:
        """Spell one event; an object that a selector no longer chooses is deleted for this watch."""
        now = event.type != "DELETED" and self.wanted(event.stored)
        before = event.previous is not None and self.wanted(event.previous)
        if now:
            yield self.line("MODIFIED" if before else "ADDED", event.stored)
        elif before and event.type == "DELETED":
            yield self.line("DELETED", event.stored)
        elif before and event.previous is not None:
            yield self.line("DELETED", event.previous, event.revision)

    def line(self, kind: str, stored: Stored, revision: int | None = None) -> bytes:
        """Spell one object, at its own or at a later resourceVersion."""
        resource = self._scope.resource
        document: Manifest = self._cluster.served(stored, resource)
        if revision is not None:
            document["metadata"]["resourceVersion"] = str(revision)
        if self._as_table:
            now = self._cluster.clock.now()
            document = tables.table(resource, [document], str(stored.revision), now)
            if not self._is_first:
                document["columnDefinitions"] = None
            self._is_first = False
        return encoded({"type": kind, "object": document}) + b"\n"

    def bookmark(self, revision: int, more: Manifest | None = None) -> bytes:
        """Spell how far the watch has come."""
        resource = self._scope.resource
        metadata = {"resourceVersion": str(revision), "creationTimestamp": None, **(more or {})}
        document = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return encoded({"type": "BOOKMARK", "object": document}) + b"\n"
