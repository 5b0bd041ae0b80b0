"""The fleet on real API servers, with actors that act in real time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from gitops.clock import SystemClock
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.lease.leasing import Leasing
from gitops.lease.timing import Timing
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN
from gitops.world import World
from tests.actors import crds
from tests.actors.gardenlet import Gardenlet
from tests.actors.policy_agents import PolicyAgents, accept, refuse
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot
from tests.end_to_end.fleet import FOREIGN, NAMES, RESOURCES, Fleet
from tests.end_to_end.repository import SUCCESSOR, TYPE
from tests.end_to_end.requests import Requests

OURS = "shoot-gitops"
"""How the pipeline's user agent begins."""


class ControlPlaneFleet(Fleet):
    """Three Shoots with an API server each.

    Attributes:
        kubeconfig: of the garden.
    """

    poll = timedelta(milliseconds=200)

    def __init__(self, garden: Garden, folder: Path) -> None:
        super().__init__(folder, garden.namespace, garden.identity)
        self.client = garden.client
        self.kubeconfig = garden.kubeconfig
        self.leasing = Leasing(Timing(duration=20, deadline=12, interval=1, retry=0.2))
        self._garden = garden
        garden.create_shoot(shoot("one", extensions=[FOREIGN], resources=RESOURCES))
        for name in NAMES[1:]:
            garden.create_shoot(shoot(name))
        self._servers = {name: garden.shoot_server(name) for name in NAMES}
        self._gardenlet = Gardenlet(
            garden.client,
            garden.namespace,
            shoot_client=lambda target: self.shoot_client(target.partition("/")[2]),
            crds={TYPE: crds.nri(), SUCCESSOR: crds.nri()},
        )
        self._agents = {name: PolicyAgents(self.shoot_client(name)) for name in NAMES}
        self.settle()
        self.remember()

    def shoot_client(self, name: str) -> Client:
        return self._servers[name].client

    def settle(self) -> None:
        self._gardenlet.settle()
        for agents in self._agents.values():
            agents.step()

    @contextmanager
    def alive(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(self._gardenlet.run_in_background())
            for agents in self._agents.values():
                stack.enter_context(agents.run_in_background())
            yield

    def refuse(self, name: str, node: str, error: str) -> None:
        self._agents[name].verdict = refuse(node, error)

    def accept(self, name: str) -> None:
        self._agents[name].verdict = accept

    def cut_off(self, name: str) -> AbstractContextManager[None]:
        return self._garden.cut_off(name)

    def open_window(self, name: str) -> None:
        self._gardenlet.open_window(self.target(name))
        self.settle()

    def written(self) -> list[str]:
        """What all API servers together say that the pipeline wrote, whichever process; but for leases."""
        asked = [*self._garden.requests(OURS), *(r for server in self._servers.values() for r in server.requests(OURS))]
        return [f"{r.verb} {r.uri}" for r in asked if r.writes and "/leases" not in r.uri]

    @contextmanager
    def world(self, requests: Requests) -> Iterator[World]:
        clock = SystemClock()
        transport = open_garden({}, file=self.kubeconfig)
        garden = Cluster(requests.through(transport), target=GARDEN)
        access = ShootAccess(garden, lambda kubeconfig: requests.through(connect(kubeconfig)), clock=clock.now)
        try:
            yield World(garden, access, clock, leasing=self.leasing)
        finally:
            access.close()
            transport.close()
