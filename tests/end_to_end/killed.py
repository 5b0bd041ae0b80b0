"""A run that ends itself with SIGKILL at its n-th write, for tests that go on from there.

python -m tests.end_to_end.killed KUBECONFIG REPOSITORY N before|after
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from datetime import timedelta
from pathlib import Path

from gitops.clock import SystemClock
from gitops.desired.compose import compose
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.kube.transport import Request, Response
from gitops.lease.leasing import Leasing
from gitops.lease.timing import Timing
from gitops.live.access import ClosableTransport, ShootAccess
from gitops.manifest import GARDEN
from gitops.pipeline import reconcile
from gitops.source.repository import open_artifact
from gitops.world import Pace, World


class _Deadly:
    """Lets n-1 writes pass, and dies before or after the n-th."""

    def __init__(self, number: int, *, after: bool) -> None:
        self._left = number
        self._after = after
        self._lock = threading.Lock()

    def through(self, transport: ClosableTransport) -> ClosableTransport:
        return _Through(transport, self)

    def send(self, transport: ClosableTransport, request: Request) -> Response:
        if not request.writes or "/leases" in request.path:
            return transport(request)
        with self._lock:
            self._left -= 1
            if self._left == 0 and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            response = transport(request)
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return response


class _Through:
    def __init__(self, transport: ClosableTransport, deadly: _Deadly) -> None:
        self._transport = transport
        self._deadly = deadly

    def __call__(self, request: Request) -> Response:
        return self._deadly.send(self._transport, request)

    def close(self) -> None:
        self._transport.close()


def main(kubeconfig: str, repository: str, number: str, when: str) -> None:
    """Run until the fatal write."""
    deadly = _Deadly(int(number), after=when == "after")
    clock = SystemClock()
    garden = Cluster(deadly.through(open_garden({}, file=Path(kubeconfig))), target=GARDEN)
    access = ShootAccess(garden, lambda config: deadly.through(connect(config)), clock=clock.now)
    with open_artifact(repository, "HEAD", cache=Path(tempfile.gettempdir())) as artifact:
        desired = compose(artifact, "dev")
    reconcile(
        World(garden, access, clock, leasing=Leasing(Timing(duration=5, deadline=4, interval=1, retry=0.2))),
        desired,
        trigger="command",
        pace=Pace(timedelta(milliseconds=200)),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
