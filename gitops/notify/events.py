"""Kubernetes Events on the Shoot, for those who look at it with kubectl or in Gardener's dashboard.

They are of the core group, as Gardener's own are: `kubectl describe` shows both kinds alike, one rule of RBAC is
enough, and a repeated one is counted in place. An Event's name is made of what it says, so that a repetition meets the
one that is there, whichever process wrote it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
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


class ShootEvents(Observer):
    """Writes an Event where a run wrote to a shoot, or left it in another state than the last run did.

    It belongs into the world of one run: what it writes goes through the same garden as everything else, and has gone
    when the run's end has been told, before anybody lets go of the overlay. An Event that cannot be written is told,
    once for all, and harms nothing.
    """

    def __init__(self, garden: Cluster, clock: Clock, tell: Tell) -> None:
        """Make the observer of one run at a time.

        Args:
            garden: where the Shoots are.
            clock: the run's own.
            tell: told what could not be written.
        """
        self._garden = garden
        self._clock = clock
        self._tell = tell
        self._before: dict[Target, str] = {}
        self._shoots: dict[Target, Manifest] = {}
        self._said: dict[Target, ShootOutcome] = {}
        self._looked = clock.now()
        self._soaking = False
        self._pool: ThreadPoolExecutor | None = None
        self._writing: set[Future[None]] = set()
        self._errors: list[GitopsError] = []
        self._lock = threading.Lock()

    def began(self, run: Run, desired: Desired) -> None:
        """A run of its own begins."""
        del desired
        self._before, self._shoots, self._said = {}, {}, {}
        self._looked, self._soaking = run.started, False
        self._errors = []

    def remembered(self, run: Run, before: Stored | None) -> None:
        """How the last run left every shoot."""
        del run
        waves = before.last.get("waves", []) if before else []
        self._before = {shoot["shoot"]: shoot["outcome"] for wave in waves for shoot in wave["shoots"]}

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """Which objects the Events will be about."""
        del run, planned
        self._shoots = {target: seen.shoot for target, seen in outlook.shoots.items() if seen.shoot is not None}

    def moved(self, run: Run, rollout: Rollout) -> None:
        """From time to time, and before a wave is left alone for long, tell of shoots that are done with."""
        soaking = rollout.soaking_until is not None
        begins_to_soak = soaking and not self._soaking
        self._soaking = soaking
        if self._clock.now() - self._looked < LOOK and not begins_to_soak:
            return
        self._looked = self._clock.now()
        settled = [track for track in rollout.tracks.values() if track.phase is Phase.SETTLED]
        for track in settled:
            if track.observed.shoot is not None:
                self._shoots[track.target] = track.observed.shoot
        self._tell_of(run, (Standing(t.target, t.outcome, t.writes, t.message) for t in settled))

    def ended(self, run: Run, record: Record) -> None:
        """Tell of all that were not told of yet, and wait until they are written."""
        results = (shoot for wave in record.result.waves for shoot in wave.shoots)
        self._tell_of(run, (Standing(s.shoot, s.outcome, s.writes, s.message) for s in results))
        self._finish()

    def failed(self, run: Run, error: GitopsError) -> None:
        """What is on its way is still written."""
        del run, error
        self._finish()

    def _tell_of(self, run: Run, standings: Iterable[Standing]) -> None:
        for standing in standings:
            shoot = self._shoots.get(standing.target)
            if shoot is not None and self._is_news(standing):
                self._said[standing.target] = standing.outcome
                self._start(event_of(run, shoot, standing, self._clock.now()))

    def _is_news(self, standing: Standing) -> bool:
        if standing.outcome not in _REASONS or self._said.get(standing.target) is standing.outcome:
            return False
        before = self._before.get(standing.target)
        if before is None and standing.outcome is ShootOutcome.CONVERGED:
            return standing.writes > 0  # a fleet that was as declared when the first run came
        return standing.writes > 0 or before != standing.outcome.value

    def _start(self, event: Manifest) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="events")
        self._writing.add(self._pool.submit(self._write, event))

    def _write(self, event: Manifest) -> None:
        if any(isinstance(error, Forbidden) for error in self._errors):
            return
        try:
            write_event(self._garden, event)
        except GitopsError as error:
            with self._lock:
                self._errors.append(error)

    def _finish(self) -> None:
        if self._pool is None:
            return
        left = wait(self._writing, timeout=PATIENCE).not_done
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool, self._writing = None, set()
        if self._errors:
            forbidden = [error for error in self._errors if isinstance(error, Forbidden)]
            what = "Events are not written" if forbidden else f"{counted(len(self._errors), 'Event')} not written"
            self._tell(f"{what}: {(forbidden or self._errors)[0]}")
        if left:
            self._tell(f"{counted(len(left), 'Event')} not written: the garden took longer than {PATIENCE:.0f} s")


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
