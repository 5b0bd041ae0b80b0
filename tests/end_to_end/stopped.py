"""A run that stops itself with SIGSTOP just before its n-th write leaves, its wall clock being SKEW seconds ahead.

python -m tests.end_to_end.stopped KUBECONFIG REPOSITORY N SKEW
"""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from datetime import datetime, timedelta
from pathlib import Path

from gitops.cli.exits import Exit, run
from gitops.clock import SystemClock
from gitops.desired.compose import compose
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import connect, open_garden
from gitops.kube.transport import Request
from gitops.lease.leasing import Leasing
from gitops.lease.timing import Timing
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN
from gitops.pipeline import reconcile
from gitops.source.repository import open_artifact
from gitops.world import Pace, World
from tests.end_to_end.requests import Requests

TIMING = Timing(duration=5, deadline=3, interval=0.5, retry=0.2)


class SkewedClock(SystemClock):
    """A wall clock that is wrong."""

    def __init__(self, skew: timedelta) -> None:
        self._skew = skew

    def now(self) -> datetime:
        return super().now() + self._skew


class _Stop:
    """Comes at the n-th write, when it has passed every fence and no byte of it has left yet."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> None:
        if not request.writes or "/leases" in request.path:
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this very thread goes no further


def main(kubeconfig: str, repository: str, number: str, skew: str) -> int:
    """Run to the end."""
    requests = Requests(before=_Stop(int(number)))
    clock = SkewedClock(timedelta(seconds=int(skew)))
    garden = Cluster(requests.through(open_garden({}, file=Path(kubeconfig))), target=GARDEN)
    access = ShootAccess(garden, lambda config: requests.through(connect(config)), clock=clock.now)
    with open_artifact(repository, "HEAD", cache=Path(tempfile.gettempdir())) as artifact:
        desired = compose(artifact, "dev")
    world = World(garden, access, clock, leasing=Leasing(TIMING, wall=clock.now))
    reconcile(world, desired, trigger="command", pace=Pace(timedelta(milliseconds=200)))
    return Exit.OK


if __name__ == "__main__":
    run(lambda: main(*sys.argv[1:]), Exit.ERROR)
