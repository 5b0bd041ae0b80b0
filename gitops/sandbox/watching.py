"""Watches: what happened since a resourceVersion, and what happens from now on."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

from gitops.sandbox import tables
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.reading import Scope, chosen
from gitops.sandbox.store import Event, Stored
from gitops.sandbox.wire import ApiError, Manifest, Request, Response, bad_request, encoded

Patience = Literal["backlog", "timeout"]
"""Whether a watch ends with what has already happened, or waits for more until its timeout."""

_PAUSE = 0.25


def watch(cluster: Cluster, scope: Scope, request: Request, patience: Patience) -> Response:
    """Answer a watch; raises 400 for a resourceVersion that is none."""
    revision = request.parameter("resourceVersion") or "0"
    if not revision.isdigit():
        raise bad_request(
            f'invalid resource version "{revision}": strconv.ParseUint: parsing "{revision}": invalid syntax'
        )
    return Response(
        200,
        {"Content-Type": "application/json"},
        b"",
        _lines(cluster, scope, request, int(revision), patience),
    )


def _lines(cluster: Cluster, scope: Scope, request: Request, revision: int, patience: Patience) -> Iterator[bytes]:
    show = _Shown(cluster, scope, request)
    where = cluster.collection(scope.resource)
    seconds = int(request.parameter("timeoutSeconds") or 1800)
    deadline = cluster.clock.now() + timedelta(seconds=seconds)
    if not revision:
        with cluster.store.changed:
            start, revision = cluster.store.objects(where, scope.namespace), cluster.store.revision
        for stored in start:
            if show.wanted(stored):
                yield show.line("ADDED", stored)
    while True:
        with cluster.store.changed:
            try:
                events = cluster.store.events(where, revision)
            except ApiError as gone:
                yield encoded({"type": "ERROR", "object": gone.status}) + b"\n"
                return
            over = cluster.store.closed or patience == "backlog" or cluster.clock.now() >= deadline
            if not events and not over:
                cluster.store.changed.wait(_PAUSE)
                continue
            latest = cluster.store.revision
        for event in events:
            yield from show.event(event)
        revision = latest
        if over:
            break
    if request.parameter("allowWatchBookmarks") == "true":
        yield show.bookmark(revision)


class _Shown:
    """How one watch spells events."""

    def __init__(self, cluster: Cluster, scope: Scope, request: Request) -> None:
        self._cluster, self._scope = cluster, scope
        self._chosen = chosen(scope, request)
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
        elif before:
            yield self.line("DELETED", event.stored)

    def line(self, kind: str, stored: Stored) -> bytes:
        """Spell one object."""
        resource = self._scope.resource
        document: Manifest = self._cluster.served(stored, resource)
        if self._as_table:
            now = self._cluster.clock.now()
            document = tables.table(resource, [document], str(stored.revision), now)
            if not self._is_first:
                document["columnDefinitions"] = None
            self._is_first = False
        return encoded({"type": kind, "object": document}) + b"\n"

    def bookmark(self, revision: int) -> bytes:
        """Spell how far the watch has come."""
        resource = self._scope.resource
        metadata = {"resourceVersion": str(revision), "creationTimestamp": None}
        document = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return encoded({"type": "BOOKMARK", "object": document}) + b"\n"
