"""Opens the shoots' API servers with credentials that live minutes, and only in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gitops.kube.cluster import Access, Cluster, ShootKubeconfig
from gitops.kube.resources import Resources
from gitops.kube.retry import Retry
from gitops.kube.transport import Request, Response, Transport
from gitops.manifest import Manifest, Target

LIFETIME = 600
"""Seconds; the least that Gardener issues (pkg/api/authentication/validation), as it cannot be revoked."""
MARGIN = timedelta(seconds=60)
"""A credential is replaced this long before it expires, so that no request outlives it."""


class ClosableTransport(Transport, Protocol):
    """A transport that holds connections."""

    def close(self) -> None:
        """Drop the idle connections; requests under way end normally."""


Connect = Callable[[Manifest], ClosableTransport]
"""How a kubeconfig becomes a transport."""


@dataclass(frozen=True)
class _Wrapped:
    send: Transport
    end: Callable[[], None]

    def __call__(self, request: Request) -> Response:
        return self.send(request)

    def close(self) -> None:
        self.end()


class _Door:
    """The way into one shoot: a transport that gets itself a credential, and another one when it is refused."""

    def __init__(self, ask: Callable[[], ShootKubeconfig], connect: Connect, clock: Callable[[], datetime]) -> None:
        self._ask = ask
        self._connect = connect
        self._clock = clock
        self._transport: ClosableTransport | None = None
        self._until: datetime | None = None
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        transport = self.open()
        response = transport(request)
        if response.status != 401:
            return response
        # Nothing was done, so that even a write may be sent again: the credential ended earlier than it said.
        return self.open(instead_of=transport)(request)

    def open(self, *, instead_of: ClosableTransport | None = None) -> ClosableTransport:
        """A transport whose credential is good for at least a minute; one thread asks while the others wait."""
        with self._lock:
            asked = self._clock()
            refused = instead_of is not None and self._transport is instead_of
            if self._transport is None or self._until is None or self._until <= asked or refused:
                kubeconfig = self._ask()
                self._close()
                self._transport = self._connect(kubeconfig.config)
                self._until = _until(asked, kubeconfig)
            return self._transport

    def close(self) -> None:
        """Forget the credential; whoever holds the lock waits for one, perhaps for ever, and is not waited for."""
        if self._lock.acquire(blocking=False):
            self._close()
            self._transport = None
            self._lock.release()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class ShootAccess:
    """The shoots' API servers, opened when needed and kept open until shortly before the credential expires.

    At most `capacity` are kept, the least recently used going first, so that thousands of shoots do not exhaust
    file descriptors. A Cluster that was handed out stays usable: it gets new credentials by itself. Thread-safe.
    """

    def __init__(
        self,
        garden: Cluster,
        connect: Connect,
        *,
        clock: Callable[[], datetime],
        retry: Retry | None = None,
        capacity: int = 256,
    ) -> None:
        """Open nothing yet.

        Args:
            garden: issues the credentials.
            connect: makes a transport from a kubeconfig.
            clock: the time now, with a time zone.
            retry: when requests to shoots are repeated.
            capacity: how many doors are kept open.
        """
        self._garden = garden
        self._connect = connect
        self._clock = clock
        self._retry = retry
        self._capacity = capacity
        self._resources = Resources()
        self._doors: OrderedDict[tuple[Target, Access], tuple[_Door, Cluster]] = OrderedDict()
        self._lock = threading.Lock()

    def through(self, garden: Cluster, wrap: Callable[[Transport], Transport]) -> ShootAccess:
        """The same shoots by a way that lets through, changes or refuses requests; with credentials of its own.

        Args:
            garden: issues the credentials.
            wrap: makes that way from a connection; it sees every request just as it is sent.
        """

        def connect(kubeconfig: Manifest) -> ClosableTransport:
            connection = self._connect(kubeconfig)
            return _Wrapped(wrap(connection), connection.close)

        return ShootAccess(garden, connect, clock=self._clock, retry=self._retry, capacity=self._capacity)

    def cluster(self, target: Target, access: Access) -> Cluster:
        """A shoot's API server with a credential that is good for at least a minute.

        Raises:
            ApiError: the garden does not issue one.
            CredentialsError: what it issued cannot be used.
        """
        door, cluster = self._door(target, access)
        door.open()
        return cluster

    def close(self) -> None:
        """Forget every credential and drop all idle connections."""
        with self._lock:
            doors = list(self._doors.values())
            self._doors.clear()
        for door, _ in doors:
            door.close()

    def _door(self, target: Target, access: Access) -> tuple[_Door, Cluster]:
        def ask() -> ShootKubeconfig:
            return self._garden.request_kubeconfig(target, access, LIFETIME)

        key = (target, access)
        with self._lock:
            if key not in self._doors:
                door = _Door(ask, self._connect, self._clock)
                self._doors[key] = (door, Cluster(door, target=target, retry=self._retry, resources=self._resources))
            self._doors.move_to_end(key)
            opened = self._doors[key]
            evicted = self._doors.popitem(last=False)[1] if len(self._doors) > self._capacity else None
        if evicted is not None:
            evicted[0].close()
        return opened


def _until(asked: datetime, kubeconfig: ShootKubeconfig) -> datetime:
    """When to replace it, by our clock: the lifetime is measured by the server's clock alone."""
    issued = kubeconfig.server_time or asked
    return asked + (kubeconfig.expires - issued) - MARGIN
