"""Where one shoot stands in a rollout: a value that the wave machine replaces as things happen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from gitops.desired.compose import DesiredShoot
from gitops.errors import GitopsError
from gitops.gardener.shoot_record import parse_timestamp
from gitops.manifest import Manifest, Target, get
from gitops.nri.resolution import is_policy
from gitops.ownership import FIELD_MANAGER
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.rollout.admission import Held, HeldBy
from gitops.rollout.step import ShootOutcome, Where


class Phase(Enum):
    """What a shoot is doing."""

    QUEUED = "queued"
    """Its turn has not come, or nobody has looked yet whether there is anything to do."""
    BUSY = "busy"
    """An action for it is under way."""
    WAITING = "waiting"
    """Somebody else is at work; it is looked at again at `look_at`."""
    SETTLED = "settled"


@dataclass(frozen=True)
class Track:
    """One shoot of the present wave."""

    desired: DesiredShoot
    observed: Observed
    observed_at: datetime
    """When it was last looked at, by our own clock."""
    phase: Phase = Phase.QUEUED
    started: bool = False
    """Whether it counts against the wave's concurrency."""
    where: Where = Where.GARDEN
    look_at: datetime | None = None
    give_up_at: datetime | None = None
    """When its gate must have opened; None while it waits for no gate."""
    unanswered_since: datetime | None = None
    """Since when its API server does not answer; None while it does."""
    conflicts: int = 0
    """Writes refused in a row because the object had changed."""
    writes: int = 0
    """Objects written by this run."""
    writing: str = ""
    """What is being written, or was last."""
    written: tuple[str, ...] = ()
    """What was written since it was looked at from the start, one entry for each time."""
    held: Held | None = None
    """What it waits for that this run will not see; None where it waits for nothing of the kind."""
    outcome: ShootOutcome = ShootOutcome.NOT_STARTED
    message: str = ""
    hint: str = ""
    """What may be behind its waiting, told when it took too long."""
    current_since: datetime | None = None
    """Since when it is as declared with every gate open, by our own clock; None while it is not."""

    @property
    def target(self) -> Target:
        """Which shoot."""
        return self.desired.target

    def settle(self, outcome: ShootOutcome, message: str, now: datetime) -> Track:
        """The same shoot, done with."""
        since = None
        if outcome is ShootOutcome.CONVERGED:
            since = self.current_since or (now if self.started else now - _age(self.observed))
        return replace(self, phase=Phase.SETTLED, outcome=outcome, message=message, current_since=since)

    def hold(self, held: Held, now: datetime) -> Track:
        """The same shoot, left alone by this run for a reason that is no failure."""
        begun = ShootOutcome.WAITING if self.writes else ShootOutcome.NOT_STARTED
        outcome = ShootOutcome.DEFERRED if held.by is HeldBy.SUSPENSION else begun
        return replace(self.settle(outcome, held.message, now), held=held)

    def again(self, now: datetime) -> Track:
        """The same shoot, to be looked at from the start."""
        fresh = replace(self, started=False, give_up_at=None, written=(), held=None)
        return replace(fresh, phase=Phase.WAITING, where=Where.GARDEN, look_at=now)

    def with_shoot(self, shoot: Manifest | None, server_time: datetime, now: datetime) -> Track:
        """Looked at in the garden; what is inside is to be looked at again."""
        observed = Observed(shoot, server_time, Unobserved("not looked at since"))
        return replace(self, observed=observed, observed_at=now)

    def with_inside(self, inside: Inside | GitopsError, now: datetime) -> Track:
        """Looked at inside."""
        return replace(self, observed=replace(self.observed, inside=inside), observed_at=now)


_EVER = timedelta(days=3650)


def _age(observed: Observed) -> timedelta:
    """How long it has stayed as it is, by the servers' clocks: since our last write, and since a node took a policy."""
    objects = [shoot for shoot in (observed.shoot,) if shoot]
    if isinstance(observed.inside, Inside):
        objects += observed.inside.objects.values()
    times = [time for manifest in objects for time in _changes(manifest)]
    return max(observed.server_time - max(times), timedelta(0)) if times else _EVER


def _changes(manifest: Manifest) -> Iterator[datetime]:
    for entry in get(manifest, "metadata", "managedFields") or []:
        if entry.get("manager") == FIELD_MANAGER and entry.get("time"):
            yield parse_timestamp(entry["time"])
    for node in (get(manifest, "status", "nodes") or {}).values():
        if is_policy(manifest) and get(node, "timestamp"):
            yield parse_timestamp(node["timestamp"])
