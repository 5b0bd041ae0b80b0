"""What a process brings along to take leases: its name, and its time."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from gitops.clock import steady
from gitops.lease.timing import Timing


class LeaseTime(Protocol):
    """How time passes for leases. It is real even where a run's own time is not, as others live in it too."""

    def now(self) -> float:
        """Seconds of a steady clock."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Let so much time pass, or less where something happens; whether it did."""


class RealTime:
    """The machine's own."""

    def now(self) -> float:
        """Seconds of a steady clock."""
        return steady()

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        time.sleep(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Let so much time pass, or less where something happens."""
        return event.wait(seconds)


def this_process() -> str:
    """Where to look for it: `<host>/<pid>`; in a cluster the host is the pod."""
    return f"{socket.gethostname()}/{os.getpid()}"


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Leasing:
    """How a process takes leases."""

    timing: Timing = field(default_factory=Timing)
    time: LeaseTime = field(default_factory=RealTime)
    wall: Callable[[], datetime] = _utc_now
    """What time it is, to be written down for people; it decides nothing."""
    process: str = field(default_factory=this_process)

    def identity(self, run: str) -> str:
        """Who holds a lease: a person finds the process by it, and no other run has the same."""
        return f"{self.process}/{run[:8]}"
