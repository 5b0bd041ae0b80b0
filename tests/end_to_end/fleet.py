"""A fleet that lives: Shoots in a garden, their API servers, and a gardenlet and agents at work.

The same tests run on two of them: on real API servers (`control_plane_fleet`), and in the sandbox on virtual time
(`sandbox_fleet`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gitops.control.revision import choose_revision
from gitops.desired.artifact import Artifact
from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.lease.leasing import Leasing
from gitops.look import plan
from gitops.observer import Observer
from gitops.pipeline import reconcile
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.source.repository import open_artifact
from gitops.world import Pace, World
from tests.control_plane.client import Client
from tests.end_to_end.repository import TYPE, Repository
from tests.end_to_end.requests import Requests

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""By which certificates in image vectors are judged."""
NAMES = ("one", "two", "three")
"""`one` is the canary, the others are the fleet."""
POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
FOREIGN = {"type": "shoot-dns-service", "providerConfig": {"apiVersion": "a/v1", "kind": "C", "deep": {"list": [1]}}}
RESOURCES = [{"name": "secret", "resourceRef": {"apiVersion": "v1", "kind": "Secret", "name": "local"}}]


class Fleet(ABC):
    """Three Shoots, of which `one` at least carries another extension, and a repository that declares them.

    Attributes:
        client: the garden, as an administrator.
        leasing: how runs take the overlay's lease.
        before: the spec of each Shoot before the pipeline ever ran, by name.
    """

    client: Client
    leasing: Leasing
    poll: timedelta

    def __init__(self, folder: Path, namespace: str, identity: str, names: Sequence[str] = NAMES) -> None:
        self.namespace = namespace
        self.names = names
        self._cache = folder / "cache"
        self.repository = Repository(folder / "repository", namespace, identity)
        for name in names:
            self.repository.shoot(name, wave="canary" if name == "one" else "fleet")
        self.repository.policy()
        self.repository.commit("declare the fleet")
        self.before: dict[str, dict[str, Any]] = {}

    @abstractmethod
    def shoot_client(self, name: str) -> Client:
        """A shoot's own API server, as an administrator."""

    @abstractmethod
    def settle(self) -> None:
        """Let gardenlet and agents finish what they have to do."""

    @abstractmethod
    def alive(self) -> AbstractContextManager[None]:
        """Gardenlet and agents act while the block runs."""

    @abstractmethod
    def refuse(self, name: str, node: str, error: str) -> None:
        """Let a node of a shoot answer Failure to every policy that it is given from now on."""

    @abstractmethod
    def accept(self, name: str) -> None:
        """Let all nodes of a shoot accept what they are given from now on."""

    @abstractmethod
    def cut_off(self, name: str) -> AbstractContextManager[None]:
        """Nothing reaches a shoot's API server while the block runs."""

    @abstractmethod
    def open_window(self, name: str) -> None:
        """Let a Shoot's maintenance window come, and what waits for it happen."""

    @abstractmethod
    def world(self, requests: Requests) -> AbstractContextManager[World]:
        """What a run acts on, with every request noted."""

    def target(self, name: str) -> str:
        """`<namespace>/<name>`."""
        return f"{self.namespace}/{name}"

    def shoot_path(self, name: str) -> str:
        """A Shoot's path in the garden's API."""
        return f"/apis/core.gardener.cloud/v1beta1/namespaces/{self.namespace}/shoots/{name}"

    def reconcile(
        self,
        requests: Requests | None = None,
        *,
        deadline: timedelta | None = None,
        listen: timedelta = timedelta(seconds=1),
        trigger: str = "command",
        threads: int = 16,
        observer: Observer | None = None,
    ) -> Record:
        """One run of the overlay `dev` at HEAD, or at what was rolled back to, with everybody acting."""
        with self.alive(), self.world(requests or Requests()) as world:
            chosen = choose_revision(world.garden, self.composed(), self.composed)
            return reconcile(
                replace(world, threads=threads),
                chosen.desired,
                trigger=trigger,
                pace=Pace(self.poll, deadline, listen=listen),
                observer=observer,
                control=chosen.control,
            )

    def plan(self, requests: Requests | None = None) -> Planned:
        """What a run would do."""
        with self.world(requests or Requests()) as world:
            return plan(world, self.composed())[0]

    def composed(self, revision: str = "HEAD") -> Desired:
        """What git declares."""
        with open_artifact(str(self.repository.path), revision, cache=self._cache) as artifact:
            return compose_whole(artifact, "dev", NOW)

    def shoot(self, name: str) -> dict[str, Any]:
        """A Shoot as it is now."""
        return self.client.get(self.shoot_path(name))

    def patch_shoot(self, name: str, patch: dict[str, Any]) -> None:
        """Somebody merges something into a Shoot."""
        self.client.merge_patch(self.shoot_path(name), patch)

    def extensions(self, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Entries of a Shoot's `spec.extensions`: ours, and everybody else's."""
        entries = self.shoot(name)["spec"].get("extensions", [])
        return [e for e in entries if e["type"] == TYPE], [e for e in entries if e["type"] != TYPE]

    def policies(self, name: str) -> dict[str, dict[str, Any]]:
        """The policies in a shoot by name; empty where it knows none."""
        listing = self.shoot_client(name).find(POLICIES)
        return {item["metadata"]["name"]: item for item in listing["items"]} if listing else {}

    def versions(self, name: str) -> dict[str, str]:
        """ResourceVersion of everything that the pipeline could write for a shoot."""
        objects = {"Shoot": self.shoot(name), **self.policies(name)}
        return {key: manifest["metadata"]["resourceVersion"] for key, manifest in objects.items()}

    def nodes(self, name: str) -> list[str]:
        """Names of a shoot's nodes."""
        return [node["metadata"]["name"] for node in self.shoot_client(name).get("/api/v1/nodes")["items"]]

    @contextmanager
    def artifact(self) -> Iterator[Artifact]:
        """The repository at HEAD."""
        with open_artifact(str(self.repository.path), "HEAD", cache=self._cache) as artifact:
            yield artifact

    def remember(self) -> None:
        """Keep the specs as they are before the pipeline comes."""
        self.before = {name: self.shoot(name)["spec"] for name in self.names}
