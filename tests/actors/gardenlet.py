"""Plays gardenlet for the Shoots of one namespace: operations, care, and what is inside the shoots."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.actors import conditions, operation, shoot_contents
from tests.actors.driving import settled, stepping
from tests.actors.outcome import Failed, Script, Succeeded, succeed, target_of
from tests.actors.shoot_contents import Definitions
from tests.control_plane.client import Client, HttpError

Shoot: TypeAlias = dict[str, Any]
ShootClient: TypeAlias = Callable[[str], Client]
Clock: TypeAlias = Callable[[], dt.datetime]
_STATUS_LABEL = "shoot.gardener.cloud/status"
_ATTEMPTS = 20


@dataclass
class _Operation:
    """An operation that goes on."""

    shoot: Shoot
    """As it was when the operation started: later changes are for the next one."""
    steps: int = 0
    """How many it has shown Processing."""


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class Gardenlet:
    """One gardenlet.

    Attributes:
        outcome: how operations end; may be replaced between steps.
    """

    def __init__(
        self,
        garden: Client,
        namespace: str,
        *,
        outcome: Script = succeed,
        shoot_client: ShootClient | None = None,
        crds: Definitions | None = None,
        processing_steps: int = 1,
        now: Clock = utc_now,
    ) -> None:
        """Prepare to act at the first step.

        Args:
            garden: as an admin.
            namespace: whose Shoots.
            outcome: how operations end.
            shoot_client: an admin of the shoot `<namespace>/<name>`; asked for when an operation succeeds on a Shoot
                that is awake, so it may set the shoot's API server up. None: nothing happens inside shoots.
            crds: custom resource definitions by extension type.
            processing_steps: how many steps an operation shows Processing.
            now: the time for status fields.
        """
        self.outcome = outcome
        self._garden = garden
        self._shoots = f"/apis/core.gardener.cloud/v1beta1/namespaces/{namespace}/shoots"
        self._shoot_client = shoot_client
        self._crds = crds or {}
        self._processing_steps = processing_steps
        self._clock = now
        self._operations: dict[str, _Operation] = {}
        self._windows: set[str] = set()

    def open_window(self, target: str) -> None:
        """Let the maintenance window of a Shoot come: it is reconciled once, even if its generation did not move."""
        self._windows.add(target)

    def step(self) -> list[str]:
        """Make at most one transition per Shoot; returns them, such as `garden-x/one: Reconcile Processing`."""
        transitions = []
        for shoot in self._garden.get(self._shoots)["items"]:
            done = self._step(shoot)
            if done:
                transitions.append(f"{target_of(shoot)}: {done}")
        return transitions

    def settle(self, limit: int = 50) -> list[str]:
        """Step until nothing is left to do; returns all transitions.

        Raises:
            RuntimeError: there is still something to do after `limit` steps, as when an outcome is Error for ever.
        """
        return settled(self.step, limit)

    def run_in_background(self, interval: float = 0.1) -> AbstractContextManager[None]:
        """Step every `interval` seconds in a thread while the block runs."""
        return stepping(self.step, interval)

    def _step(self, shoot: Shoot) -> str:
        """Make a transition; where somebody wrote the Shoot meanwhile, decide again."""
        current: Shoot | None = shoot
        for _ in range(_ATTEMPTS):
            if current is None:
                return ""
            try:
                return self._transition(current)
            except HttpError as error:
                if error.status != 409:
                    raise
            current = self._garden.find(self._path(shoot))
        raise RuntimeError(f"{target_of(shoot)} was changed by others {_ATTEMPTS} times in a row")

    def _transition(self, shoot: Shoot) -> str:
        if "deletionTimestamp" in shoot["metadata"]:
            return ""
        if operation.is_processing(shoot):
            return self._continue(shoot)
        if operation.is_due(shoot) or target_of(shoot) in self._windows:
            return self._start(shoot)
        return self._care(shoot)

    def _start(self, shoot: Shoot) -> str:
        done = self._write(shoot, operation.started(shoot, self._now()))
        self._operations[target_of(shoot)] = _Operation(shoot)
        self._windows.discard(target_of(shoot))
        return done

    def _continue(self, shoot: Shoot) -> str:
        # An operation that we do not know was started by a gardenlet before us.
        current = self._operations.setdefault(target_of(shoot), _Operation(shoot))
        if current.steps + 1 < self._processing_steps:
            progress = 100 * (current.steps + 1) // self._processing_steps
            done = self._write(shoot, operation.continued(shoot, progress, self._now()))
            current.steps += 1
        else:
            done = self._finish(shoot, current.shoot)
            del self._operations[target_of(shoot)]
        return done

    def _finish(self, shoot: Shoot, as_started: Shoot) -> str:
        outcome = self.outcome(as_started)
        if isinstance(outcome, Failed):
            return self._write(shoot, operation.failed(shoot, outcome, self._now()))
        if self._shoot_client and not operation.is_hibernated(as_started):
            shoot_contents.reconcile(as_started, self._shoot_client(target_of(shoot)), self._crds)
        return self._write(shoot, operation.succeeded(shoot, as_started, self._now()))

    def _care(self, shoot: Shoot) -> str:
        outcome = self.outcome(shoot)
        unhealthy = outcome.unhealthy if isinstance(outcome, Succeeded) else {}
        found = conditions.cared_for(shoot, unhealthy, self._now())
        if found != shoot["status"].get("conditions"):
            self._write(shoot, {"conditions": found})
            return "conditions " + "/".join(sorted({condition["status"] for condition in found}))
        label = conditions.status_label(shoot)
        if shoot["metadata"].get("labels", {}).get(_STATUS_LABEL) != label:
            self._garden.merge_patch(self._path(shoot), {"metadata": {"labels": {_STATUS_LABEL: label}}})
            return f"label {label}"
        return ""

    def _write(self, shoot: Shoot, status: dict[str, Any]) -> str:
        metadata = {"resourceVersion": shoot["metadata"]["resourceVersion"]}
        written = self._garden.merge_patch(f"{self._path(shoot)}/status", {"metadata": metadata, "status": status})
        return operation.summary(written["status"])

    def _path(self, shoot: Shoot) -> str:
        return f"{self._shoots}/{shoot['metadata']['name']}"

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
