"""Opens the shoots' API servers with credentials that live minutes, and only in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from gitops.kube.cluster import Access, Cluster, ShootKubeconfig
from gitops.kube.resources import Resources
from gitops.kube.retry import Retry
from gitops.kube.transport import Transport
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


@dataclass
class _Opened:
    """One shoot's open door; its lock makes one thread ask for the credential while the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    cluster: Cluster | None = None
    transport: ClosableTransport | None = None
    until: datetime | None = None
    """By our clock; None when it was never opened."""

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()


class ShootAccess:
    """The shoots' API servers, opened when needed and kept open until shortly before the credential expires.

    At most `capacity` are kept, the least recently used going first, so that thousands of shoots do not exhaust
    file descriptors. A Cluster that was handed out stays usable until its credential expires. Thread-safe.
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
        self._opened: OrderedDict[tuple[Target, Access], _Opened] = OrderedDict()
        self._lock = threading.Lock()

    def cluster(self, target: Target, access: Access) -> Cluster:
        """A shoot's API server with a credential that is good for at least a minute.

        Raises:
            ApiError: the garden does not issue one.
            CredentialsError: what it issued cannot be used.
        """
        opened = self._slot((target, access))
        with opened.lock:
            asked = self._clock()
            if opened.cluster is None or opened.until is None or opened.until <= asked:
                kubeconfig = self._garden.request_kubeconfig(target, access, LIFETIME)
                opened.close()
                opened.transport = self._connect(kubeconfig.config)
                opened.cluster = Cluster(opened.transport, target=target, retry=self._retry, resources=self._resources)
                opened.until = _until(asked, kubeconfig)
            return opened.cluster

    def close(self) -> None:
        """Forget every credential and drop all idle connections; never waits for a request that hangs."""
        with self._lock:
            doors = list(self._opened.values())
            self._opened.clear()
        for door in doors:
            if door.lock.acquire(blocking=False):  # who holds it waits for a credential, perhaps for ever
                door.close()
                door.lock.release()

    def _slot(self, key: tuple[Target, Access]) -> _Opened:
        with self._lock:
            slot = self._opened.setdefault(key, _Opened())
            self._opened.move_to_end(key)
            evicted = self._opened.popitem(last=False)[1] if len(self._opened) > self._capacity else None
        if evicted is not None:
            evicted.close()
        return slot


def _until(asked: datetime, kubeconfig: ShootKubeconfig) -> datetime:
    """When to replace it, by our clock: the lifetime is measured by the server's clock alone."""
    issued = kubeconfig.server_time or asked
    return asked + (kubeconfig.expires - issued) - MARGIN
