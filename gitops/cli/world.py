"""From command-line options to the world that a run acts on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitops.cli.sandbox import sandbox_world
from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN, RUNTIME
from gitops.world import World


@dataclass(frozen=True)
class Where:
    """Which world a command works on."""

    kubeconfig: Path | None
    sandbox: bool
    time_scale: float
    runtime_kubeconfig: Path | None = None
    """Of the cluster that gardener-operator runs in; None where no operator Extension is declared."""

    @contextmanager
    def opened(self, desired: Desired, clock: Clock | None = None) -> Iterator[World]:
        """The world, for as long as it is needed.

        Args:
            desired: what a landscape is made for.
            clock: whose time passes in a garden; a landscape has its own. None takes the machine's.

        Raises:
            CredentialsError: there is no kubeconfig that could be used.
        """
        opening = (
            sandbox_world(desired, self.time_scale) if self.sandbox else self._garden_world(clock or SystemClock())
        )
        with opening as world:
            yield world

    @contextmanager
    def _garden_world(self, clock: Clock) -> Iterator[World]:
        """The garden that the kubeconfig leads to, and the shoots behind it; None finds it as kubectl does."""
        with ExitStack() as stack:
            transport = stack.enter_context(closing(open_garden(os.environ, file=self.kubeconfig)))
            garden = Cluster(transport, target=GARDEN)
            access = stack.enter_context(closing(ShootAccess(garden, connect, clock=clock.now)))
            runtime = None
            if self.runtime_kubeconfig is not None:
                way = stack.enter_context(closing(open_garden({}, file=self.runtime_kubeconfig)))
                runtime = Cluster(way, target=RUNTIME)
            yield World(garden, access, clock, runtime=runtime)
