"""What a run acts on, and how it spends its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import uuid4

from gitops.clock import Clock
from gitops.desired.compose import Desired
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Transport
from gitops.lease.fence import Check, Fenced
from gitops.lease.leasing import Leasing
from gitops.live.access import ShootAccess
from gitops.rollout.effects import Effects


@dataclass(frozen=True)
class World:
    """What a run acts on."""

    garden: Cluster
    access: ShootAccess
    clock: Clock
    threads: int = 16
    """Requests under way at once."""
    run: str = field(default_factory=lambda: uuid4().hex)
    """Which run this is, unlike every other: what an earlier one found wanting is looked at again."""
    runtime: Cluster | None = None
    """The cluster that gardener-operator runs in; None where nobody said how to reach it."""
    leasing: Leasing = field(default_factory=Leasing)
    """How runs keep each other from writing at once."""

    def effects(self, desired: Desired) -> Effects:
        """Whoever carries actions out in this world."""
        return Effects(desired, self.garden, self.access, self.clock, self.run, self.runtime)

    @contextmanager
    def fenced(self, check: Check) -> Iterator[World]:
        """The same world, in which every write asks first."""

        def wrap(transport: Transport) -> Fenced:
            return Fenced(transport, check)

        garden = self.garden.through(wrap)
        runtime = self.runtime.through(wrap) if self.runtime is not None else None
        with closing(self.access.through(garden, wrap)) as access:
            yield replace(self, garden=garden, access=access, runtime=runtime)


@dataclass(frozen=True)
class Pace:
    """How a run spends its time."""

    poll: timedelta = timedelta(seconds=5)
    """Between two looks at something that is being waited for."""
    deadline: timedelta | None = None
    """The longest that a run may take; None lets it wait as long as its gates allow."""
    lock_timeout: timedelta = timedelta(0)
    """How long to wait for another run that is alive. One that is not is waited for until its lease has expired."""
    listen: timedelta = timedelta(seconds=1)
    """Before a write, how old may be what is known of a suspension; real time."""
    stopping: Callable[[], str] = lambda: ""
    """Why the run should end before its next write; empty lets it go on. Asked from the thread that the run is in."""
    overtaken: Callable[[], str] = lambda: ""
    """Why the run should not begin after all, now that it is its turn; empty lets it. Asked where another run may have
    been at work, or has rolled out another commit: what a newer one did must not be undone."""
