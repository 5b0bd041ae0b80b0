"""Kubernetes Events on the Shoot, for those who look at it with kubectl or in Gardener's dashboard.

They are of the core group, as Gardener's own are: `kubectl describe` shows both kinds alike, one rule of RBAC is
enough, and a repeated one is counted in place. An Event's name is made of what it says, so that a repetition meets the
one that is there, whichever process wrote it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gitops.clock import Clock
from gitops.desired.compose import Desired
from gitops.errors import Conflict, Forbidden, GitopsError
from gitops.gardener.shoot_record import timestamp
from gitops.kube.cluster import Cluster
from gitops.live.garden import SHOOT
from gitops.manifest import GARDEN, Manifest, Target, get, ref_of
from gitops.notify.outbox import Tell
from gitops.observer import Observer, Run
from gitops.ownership import FIELD_MANAGER
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.record.store import Stored
from gitops.report.words import counted, short_revision
from gitops.rollout.rollout import Rollout
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase

MESSAGE = 1024
"""Characters of a message, as kube-apiserver takes them."""
LOOK = timedelta(seconds=5)
"""Between two looks at the shoots of a wave while a run goes on."""
PATIENCE = 30.0
"""Seconds that the end of a run waits for Events that are still on their way."""
_THREADS = 4
_REASONS = {
    ShootOutcome.CONVERGED: ("Normal", "Reconciled"),
    ShootOutcome.FAILED: ("Warning", "ReconcileFailed"),
    ShootOutcome.QUARANTINED: ("Warning", "Quarantined"),
    ShootOutcome.DEFERRED: ("Normal", "Deferred"),
    ShootOutcome.WAITING: ("Normal", "Waiting"),
}


@dataclass(frozen=True)
class Standing:
    """Where one shoot stands in a run."""

    target: Target
    outcome: ShootOutcome
    writes: int
    message: str


@dataclass
class _Telling:
    """What is said of one run."""

    run: Run
    looked: datetime
    """When the shoots of the present wave were looked at last."""
    before: Mapping[Target, str] = field(default_factory=dict)
    """How the last run left every shoot."""
    shoots: dict[Target, Manifest] = field(default_factory=dict)
    """The live Shoots, which Events are about."""
    said: dict[Target, ShootOutcome] = field(default_factory=dict)
    soaking: bool = False
    garden: Cluster | None = None
    """None until something may be written."""
    pool: ThreadPoolExecutor | None = None
    writing: set[Future[None]] = field(default_factory=set)
    errors: list[GitopsError] = field(default_factory=list)
    """Grows in any thread."""


class ShootEvents(Observer):
    """Writes an Event where a run wrote to a shoot, or left it in another state than the last run did.

    What it writes goes through the run's own garden, and has gone when the run lets go of the overlay. A run that tells
    no news writes none. An Event that cannot be written is told, once for all, and harms nothing.
    """

    def __init__(self, clock: Clock, tell: Tell) -> None:
        """Make the observer of any number of overlays.

        Args:
            clock: what time it is in the gardens.
            tell: told what could not be written.
        """
        self._clock = clock
        self._tell = tell
        self._runs: dict[str, _Telling] = {}

    def began(self, run: Run, desired: Desired) -> None:
        """An earlier run of the overlay, which may have been broken off, is forgotten."""
        del desired
        self._finish(run)
        self._runs[run.overlay] = _Telling(run, self._clock.now())

    def remembered(self, run: Run, before: Stored | None) -> None:
        """How the last run left every shoot."""
        waves = before.last.get("waves", []) if before else []
        self._of(run).before = {shoot["shoot"]: shoot["outcome"] for wave in waves for shoot in wave["shoots"]}

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """Which objects the Events will be about."""
        del planned
        live = {target: seen.shoot for target, seen in outlook.shoots.items() if seen.shoot is not None}
        self._of(run).shoots = live

    def held(self, run: Run, garden: Cluster) -> None:
        """Where to write."""
        self._of(run).garden = garden

    def moved(self, run: Run, rollout: Rollout) -> None:
        """From time to time, and before a wave is left alone for long, tell of shoots that are done with."""
        telling, now = self._of(run), self._clock.now()
        soaking = rollout.soaking_until is not None
        begins_to_soak = soaking and not telling.soaking
        telling.soaking = soaking
        if now - telling.looked < LOOK and not begins_to_soak:
            return
        telling.looked = now
        settled = [track for track in rollout.tracks.values() if track.phase is Phase.SETTLED]
        telling.shoots.update({t.target: t.observed.shoot for t in settled if t.observed.shoot is not None})
        self._tell_of(telling, (Standing(t.target, t.outcome, t.writes, t.message) for t in settled))

    def recorded(self, run: Run, record: Record) -> None:
        """Tell of all that were not told of yet, and wait until they are written."""
        results = (shoot for wave in record.result.waves for shoot in wave.shoots)
        self._tell_of(self._of(run), (Standing(s.shoot, s.outcome, s.writes, s.message) for s in results))
        self._finish(run)

    def ended(self, run: Run, record: Record) -> None:
        """Nothing is written any more."""
        del record
        self._finish(run)

    def failed(self, run: Run, error: GitopsError) -> None:
        """What is on its way is still written, as far as it may be."""
        del error
        self._finish(run)

    def _of(self, run: Run) -> _Telling:
        return self._runs[run.overlay]

    def _tell_of(self, telling: _Telling, standings: Iterable[Standing]) -> None:
        for standing in standings:
            shoot = telling.shoots.get(standing.target)
            if telling.garden is not None and shoot is not None and _is_news(telling, standing):
                telling.said[standing.target] = standing.outcome
                telling.pool = telling.pool or ThreadPoolExecutor(_THREADS, thread_name_prefix="events")
                event = event_of(telling.run, shoot, standing, self._clock.now())
                telling.writing.add(telling.pool.submit(_write, telling.garden, event, telling.errors))

    def _finish(self, run: Run) -> None:
        telling = self._runs.pop(run.overlay, None)
        if telling is None or telling.pool is None:
            return
        left = wait(telling.writing, timeout=PATIENCE).not_done
        telling.pool.shutdown(wait=False, cancel_futures=True)
        if errors := telling.errors:
            forbidden = [error for error in errors if isinstance(error, Forbidden)]
            what = "Events are not written" if forbidden else f"{counted(len(errors), 'Event')} not written"
            self._tell(f"{what}: {(forbidden or errors)[0]}")
        if left:
            self._tell(f"{counted(len(left), 'Event')} not written: the garden took longer than {PATIENCE:.0f} s")


def _is_news(telling: _Telling, standing: Standing) -> bool:
    if standing.outcome not in _REASONS or telling.said.get(standing.target) is standing.outcome:
        return False
    before = telling.before.get(standing.target)
    if before is None and standing.outcome is ShootOutcome.CONVERGED:
        return standing.writes > 0  # a fleet that was as declared when the first run came
    return standing.writes > 0 or before != standing.outcome.value


def _write(garden: Cluster, event: Manifest, errors: list[GitopsError]) -> None:
    """Write one, unless it is known that none may be written."""
    if any(isinstance(error, Forbidden) for error in errors):
        return
    try:
        write_event(garden, event)
    except GitopsError as error:
        errors.append(error)


def event_of(run: Run, shoot: Manifest, standing: Standing, now: datetime) -> Manifest:
    """The Event about one shoot, said for the first time.

    Args:
        run: whose.
        shoot: the live Shoot.
        standing: where it stands; of an outcome that is told of.
        now: the time.
    """
    kind, reason = _REASONS[standing.outcome]
    metadata = shoot["metadata"]
    message = f"overlay {run.overlay} at {short_revision(run.revision)}"
    if standing.writes:
        message += f", {counted(standing.writes, 'object')} written"
    if standing.message:
        message += f": {standing.message}"
    said = "\0".join((get(metadata, "uid") or "", reason, message))
    api_version, name = SHOOT
    regarding = {"apiVersion": api_version, "kind": name, "namespace": metadata["namespace"], "name": metadata["name"]}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{hashlib.sha256(said.encode()).hexdigest()[:16]}",
            "namespace": metadata["namespace"],
        },
        "involvedObject": {**regarding, **({"uid": metadata["uid"]} if metadata.get("uid") else {})},
        "type": kind,
        "reason": reason,
        "message": message if len(message) <= MESSAGE else f"{message[: MESSAGE - 1]}…",
        "source": {"component": FIELD_MANAGER},
        "reportingComponent": FIELD_MANAGER,
        "reportingInstance": run.overlay,
        "count": 1,
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
    }


def write_event(garden: Cluster, event: Manifest) -> None:
    """Write an Event, or count it where the same was said before.

    Raises:
        ApiError: it could not be written.
    """
    try:
        garden.create(event)
    except Conflict:
        ref = ref_of(GARDEN, event)
        found = garden.get(ref)
        garden.patch(
            ref,
            [
                {"op": "replace", "path": "/metadata/resourceVersion", "value": found["metadata"]["resourceVersion"]},
                {"op": "add", "path": "/count", "value": int(found.get("count") or 1) + 1},
                {"op": "add", "path": "/lastTimestamp", "value": event["lastTimestamp"]},
            ],
        )
