"""Writing outside of a run, as `preflight` does: in turn with every run, and nowhere that somebody has suspended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import click

from gitops.control.store import load_control
from gitops.control.watch import Watch
from gitops.desired.compose import Desired
from gitops.errors import Suspended
from gitops.lease.lease import Lease
from gitops.rollout.effects import Effects
from gitops.world import Pace, World


@contextmanager
def in_turn(world: World, desired: Desired, lock_timeout: timedelta) -> Iterator[Effects]:
    """Who may write in that world while the block runs, as no run of the overlay is at work.

    What is suspended meanwhile, the overlay or a shoot, is not written any more.

    Args:
        world: what to act on.
        desired: of which overlay.
        lock_timeout: how long to wait for a run that is alive.

    Raises:
        LeaseHeld: it is still at work.
        LeaseLost: the lease was taken away meanwhile.
        Suspended: somebody asked for nothing to be written to the overlay.
        ApiError: that is not known, or the lease cannot be taken.
    """
    overlay = desired.overlay
    lease = Lease(world.garden, overlay.name, overlay.garden.namespaces[0], world.run, world.leasing)

    def waiting(holder: str) -> None:
        click.echo(f"a run is at work on {overlay.name}: waiting for {holder}", err=True)

    with world.fenced(lease.check) as fenced, lease.held(lock_timeout, waiting):
        if (suspension := load_control(fenced.garden, overlay).suspension) is not None:
            message = f"the overlay is suspended {suspension}; `gitops resume {overlay.name}` lets it go on"
            raise Suspended(message, shoot=None)
        watch = Watch("", lambda: load_control(fenced.garden, overlay), older=Pace().listen)  # it rolls nothing out
        yield replace(fenced.effects(desired), allow=watch.allow)
        lease.check()
