"""How one thread asks a run in another to end before its next write, as Ctrl-C asks the command."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

from gitops.clock import Clock

_SLICE = 30.0
"""Seconds of sleep in one piece; between them, the thread shows that it is alive."""


class Interrupt:
    """Set once, by anybody."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._reason = ""

    def set(self, reason: str) -> None:
        """Ask for the end; only the first reason counts."""
        self._reason = self._reason or reason
        self._event.set()

    def reason(self) -> str:
        """Why to end; empty while nobody asked."""
        return self._reason if self._event.is_set() else ""

    def wait(self, seconds: float) -> bool:
        """Wait for it so long; whether somebody asked."""
        return self._event.wait(seconds)


class InterruptibleClock:
    """A clock whose sleep ends when the run is asked to end."""

    def __init__(self, clock: Clock, interrupt: Interrupt, beat: Callable[[], None]) -> None:
        self._clock = clock
        self._interrupt = interrupt
        self._beat = beat

    def now(self) -> datetime:
        """The other clock's time."""
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        """Let so much time pass, or less."""
        while seconds > 0 and not self._interrupt.wait(min(seconds, _SLICE)):
            self._beat()
            seconds -= _SLICE

    def patience(self, until: datetime) -> float | None:
        """As the other clock has it."""
        return self._clock.patience(until)
