"""The fleet in the sandbox, in process and on virtual time: nobody ever sleeps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitops.cli.sandbox import PacedClock, SandboxTransport
from gitops.kube.cluster import Cluster
from gitops.kube.retry import Retry
from gitops.lease.leasing import Leasing
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN, Manifest
from gitops.sandbox import POLICY_CRDS, Handler, Landscape, NodeFault, Options, Pace, Request, RequestFault
from gitops.world import World
from tests.control_plane.client import JSON, USER_AGENT, Answer, Client
from tests.end_to_end.fleet import FOREIGN, NAMES, RESOURCES, Fleet
from tests.end_to_end.repository import SUCCESSOR, TYPE
from tests.end_to_end.requests import Requests
from tests.lease.times import IdleTime

NAMESPACE = "garden-dev"
IDENTITY = "sandbox"


class SandboxClient(Client):
    """A test's client that needs no socket."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def exchange(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        params: Mapping[str, str] | None = None,
    ) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        query = tuple((params or {}).items())
        request = Request(method, urlsplit(path).path, query, data, content_type, user_agent=USER_AGENT)
        answer = self._handler(request)
        return Answer(answer.status, answer.headers, answer.body)


class SandboxFleet(Fleet):
    """Three Shoots of an embedded landscape."""

    poll = timedelta(seconds=1)

    def __init__(self, folder: Path, names: Sequence[str] = NAMES) -> None:
        super().__init__(folder, NAMESPACE, IDENTITY, names)
        self.clock = PacedClock(float("inf"))
        self.leasing = Leasing(time=IdleTime())
        workers = [{"name": "w1", "machine": {"type": "local"}, "minimum": 1, "maximum": 1}]
        shoots = [
            {
                "apiVersion": "core.gardener.cloud/v1beta1",
                "kind": "Shoot",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"provider": {"type": "local", "workers": workers}},
            }
            for name in names
        ]
        shoots[0]["spec"] |= {"extensions": [FOREIGN], "resources": RESOURCES}  # type: ignore[operator]
        pace = Pace(operation=20, care=10)
        options = Options(identity=IDENTITY, extensions={TYPE: POLICY_CRDS, SUCCESSOR: POLICY_CRDS}, pace=pace)
        self.landscape = Landscape(shoots, self.clock.landscape, options=options)
        self._garden_handler = self.landscape.connect(self.landscape.garden_kubeconfig())
        self.client = SandboxClient(self._garden_handler)
        self.remember()

    def shoot_client(self, name: str) -> Client:
        return SandboxClient(self.landscape.connect(self.landscape.shoot_kubeconfig(self.target(name))))

    def settle(self) -> None:
        self.landscape.advance(600)

    def alive(self) -> AbstractContextManager[None]:
        return nullcontext()

    def refuse(self, name: str, node: str, error: str) -> None:
        self.landscape.faults.nodes.append(NodeFault(self.target(name), node, message=error))

    def accept(self, name: str) -> None:
        faults = self.landscape.faults.nodes
        faults[:] = [fault for fault in faults if fault.shoot != self.target(name)]

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        fault = RequestFault("Reset", {"cluster": self.target(name)})
        self.landscape.faults.requests.append(fault)
        yield
        self.landscape.faults.requests.remove(fault)

    def open_window(self, name: str) -> None:
        del name
        self.landscape.advance(timedelta(days=1, hours=1).total_seconds())

    @contextmanager
    def world(self, requests: Requests) -> Iterator[World]:
        retry = Retry(sleep=self.clock.sleep)

        def connect(kubeconfig: Manifest) -> Any:
            return requests.through(SandboxTransport(self.landscape.connect(json.dumps(kubeconfig).encode())))

        garden = Cluster(requests.through(SandboxTransport(self._garden_handler)), target=GARDEN, retry=retry)
        access = ShootAccess(garden, connect, clock=self.clock.now, retry=retry)
        yield World(garden, access, self.clock, leasing=self.leasing)
        access.close()
