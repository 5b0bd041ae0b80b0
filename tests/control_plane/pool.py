"""API servers of shoots: started on demand, one Shoot at a time each, wiped before they are used again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tests.control_plane import access
from tests.control_plane.apiserver import KubeApiServer
from tests.control_plane.audit import Request, requests
from tests.control_plane.certificates import Pair
from tests.control_plane.client import Client
from tests.control_plane.etcd import Baseline, Etcd
from tests.waiting import until

LIMIT = 6
"""Each server takes 340 MB of memory and 3 s to start."""


class ShootServer:
    """A kube-apiserver that serves one Shoot, with what Gardener puts into every shoot for its users.

    Attributes:
        target: `<namespace>/<name>` of the Shoot; empty while in the pool.
        url: where it listens.
        client: as admin.
        kubeconfig: of an admin, as a dict.
    """

    def __init__(self, server: KubeApiServer, etcd: Etcd) -> None:
        server.wait_until_ready()
        self.target = ""
        self.url = server.url
        self.client: Client = server.client
        self.kubeconfig: dict[str, Any] = server.kubeconfig
        self._server = server
        access.grant(server.client)
        self._groups = self._listed()
        self._baseline = Baseline(etcd, server.prefix)
        self._audit_start = 0

    @property
    def authority(self) -> Pair:
        """The cluster CA and the client CA of the shoot."""
        return self._server.authority

    def requests(self, user_agent: str = "") -> list[Request]:
        """What this server answered since it serves this Shoot, except to `Client`s of the tests."""
        return requests(self._server.audit_log, self._audit_start, user_agent)

    def serve(self, target: str) -> None:
        """Begin to serve another Shoot."""
        self.target = target
        self._audit_start = self._server.audit_log.stat().st_size

    def wipe(self) -> None:
        """Delete every object that came after the start."""
        self.target = ""
        gone = self._baseline.restore()
        definitions = [key.rpartition("/")[2] for key in gone if "/customresourcedefinitions/" in key]
        if definitions:
            self._wait_until_unserved({name.partition(".")[2] for name in definitions})

    def stop(self) -> None:
        self._server.stop()

    def _listed(self) -> set[str]:
        return {group["name"] for group in self.client.get("/apis")["groups"]}

    def _wait_until_unserved(self, groups: set[str]) -> None:
        """Wait until custom resources of the last Shoot have left discovery: the list of groups, and each group."""

        def served() -> set[str]:
            return (self._listed() - self._groups) | {name for name in groups if self.client.find(f"/apis/{name}")}

        until(lambda still: not still, served)


class ShootServers:
    """The pool."""

    def __init__(self, binary: Path, etcd: Etcd, folder: Path) -> None:
        self._binary = binary
        self._etcd = etcd
        self._folder = folder
        self._numbers = itertools.count(1)
        self._starting: list[KubeApiServer] = []
        self._free: list[ShootServer] = []
        self._used: list[ShootServer] = []

    def prepare(self, count: int) -> None:
        """Begin to start servers, without waiting for them."""
        for _ in range(count):
            self._starting.append(self._start())

    def lease(self, target: str) -> ShootServer:
        """A clean server for one Shoot, started now if none is free."""
        server = self._free.pop() if self._free else self._next()
        server.serve(target)
        self._used.append(server)
        return server

    def give_back(self, server: ShootServer) -> None:
        server.wipe()
        self._used.remove(server)
        self._free.append(server)

    def stop(self) -> None:
        for starting in self._starting:
            starting.stop()
        for running in [*self._free, *self._used]:
            running.stop()

    def _next(self) -> ShootServer:
        if not self._starting:
            self.prepare(1)
        server = ShootServer(self._starting[0], self._etcd)
        del self._starting[0]
        return server

    def _start(self) -> KubeApiServer:
        number = next(self._numbers)
        if number > LIMIT:
            raise RuntimeError(f"a test wants more than {LIMIT} shoot API servers at once")
        return KubeApiServer(self._binary, self._etcd, self._folder / f"shoot-{number}")
