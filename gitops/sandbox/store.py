"""Objects, as the bytes that are served, and the log of what happened to them.

One store holds every cluster of a landscape and counts one resourceVersion. Objects are kept as JSON, so
nobody can change one in place, a LIST is a join, and 5 000 Shoots fit in little memory.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from gitops.sandbox.wire import Manifest, encoded, expired

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class Collection(NamedTuple):
    """All objects of one resource in one cluster."""

    cluster: str
    """`garden`, or `<namespace>/<name>` of a shoot."""
    group: str
    """API group; empty for the core group."""
    plural: str
    """e.g. configmaps."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One object at one resourceVersion."""

    namespace: str
    """Empty for a cluster-scoped object."""
    name: str
    """metadata.name."""
    revision: int
    """metadata.resourceVersion as a number."""
    labels: dict[str, str]
    """metadata.labels, for selectors."""
    data: bytes
    """The whole object as compact JSON; of a built-in kind it starts with kind and apiVersion."""

    def manifest(self) -> Manifest:
        """Return a fresh copy of the object."""
        parsed: Manifest = json.loads(self.data)
        return parsed


class Event(NamedTuple):
    """One change."""

    revision: int
    """The resourceVersion that the change made."""
    type: EventType
    """As a watch names it."""
    collection: Collection
    """Where it happened."""
    stored: Stored
    """The object after the change; before it, but with the new resourceVersion, when it was deleted."""
    previous: Stored | None
    """The object before the change; None when it was added."""


class Store:
    """The landscape's etcd. Take `changed` around every read-modify-write."""

    def __init__(self, history: int = 4096) -> None:
        self.changed = threading.Condition(threading.RLock())
        """The store's lock; notified on every change."""
        self.revision = 1
        """The last resourceVersion."""
        self.listeners: list[Callable[[Event], None]] = []
        """Called with every change, under the lock: they may look and put things on the agenda, not write."""
        self.closed = False
        """Whether the landscape has stopped: watches end."""
        self._objects: dict[Collection, dict[tuple[str, str], Stored]] = {}
        self._events: deque[Event] = deque(maxlen=history)
        self._forgotten = 1

    def get(self, collection: Collection, namespace: str, name: str) -> Stored | None:
        """Return an object, or None where there is none."""
        return self._objects.get(collection, {}).get((namespace, name))

    def objects(self, collection: Collection, namespace: str = "", *, at: int | None = None) -> list[Stored]:
        """Return objects by namespace and name, now or as they were at a resourceVersion.

        Raises:
            ApiError: 410 where that resourceVersion has been forgotten.
        """
        with self.changed:
            found = dict(self._objects.get(collection, {}))
            if at is not None:
                for event in reversed(self.events(collection, after=at)):
                    where = (event.stored.namespace, event.stored.name)
                    if event.previous is None:
                        found.pop(where, None)
                    else:
                        found[where] = event.previous
        keys: Iterable[tuple[str, str]] = sorted(found)
        return [found[key] for key in keys if not namespace or key[0] == namespace]

    def events(self, collection: Collection, after: int) -> list[Event]:
        """Return what happened in a collection since a resourceVersion.

        Raises:
            ApiError: 410 where the log does not reach back that far.
        """
        with self.changed:
            if after < self._forgotten:
                raise expired(f"too old resource version: {after} ({self._forgotten})")
            found: list[Event] = []
            for event in reversed(self._events):
                if event.revision <= after:
                    break
                if event.collection == collection:
                    found.append(event)
        found.reverse()
        return found

    def put(self, collection: Collection, manifest: Manifest) -> Stored:
        """Keep an object, whether it is new or not, and return it with its new resourceVersion."""
        with self.changed:
            metadata = manifest["metadata"]
            where = (metadata.get("namespace", ""), metadata["name"])
            previous = self._objects.get(collection, {}).get(where)
            stored = self._stored(manifest)
            self._objects.setdefault(collection, {})[where] = stored
            self._log("MODIFIED" if previous else "ADDED", collection, stored, previous)
        return stored

    def delete(self, collection: Collection, namespace: str, name: str) -> None:
        """Remove an object that is there."""
        with self.changed:
            previous = self._objects[collection].pop((namespace, name))
            self._log("DELETED", collection, self._stored(previous.manifest()), previous)

    def rewrite(self, collection: Collection, stored: Stored, old: str, new: str) -> None:
        """Replace a text in an object behind everybody's back: no new resourceVersion, no event."""
        with self.changed:
            data = stored.data.replace(old.encode(), new.encode())
            self._objects[collection][stored.namespace, stored.name] = replace(stored, data=data)

    def drop(self, cluster: str) -> None:
        """Forget a whole cluster, without a trace in the log."""
        with self.changed:
            for collection in [key for key in self._objects if key.cluster == cluster]:
                del self._objects[collection]

    def close(self) -> None:
        """End every watch."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def forget(self) -> None:
        """Empty the log, as etcd's compaction does: older resourceVersions are answered with 410."""
        with self.changed:
            self._events.clear()
            self._forgotten = self.revision

    def _stored(self, manifest: Manifest) -> Stored:
        self.revision += 1
        metadata: dict[str, Any] = manifest["metadata"]
        metadata["resourceVersion"] = str(self.revision)
        labels = dict(metadata.get("labels") or {})
        return Stored(
            metadata.get("namespace", ""), metadata["name"], self.revision, labels, encoded(ordered(manifest))
        )

    def _log(self, kind: EventType, where: Collection, stored: Stored, previous: Stored | None) -> None:
        if len(self._events) == self._events.maxlen:
            self._forgotten = self._events[0].revision
        event = Event(self.revision, kind, where, stored, previous)
        self._events.append(event)
        for listener in self.listeners:
            listener(event)
        self.changed.notify_all()


def ordered(manifest: Manifest) -> Manifest:
    """Return an object with kind and apiVersion first, as built-in kinds are served."""
    return {"kind": manifest["kind"], "apiVersion": manifest["apiVersion"], **manifest}
