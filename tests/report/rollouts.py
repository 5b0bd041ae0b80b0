"""Rollouts to be told: real ones, over Shoots that live in memory and go through the states of a script."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import jsonpatch

from gitops.desired.compose import Desired, DesiredShoot, Origin
from gitops.desired.overlay import Concurrency, Garden, Overlay, Unit, Wave
from gitops.errors import GitopsError
from gitops.gardener.shoot_merge import new_shoot
from gitops.manifest import GARDEN, Manifest, Target, ref_of
from gitops.plan.observed import Observed, Unobserved
from gitops.plan.planning import Prune
from gitops.plan.shoot import terms_of
from gitops.rollout.actions import Action, Event, NotWritten, ObserveShoots, ShootsObserved, WriteTo, Written
from gitops.rollout.executor import carry_out
from gitops.rollout.rollout import Rollout
from gitops.rollout.step import PatchShoot
from gitops.rollout.wave import Rules
from tests.report.plans import REVISION

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
_CONDITIONS = (
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "SystemComponentsHealthy",
)


def operation(state: str, progress: int = 100, description: str = "") -> Manifest:
    """A Shoot's status, with every condition True."""
    time = "2026-11-30T11:00:00Z"
    return {
        "observedGeneration": 1,
        "lastOperation": {
            "type": "Reconcile",
            "state": state,
            "progress": progress,
            "description": description,
            "lastUpdateTime": time,
        },
        "conditions": [{"type": kind, "status": "True", "lastUpdateTime": time} for kind in _CONDITIONS],
    }


SUCCEEDED = operation("Succeeded")


def overlay_of(waves: Sequence[str], *, soak: timedelta = timedelta(0), at_once: int = 1, name: str = "dev") -> Overlay:
    """An overlay with waves that allow no failure."""
    garden = Garden("landscape-dev", ("garden-local",))
    steps = (Wave(wave, None, Concurrency(at_once, Unit.SHOOTS), 0, soak, 0) for wave in waves)
    return Overlay(name, f"overlays/{name}/overlay.yaml", garden, (), tuple(steps))


def desired_of(overlay: Overlay, sizes: Mapping[str, int]) -> Desired:
    """So many shoots in each wave, each with a purpose."""
    shoots = {}
    for wave, size in sizes.items():
        for number in range(size):
            name = f"{wave}-{number:02}" if size > 1 else wave
            shoot = {
                "apiVersion": "core.gardener.cloud/v1beta1",
                "kind": "Shoot",
                "metadata": {"name": name, "namespace": "garden-local"},
                "spec": {"purpose": "testing"},
            }
            origins = {ref_of(GARDEN, shoot): Origin(f"clusters/{name}.yaml", 1)}
            shoots[f"garden-local/{name}"] = DesiredShoot(f"garden-local/{name}", shoot, {}, wave, (), origins)
    return Desired(overlay, REVISION, dict(sorted(shoots.items())), ())


def live_shoot(desired: DesiredShoot, status: Manifest, purpose: str = "testing", overlay: str = "dev") -> Manifest:
    """A Shoot that this overlay wrote once; another purpose than `testing` is drift."""
    shoot = copy.deepcopy(new_shoot(desired.shoot, terms_of(desired, overlay)))
    shoot["metadata"] |= {"generation": 1, "resourceVersion": "1", "uid": "0"}
    shoot["spec"]["purpose"] = purpose
    return {**shoot, "status": status}


class Landscape:
    """A garden in memory, as a crew that answers at once and lets time pass only when there is nothing to answer.

    Every shoot is as declared, but the drifted ones, which go through the given statuses once they are written.

    Attributes:
        shoots: every live Shoot.
        refusals: shoots that may not be written, and what the garden says to it.
    """

    def __init__(self, desired: Desired, drifted: Mapping[Target, Sequence[Manifest]]) -> None:
        self.shoots: dict[Target, Manifest] = {
            target: live_shoot(shoot, SUCCEEDED, "evaluation" if target in drifted else "testing", desired.overlay.name)
            for target, shoot in desired.shoots.items()
        }
        self.refusals: dict[Target, GitopsError] = {}
        self._desired = desired
        self._ahead = {target: list(statuses) for target, statuses in drifted.items()}
        self._written: set[Target] = set()
        self._events: list[Event] = []
        self._now = NOON

    def rollout(self) -> Rollout:
        """A rollout over what is there now."""
        rules = Rules(self._desired.overlay, Prune.ALLOWED, timedelta(seconds=5))
        return Rollout(self._desired, self.observed(), rules, self._now)

    def observed(self) -> dict[Target, Observed]:
        """What there is to see of every shoot."""
        unlooked = Unobserved("nothing is declared inside it")
        return {target: Observed(shoot, self._now, unlooked) for target, shoot in self.shoots.items()}

    def run(self, rollout: Rollout, on_change: Callable[[Rollout], None]) -> None:
        """Carry it out to its end."""
        carry_out(rollout, self, self, on_change=on_change)

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def patience(self, until: datetime) -> None:
        """Time here stands still while somebody works, whenever that is."""

    def start(self, action: Action) -> None:
        match action:
            case ObserveShoots(targets):
                for target in targets:
                    self._go_on(target)
                self._events.append(ShootsObserved({target: self.shoots[target] for target in targets}, self._now))
            case WriteTo(target, PatchShoot(operations)):
                if target in self.refusals:
                    self._events.append(NotWritten(target, 0, self.refusals[target]))
                    return
                self.shoots[target] = jsonpatch.apply_patch(self.shoots[target], list(operations))
                self._written.add(target)
                self._go_on(target)
                self._events.append(Written(target, 1, self.shoots[target]))
            case other:
                raise AssertionError(other)

    def next_event(self, until: datetime | None) -> Event | None:
        if self._events:
            return self._events.pop(0)
        self._now = max(self._now, until or self._now)
        return None

    @property
    def busy(self) -> bool:
        return bool(self._events)

    def _go_on(self, target: Target) -> None:
        statuses = self._ahead.get(target)
        if statuses and target in self._written:
            self.shoots[target] = {**self.shoots[target], "status": statuses.pop(0)}
