"""From command-line options to the world that a run acts on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitops.cli.sandbox import sandbox_world
from gitops.clock import SystemClock
from gitops.desired.compose import Desired
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN
from gitops.pipeline import World


@dataclass(frozen=True)
class Where:
    """Which world a command works on."""

    kubeconfig: Path | None
    sandbox: bool
    time_scale: float

    @contextmanager
    def opened(self, desired: Desired) -> Iterator[World]:
        """The world, for as long as it is needed.

        Raises:
            CredentialsError: there is no kubeconfig that could be used.
        """
        opening = sandbox_world(desired, self.time_scale) if self.sandbox else _garden_world(self.kubeconfig)
        with opening as world:
            yield world


@contextmanager
def _garden_world(kubeconfig: Path | None) -> Iterator[World]:
    """The garden that a kubeconfig leads to, and the shoots behind it; None finds it as kubectl does."""
    clock = SystemClock()
    transport = open_garden(os.environ, file=kubeconfig)
    garden = Cluster(transport, target=GARDEN)
    access = ShootAccess(garden, connect, clock=clock.now)
    try:
        yield World(garden, access, clock)
    finally:
        access.close()
        transport.close()
