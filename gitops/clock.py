"""Time as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where a run gets its time from."""

    def now(self) -> datetime:
        """The time now, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""


class SystemClock:
    """The machine's own."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        time.sleep(seconds)
