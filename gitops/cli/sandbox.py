"""A fresh landscape in this process, for `--sandbox`: no cluster, no sockets, and time that runs fast."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from gitops.desired.compose import Desired
from gitops.desired.overlay import ExtensionState
from gitops.errors import Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.retry import Retry
from gitops.kube.transport import USER_AGENT, Request, Response
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN, Manifest
from gitops.sandbox import POLICY_CRDS, Handler, Landscape, Options, UnreachableError, VirtualClock
from gitops.sandbox import Request as SandboxRequest
from gitops.world import World

LONGEST_PAUSE = 1.0
"""Real seconds that any jump in time takes at most, so that nobody watches an hour of soak."""


class PacedClock:
    """Virtual time that moves only while everybody waits, at a pace that people can follow."""

    def __init__(self, scale: float) -> None:
        self.landscape = VirtualClock(datetime.now(UTC).replace(microsecond=0))
        self._scale = scale

    def now(self) -> datetime:
        """The landscape's time."""
        return self.landscape.now()

    def sleep(self, seconds: float) -> None:
        """Let so much of the landscape's time pass, and a little of ours."""
        time.sleep(min(seconds / self._scale, LONGEST_PAUSE))
        self.landscape.advance(seconds)

    def patience(self, until: datetime) -> float | None:
        """Time stands still while requests are under way."""
        del until
        return None


class SandboxTransport:
    """One way into the landscape, as the pipeline's transport."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def __call__(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            Unreachable: no server of the landscape answers.
        """
        if request.permit is not None:
            request.permit()
        asked = SandboxRequest(
            request.method,
            request.path,
            request.query,
            request.body,
            request.content_type or "application/json",
            user_agent=USER_AGENT,
        )
        try:
            answer = self._handler(asked)
        except (UnreachableError, TimeoutError) as error:
            raise Unreachable(str(error), request=f"{request.method} {request.path}") from error
        return Response(answer.status, answer.headers, answer.body)

    def close(self) -> None:
        """There is nothing to close."""


def landscape_options(desired: Desired, *, copies: int = 0, latency: float = 0) -> Options:
    """How a landscape is made in which none of the overlay's extensions is known to any shoot yet."""
    introduced = {rule.type for rule in desired.overlay.extensions if rule.state is ExtensionState.ENABLED}
    return Options(
        identity=desired.overlay.garden.identity,
        extensions=dict.fromkeys(sorted(introduced), POLICY_CRDS),
        copies=copies,
        latency=latency,
    )


@contextmanager
def sandbox_world(desired: Desired, scale: float) -> Iterator[World]:
    """The world of a fresh landscape.

    Args:
        desired: whose Shoots it holds.
        scale: how many of the landscape's seconds pass in one of ours.
    """
    clock = PacedClock(scale)
    shoots = [shoot.shoot for shoot in desired.shoots.values()]
    landscape = Landscape(shoots, clock.landscape, options=landscape_options(desired))
    retry = Retry(sleep=clock.sleep)

    def connect(kubeconfig: Manifest) -> SandboxTransport:
        return SandboxTransport(landscape.connect(json.dumps(kubeconfig).encode()))

    handler = landscape.connect(landscape.garden_kubeconfig())
    garden = Cluster(SandboxTransport(handler), target=GARDEN, retry=retry)
    access = ShootAccess(garden, connect, clock=clock.now, retry=retry)
    try:
        yield World(garden, access, clock)
    finally:
        access.close()
