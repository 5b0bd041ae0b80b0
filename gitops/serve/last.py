"""The last plan and record of each overlay, for `/api/v1/overlays/<name>`."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.gardener.shoot_record import timestamp
from gitops.observer import Observer, Run
from gitops.plan.document import API_VERSION, plan_document
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record, record_document
from gitops.record.store import Stored
from gitops.rollout.rollout import Rollout


@dataclass(frozen=True)
class Last:
    """What is known of one overlay."""

    plan: dict[str, Any] | None = None
    record: dict[str, Any] | None = None
    running: dict[str, Any] | None = None
    """The run that goes on: id, revision, trigger, started, and whether it has written anything yet."""
    error: str | None = None
    """Why the last run could not go on; None when it could."""


class LastRuns(Observer):
    """Replaces values as a whole, so that readers in other threads see one or the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._overlays: dict[str, Last] = {}

    def keep_only(self, overlays: Iterable[str]) -> None:
        """Forget the others; those without a run are known from now on."""
        with self._lock:
            self._overlays = {name: self._overlays.get(name, Last()) for name in overlays}

    def document(self, overlay: str) -> dict[str, Any] | None:
        """What scripts read; None for an overlay that is not known."""
        with self._lock:
            last = self._overlays.get(overlay)
        if last is None:
            return None
        return {
            "apiVersion": API_VERSION,
            "kind": "OverlayState",
            "overlay": overlay,
            "running": last.running,
            "error": last.error,
            "record": last.record,
            "plan": last.plan,
        }

    def names(self) -> tuple[str, ...]:
        """The overlays that are known."""
        with self._lock:
            return tuple(sorted(self._overlays))

    def began(self, run: Run, desired: Desired) -> None:
        """Note that it runs."""
        del desired
        running = {
            "id": run.id,
            "revision": run.revision,
            "trigger": run.trigger,
            "started": timestamp(run.started),
            "wrote": False,
        }
        self._change(run.overlay, running=running)

    def remembered(self, run: Run, before: Stored | None) -> None:
        """Know the last record, of which this process may have heard nothing."""
        if before is not None:
            self._change(run.overlay, record=before.last)

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """Note the plan."""
        del outlook
        self._change(run.overlay, plan=plan_document(planned.plan))

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Note the first write; once it is noted, a turn costs nothing any more."""
        running = self._overlays.get(run.overlay, Last()).running  # git may have dropped the overlay meanwhile
        if running is not None and not running["wrote"] and _wrote(rollout):
            self._change(run.overlay, running={**running, "wrote": True})

    def ended(self, run: Run, record: Record) -> None:
        """Note the record."""
        self._change(run.overlay, running=None, error=None, record=record_document(record))

    def failed(self, run: Run, error: GitopsError) -> None:
        """Note the error."""
        self._change(run.overlay, running=None, error=str(error))

    def failed_with(self, overlay: str, error: GitopsError) -> None:
        """Note why no run begins; one of an earlier commit may go on."""
        self._change(overlay, error=str(error))

    def _change(self, overlay: str, **changes: Any) -> None:
        with self._lock:
            self._overlays[overlay] = replace(self._overlays.get(overlay, Last()), **changes)


def _wrote(rollout: Rollout) -> bool:
    before = rollout.registrations.writes if rollout.registrations else 0
    return before > 0 or any(track.writes for track in rollout.tracks.values())
