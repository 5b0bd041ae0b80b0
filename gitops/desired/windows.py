"""When a wave may start shoots: cron expressions with a duration and a time zone.

A window opens at every moment of its cron expression, and stays open for its duration of real, elapsed time, whatever
clocks do meanwhile. Windows that overlap are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from gitops.desired.cron import Cron, read_cron, read_zone


@dataclass(frozen=True)
class Window:
    """Times at which shoots may be started."""

    cron: Cron
    """When it opens."""
    duration: timedelta
    """How long it stays open, in real time; above zero."""

    def opening_after(self, moment: datetime) -> datetime:
        """When it opens next: later than a moment, in UTC."""
        return self.cron.next_after(moment)

    def is_open(self, moment: datetime) -> bool:
        """Whether it is open: from its opening on, until the duration has passed."""
        return self.opening_after(moment - self.duration) <= moment

    def __str__(self) -> str:
        """As a person would say it: `0 22 * * 1-5 for 4h (Europe/Berlin)`."""
        return f"{self.cron.expression} for {_duration_text(self.duration)} ({self.cron.zone.key})"


def parse_window(schedule: str, duration: timedelta, zone: str) -> Window:
    """A window that can open.

    Raises:
        ValueError: with what is wrong and what is expected.
    """
    found = read_zone(zone)
    try:
        cron = read_cron(schedule, found)
    except ValueError as error:
        raise ValueError(f"schedule {error}") from error
    if duration <= timedelta(0):
        raise ValueError("duration is 0, so the window would never be open: say how long, such as 4h")
    return Window(cron, duration)


def is_open(windows: Iterable[Window], moment: datetime) -> bool:
    """Whether any of them is open."""
    return any(window.is_open(moment) for window in windows)


@lru_cache(maxsize=4096)
def next_open(windows: tuple[Window, ...], moment: datetime) -> datetime:
    """The first moment, not before the given one, at which any of at least one window is open."""
    return moment if is_open(windows, moment) else min(window.opening_after(moment) for window in windows)


def _duration_text(duration: timedelta) -> str:
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
