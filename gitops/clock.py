"""Time as an argument."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady() -> float:
    """Seconds of a clock that nobody sets, and that goes on while the process or, on Linux, the machine sleeps."""
    return time.clock_gettime(_STEADY)


class Clock(Protocol):
    """Where a run gets its time from."""

    def now(self) -> datetime:
        """The time now, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""

    def patience(self, until: datetime) -> float | None:
        """Real seconds after which a wait for others should end, because that time has come.

        None where this clock stands still while others work.
        """


class SystemClock:
    """The machine's own."""

    def now(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Let so much time pass."""
        time.sleep(seconds)

    def patience(self, until: datetime) -> float | None:
        """As long as it is until then."""
        return max((until - self.now()).total_seconds(), 0)
