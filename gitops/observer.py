"""Whoever is told how a run goes: a terminal, a log, metrics, a forge, the dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gitops.desired.compose import Desired
from gitops.errors import GitopsError
from gitops.kube.cluster import Cluster
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.record.store import Stored
from gitops.rollout.rollout import Rollout


@dataclass(frozen=True)
class Run:
    """One run, from its first request to its record."""

    id: str
    """Unlike every other's."""
    overlay: str
    revision: str
    """The commit, 40 hex digits."""
    trigger: str
    """What started it: `command`, `push` or `schedule`."""
    started: datetime


class Observer:
    """Hears of a run and does nothing; who wants to know overrides what concerns it.

    Every run begins once and then ends, fails, or is broken off with its process. All methods are called from the
    thread that the run is in, which they must not hold up: what takes long, or can fail, belongs elsewhere.
    """

    def began(self, run: Run, desired: Desired) -> None:
        """A run looks at the world."""

    def remembered(self, run: Run, before: Stored | None) -> None:
        """It knows how earlier runs ended; None when there was none. Told again where it had to look again."""

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """It knows what it would do; nothing has been written yet. Told again where it had to look again."""

    def waiting(self, run: Run, holder: str) -> None:
        """It would write, and another run holds the overlay's lease; told for each that does."""

    def held(self, run: Run, garden: Cluster) -> None:
        """It holds the lease, and so whoever is told may write as well: through this garden, until `recorded`."""

    def moved(self, run: Run, rollout: Rollout) -> None:
        """The rollout is in another state, or time has passed in it."""

    def recorded(self, run: Run, record: Record) -> None:
        """It told news, and they are kept in the garden; the last moment to write there."""

    def ended(self, run: Run, record: Record) -> None:
        """It came to its end, and this is what it did."""

    def failed(self, run: Run, error: GitopsError) -> None:
        """It could not go on: what it met before or after its rollout is no outcome of any shoot."""


class Observers(Observer):
    """Several, told in their order."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def began(self, run: Run, desired: Desired) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.began(run, desired)

    def remembered(self, run: Run, before: Stored | None) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.remembered(run, before)

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.planned(run, planned, outlook)

    def waiting(self, run: Run, holder: str) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.waiting(run, holder)

    def held(self, run: Run, garden: Cluster) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.held(run, garden)

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.moved(run, rollout)

    def recorded(self, run: Run, record: Record) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.recorded(run, record)

    def ended(self, run: Run, record: Record) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.ended(run, record)

    def failed(self, run: Run, error: GitopsError) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.failed(run, error)
