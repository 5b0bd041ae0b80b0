"""What Prometheus is told. No series is about a single shoot: there may be thousands, and they come and go.

Scrapers cannot sign in as people do, so `/metrics` is not behind the dashboard's access: it names overlays and waves
and counts the rest. Where even that is too much, let a NetworkPolicy
admit the scraper only.
"""

from __future__ import annotations

import platform
import threading
import time
from collections import Counter as Counts
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request as WebRequest
from starlette.responses import Response as WebResponse
from starlette.routing import Route

from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.kube.transport import Request, Response, Transport
from gitops.manifest import GARDEN, RUNTIME, Target
from gitops.observer import Observer, Run
from gitops.plan.changes import Action
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.record.store import Stored
from gitops.rollout.rollout import Rollout, RunOutcome
from gitops.serve.board.stored import moment
from gitops.serve.progress import Progress, WaveState, wave_state
from gitops.trigger.queue import Trigger

_RUN_BUCKETS = (1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_WRITE_BUCKETS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900)
_REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_TRIGGERS = frozenset({"command", "push", "schedule"})
_FORGES = frozenset({"github", "gitlab", "gitea", "bitbucket", "generic"})
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_OUTCOME = 40
"""Characters of an outcome of a delivery."""
_LOOK = 0.25
"""Seconds between two looks for a run's first write."""
_PENDING = tuple(action.value for action in Action if action is not Action.UNCHANGED)
ERROR: Final = "Error"
"""The outcome of a run that could not go on."""


@dataclass
class _Overlay:
    """What is known of one overlay; its attributes are replaced and never changed."""

    run: str = ""
    """The one that is under way; empty where none is."""
    begun: float = 0.0
    """By the monotonic clock."""
    looked: float = 0.0
    wrote: bool = False
    """Whether the run's first write has been seen."""
    ended: bool = False
    """Whether it is known when a run ended last."""
    progress: Progress = field(default_factory=Progress)
    waves: tuple[WaveState, ...] = ()
    """As the last run left them."""


class Metrics(Observer):
    """Counts what runs do, and what the process says of itself. Any number of threads may tell it.

    Attributes:
        registry: what a scrape reads.
    """

    def __init__(self, clock: Clock | None = None, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Make one with nothing counted.

        Args:
            clock: by which timestamps are told; None is the machine's.
            monotonic: seconds by which durations are told.
        """
        self.registry = CollectorRegistry()
        self._clock: Clock = clock or SystemClock()
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._overlays: dict[str, _Overlay] = {}
        self._series = _Series(self.registry)
        self.registry.register(_Live(self._told))
        ProcessCollector(registry=self.registry)

    def remembered(self, run: Run, before: Stored | None) -> None:
        """Go on from the garden's record, so that no alert on old age falls silent when the process begins anew."""
        with self._lock:
            known = self._overlays.setdefault(run.overlay, _Overlay())
            if before is None or known.ended:
                return
            known.ended = True
        runs = (before.last, *before.history)
        ends = ((str(told.get("outcome", "")), moment(told.get("finished"))) for told in runs)
        times = [(outcome, time.timestamp()) for outcome, time in ends if time is not None]
        if times:
            self._series.last_run.labels(run.overlay).set(max(time for _, time in times))
        if good := [time for outcome, time in times if outcome == RunOutcome.CONVERGED.value]:
            self._series.last_success.labels(run.overlay).set(max(good))

    def began(self, run: Run, desired: Desired) -> None:
        """A run is under way."""
        del desired
        with self._lock:
            known = self._overlays.setdefault(run.overlay, _Overlay())
            known.run, known.begun, known.wrote = run.id, self._monotonic(), False
            known.progress = Progress()

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """What drifted."""
        del outlook
        counts = planned.plan.summary()
        self._series.in_sync.labels(run.overlay).set(0 if planned.plan.pending else 1)
        for action in _PENDING:
            self._series.pending.labels(run.overlay, action).set(counts[action])

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Note where it is, and look for the first write now and then."""
        known = self._overlays.get(run.overlay)
        if known is None or known.run != run.id:
            return
        known.progress.moved(rollout)
        now = self._monotonic()
        if not known.wrote and now - known.looked >= _LOOK:
            known.looked = now
            before = rollout.registrations.writes if rollout.registrations else 0
            if before or any(track.writes for track in rollout.tracks.values()):
                self._wrote(run, known)

    def ended(self, run: Run, record: Record) -> None:
        """Count it."""
        outcome = record.result.outcome
        with self._lock:
            known = self._overlays.setdefault(run.overlay, _Overlay())
            known.run, known.ended = "", True
            if record.looked:
                known.waves = tuple(map(wave_state, record.result.waves))
        if record.result.writes and not known.wrote:
            self._wrote(run, known)
        self._series.writes.labels(run.overlay).inc(record.result.writes)
        self._count(run.overlay, run.trigger, outcome.value, record.finished.timestamp())
        self._took(run, record.finished)
        if outcome is RunOutcome.CONVERGED:
            self._series.last_success.labels(run.overlay).set(record.finished.timestamp())
            self._series.in_sync.labels(run.overlay).set(1)
            for action in _PENDING:
                self._series.pending.labels(run.overlay, action).set(0)
        elif record.result.writes or outcome is not RunOutcome.WAITING:
            self._series.in_sync.labels(run.overlay).set(0)

    def failed(self, run: Run, error: GitopsError) -> None:
        """Count it; shoots are where they were, as far as anybody knows."""
        del error
        with self._lock:
            known = self._overlays.setdefault(run.overlay, _Overlay())
            if known.run == run.id and known.progress.moment is not None:
                known.waves = known.progress.moment.waves()
            known.run = ""
        now = self._clock.now()
        self._count(run.overlay, run.trigger, ERROR, now.timestamp())
        self._took(run, now)

    def not_begun(self, overlay: str, trigger: str) -> None:
        """Something kept a run from beginning, such as a commit that cannot be composed; it took no time."""
        with self._lock:
            self._overlays.setdefault(overlay, _Overlay())
        self._count(overlay, trigger, ERROR, self._clock.now().timestamp())

    def webhook(self, forge: str, outcome: str) -> None:
        """A delivery came.

        Args:
            forge: such as `github`; what is not known is counted as `other`.
            outcome: one of a few words, such as `accepted` and `refused`; never a text from outside.
        """
        self._series.webhooks.labels(forge if forge in _FORGES else "other", outcome[:_OUTCOME]).inc()

    def queued(self, overlay: str, depth: int) -> None:
        """So many runs wait."""
        with self._lock:
            self._overlays.setdefault(overlay, _Overlay())  # one that never runs is dropped by `keep` too
        self._series.queue.labels(overlay).set(depth)

    def counting(self, transport: Transport, target: Target) -> Transport:
        """A transport whose requests are counted here.

        Args:
            transport: carries them.
            target: which server; all shoots are counted as `shoot`.
        """
        server = target if target in {GARDEN, RUNTIME} else "shoot"
        return _Counting(transport, server, self._series.requests, self._series.request_duration, self._monotonic)

    def keep(self, overlays: Collection[str]) -> None:
        """Begin the series of these overlays, and drop those of every other: git declares it no longer."""
        with self._lock:
            gone, new = self._overlays.keys() - set(overlays), set(overlays) - self._overlays.keys()
            for name in gone:
                del self._overlays[name]
            self._overlays |= {name: _Overlay() for name in new}
        for name in gone:
            self._series.end(name)
        for name in overlays:
            self._series.begin(name)

    def _wrote(self, run: Run, known: _Overlay) -> None:
        known.wrote = True
        self._series.first_write.labels(run.overlay).observe(self._monotonic() - known.begun)

    def _count(self, overlay: str, trigger: str, outcome: str, finished: float) -> None:
        self._series.runs.labels(overlay, trigger if trigger in _TRIGGERS else "other", outcome).inc()
        self._series.last_run.labels(overlay).set(finished)

    def _took(self, run: Run, finished: datetime) -> None:
        self._series.duration.labels(run.overlay).observe(max((finished - run.started).total_seconds(), 0))

    def _told(self) -> Mapping[str, tuple[bool, tuple[WaveState, ...]]]:
        """By overlay, whether a run is under way, and where its waves are."""
        with self._lock:
            found = {}
            for name, known in self._overlays.items():
                at = known.progress.moment if known.run else None
                found[name] = (bool(known.run), known.waves if at is None else at.waves())
            return found


class _Series:
    """What is counted as it happens."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(name, text, labels, registry=registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(name, text, labels, buckets=buckets, registry=registry)

        text = "Runs that came to their end, or could not go on (outcome Error)."
        self.runs = counter("gitops_runs", text, "overlay", "trigger", "outcome")
        text = "From the beginning of a run to its end."
        self.duration = histogram("gitops_run_duration_seconds", text, _RUN_BUCKETS, "overlay")
        text = "From the beginning of a run to its first write, of runs that write."
        self.first_write = histogram("gitops_time_to_first_write_seconds", text, _WRITE_BUCKETS, "overlay")
        self.writes = counter("gitops_writes", "Objects written by runs.", "overlay")
        text = "When the last run came to its end, whatever its outcome."
        self.last_run = gauge("gitops_last_run_timestamp_seconds", text, "overlay")
        text = "When the last run that converged came to its end."
        self.last_success = gauge("gitops_last_success_timestamp_seconds", text, "overlay")
        text = "1 where the last look found nothing to write, or the last run converged; else 0."
        self.in_sync = gauge("gitops_in_sync", text, "overlay")
        text = "Objects that differ from git, by what is to happen to them; a run that converges leaves 0."
        self.pending = gauge("gitops_pending_changes", text, "overlay", "action")
        self.queue = gauge("gitops_queue_depth", "Runs that were asked for and have not begun.", "overlay")
        text = "Deliveries of webhooks, by what became of them."
        self.webhooks = counter("gitops_webhook_deliveries", text, "forge", "outcome")
        text = "Requests to API servers; code is `none` where no answer came."
        self.requests = counter("gitops_api_requests", text, "server", "method", "code")
        text = "From a request to an API server to its answer."
        name = "gitops_api_request_duration_seconds"
        self.request_duration = histogram(name, text, _REQUEST_BUCKETS, "server", "method")
        build = gauge("gitops_build_info", "Always 1.", "version", "python")
        build.labels(version("shoot-gitops"), platform.python_version()).set(1)

    def begin(self, overlay: str) -> None:
        """Say zero before anything happened: a series that begins with 1 has not grown, as Prometheus sees it."""
        for trigger in (Trigger.PUSH, Trigger.SCHEDULE):
            for outcome in (*(outcome.value for outcome in RunOutcome), ERROR):
                self.runs.labels(overlay, trigger.word, outcome)
        self.writes.labels(overlay)
        self.queue.labels(overlay)

    def end(self, overlay: str) -> None:
        """Drop all that is about an overlay."""
        counted = (self.runs, self.duration, self.first_write, self.writes, self.last_run, self.last_success)
        for metric in (*counted, self.in_sync, self.pending, self.queue):
            metric.remove_by_labels({"overlay": overlay})


class _Live(Collector):
    """What is looked up when it is asked for, so that a rollout need not count."""

    def __init__(self, told: Callable[[], Mapping[str, tuple[bool, tuple[WaveState, ...]]]]) -> None:
        self._told = told

    def collect(self) -> Iterable[GaugeMetricFamily]:
        shoots = GaugeMetricFamily(
            "gitops_shoots",
            "Shoots by wave and outcome; UnderWay is of a run that goes on.",
            labels=("overlay", "wave", "outcome"),
        )
        running = GaugeMetricFamily("gitops_run_under_way", "1 while a run is under way.", labels=("overlay",))
        for overlay, (under_way, waves) in self._told().items():
            running.add_metric((overlay,), float(under_way))
            counts: Counts[tuple[str, str]] = Counts()
            for wave in waves:
                counts.update({(wave.name, state): number for state, number in wave.counts.items()})
            for (wave_name, state), number in counts.items():
                shoots.add_metric((overlay, wave_name, state), number)
        yield shoots
        yield running


@dataclass(frozen=True)
class _Counting:
    """Counts each request when its answer has come."""

    transport: Transport
    server: str
    requests: Counter
    duration: Histogram
    monotonic: Callable[[], float]

    def __call__(self, request: Request) -> Response:
        method = request.method if request.method in _METHODS else "other"
        begun, code = self.monotonic(), "none"
        try:
            response = self.transport(request)
            code = str(response.status)
            return response
        finally:
            self.requests.labels(self.server, method, code).inc()
            self.duration.labels(self.server, method).observe(self.monotonic() - begun)


def metrics_route(metrics: Metrics) -> Route:
    """`/metrics`, in the format that the scraper asks for."""

    def scrape(request: WebRequest) -> WebResponse:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return WebResponse(encode(metrics.registry), media_type=content_type, headers={"Cache-Control": "no-store"})

    return Route("/metrics", scrape, methods=["GET"])
