"""A fleet that lives: Shoots in a garden, their API servers, a gardenlet and agents at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from gitops.clock import SystemClock
from gitops.desired.compose import compose
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN
from gitops.pipeline import Pace, World, plan, reconcile
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.source.repository import open_artifact
from tests.actors import crds
from tests.actors.gardenlet import Gardenlet
from tests.actors.policy_agents import PolicyAgents, refuse
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot
from tests.end_to_end.repository import TYPE, Repository
from tests.end_to_end.requests import Requests

FOREIGN = {"type": "shoot-dns-service", "providerConfig": {"apiVersion": "a/v1", "kind": "C", "deep": {"list": [1]}}}
RESOURCES = [{"name": "secret", "resourceRef": {"apiVersion": "v1", "kind": "Secret", "name": "local"}}]
NAMES = ("one", "two", "three")
POLL = timedelta(milliseconds=200)
POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"


class Fleet:
    """Three Shoots: `one` is the canary and carries another extension, `two` and `three` are the rest."""

    def __init__(self, garden: Garden, folder: Path) -> None:
        self.garden = garden
        self.repository = Repository(folder / "repository", garden.namespace, garden.identity)
        self._folder = folder
        self.kubeconfig = garden.kubeconfig
        garden.create_shoot(shoot("one", extensions=[FOREIGN], resources=RESOURCES))
        for name in NAMES[1:]:
            garden.create_shoot(shoot(name))
        self.servers = {name: garden.shoot_server(name) for name in NAMES}
        self.gardenlet = Gardenlet(
            garden.client,
            garden.namespace,
            shoot_client=lambda target: self.servers[target.partition("/")[2]].client,
            crds={TYPE: crds.nri()},
        )
        self.agents = {name: PolicyAgents(server.client) for name, server in self.servers.items()}
        self.gardenlet.settle()
        for name in NAMES:
            self.repository.shoot(name, wave="canary" if name == "one" else "fleet")
        self.repository.policy()
        self.repository.commit("declare the fleet")

    def target(self, name: str) -> str:
        """`<namespace>/<name>`."""
        return f"{self.garden.namespace}/{name}"

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Gardenlet and agents act while the block runs."""
        with ExitStack() as stack:
            stack.enter_context(self.gardenlet.run_in_background())
            for agents in self.agents.values():
                stack.enter_context(agents.run_in_background())
            yield

    def refuse(self, shoot_name: str, node: str, error: str) -> None:
        """Let a node of a shoot answer Failure to every policy."""
        self.agents[shoot_name].verdict = refuse(node, error)

    @contextmanager
    def world(self, requests: Requests | None = None) -> Iterator[World]:
        """What a run acts on, with every request noted."""
        noted = requests or Requests()
        clock = SystemClock()
        transport = open_garden({}, file=self.kubeconfig)
        garden = Cluster(noted.through(transport), target=GARDEN)
        access = ShootAccess(garden, lambda kubeconfig: noted.through(connect(kubeconfig)), clock=clock.now)
        try:
            yield World(garden, access, clock)
        finally:
            access.close()
            transport.close()

    def reconcile(self, requests: Requests | None = None, *, deadline: timedelta | None = None) -> Record:
        """One run of the overlay `dev` at HEAD, with everybody acting."""
        with self.alive(), self.world(requests) as world, self._artifact() as artifact:
            return reconcile(
                world,
                compose(artifact, "dev"),
                trigger="command",
                pace=Pace(POLL, deadline),
                on_plan=lambda _: None,
                on_change=lambda _: None,
            )

    def plan(self, requests: Requests | None = None) -> Planned:
        """What a run would do."""
        with self.world(requests) as world, self._artifact() as artifact:
            return plan(world, compose(artifact, "dev"))[0]

    def shoot(self, name: str) -> dict[str, Any]:
        """A Shoot as it is now."""
        return self.garden.get_shoot(name)

    def policies(self, name: str) -> dict[str, dict[str, Any]]:
        """The policies in a shoot by name; empty where it knows none."""
        listing = self.servers[name].client.find(POLICIES)
        return {item["metadata"]["name"]: item for item in listing["items"]} if listing else {}

    def versions(self, name: str) -> list[str]:
        """The resourceVersions of everything that the pipeline could write for a shoot, but for status."""
        generations = [str(self.shoot(name)["metadata"]["generation"])]
        return generations + [f"{n}:{p['metadata']['generation']}" for n, p in sorted(self.policies(name).items())]

    @contextmanager
    def _artifact(self) -> Iterator[Any]:
        with open_artifact(str(self.repository.path), "HEAD", cache=self._folder / "cache") as artifact:
            yield artifact
