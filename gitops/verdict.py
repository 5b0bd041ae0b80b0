"""What a gate says about one object.

The words are kstatus's (Current, InProgress, Failed, Terminating, NotFound, Unknown), with one more that its
world does not know: Deferred, for what must wait for somebody to wake the shoot up or for its window to open.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How far an object has come. Only `CURRENT` opens a gate."""

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    FAILED = "Failed"
    """Waiting longer does not help: somebody must act."""
    DEFERRED = "Deferred"
    """Nothing is wrong and nothing will move until a window opens or the shoot wakes up."""
    TERMINATING = "Terminating"
    NOT_FOUND = "NotFound"
    UNKNOWN = "Unknown"


@dataclass(frozen=True)
class Verdict:
    """A gate's answer: the status, and a sentence that says why."""

    status: Status
    message: str
    hint: str = ""
    """What may be behind it when waiting takes too long; empty where nothing more is known."""

    @property
    def open(self) -> bool:
        """Whether the gate lets the rollout pass."""
        return self.status is Status.CURRENT


def current(message: str) -> Verdict:
    """The object is what was asked for, at the generation that was asked for."""
    return Verdict(Status.CURRENT, message)


def in_progress(message: str, hint: str = "") -> Verdict:
    """Somebody is still working on it."""
    return Verdict(Status.IN_PROGRESS, message, hint)


def failed(message: str) -> Verdict:
    """It will not become current by waiting."""
    return Verdict(Status.FAILED, message)


def deferred(message: str) -> Verdict:
    """It waits for a window or for waking up; the rollout goes on without it."""
    return Verdict(Status.DEFERRED, message)
