"""From command-line options to the world that a run acts on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitops.clock import SystemClock
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN
from gitops.pipeline import World


@contextmanager
def opened_world(kubeconfig: Path | None) -> Iterator[World]:
    """The garden that a kubeconfig leads to, and the shoots behind it.

    Args:
        kubeconfig: None finds it as kubectl does: KUBECONFIG, `~/.kube/config`, the pod's own account.

    Raises:
        CredentialsError: there is none that could be used.
    """
    clock = SystemClock()
    transport = open_garden(os.environ, file=kubeconfig)
    garden = Cluster(transport, target=GARDEN)
    access = ShootAccess(garden, connect, clock=clock.now)
    try:
        yield World(garden, access, clock)
    finally:
        access.close()
        transport.close()
