"""When a wave may start shoots: cron expressions with a duration and a time zone.

A window opens at every local time that its cron expression matches, and stays open for its duration of real, elapsed
time, whatever clocks do meanwhile. Windows that overlap are one. When clocks change, it opens as Debian's cron runs
jobs (cron(8), "Daylight Saving Time and other time changes"):

- A schedule for certain times, whose minutes and hours both begin with no `*`, opens exactly once for each of them. A
  local time that is left out when clocks go forward opens the window at the moment of the change; one that comes twice
  when they go back opens it at the first.
- A schedule with a `*` there follows the clock on the wall: times left out open nothing, times that come twice open it
  twice.

Only local times are asked of the `cronsim` library, and mapped to moments here: across a change of half an hour, as on
Lord Howe Island, it loses matches (cronsim 2.8, `advance_hour` goes on in steps of an hour from half past).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = 5
_SHIFT = timedelta(hours=3)
"""More than any clock is ever changed by."""
_SOME_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 - a local time of no zone


@dataclass(frozen=True)
class Window:
    """Times at which shoots may be started."""

    schedule: str
    """A cron expression of five fields."""
    duration: timedelta
    """How long it stays open, in real time; above zero."""
    zone: ZoneInfo
    """Where the schedule's times are local."""

    def opening_after(self, moment: datetime) -> datetime:
        """When it opens next: later than a moment, in UTC."""
        best: datetime | None = None
        for local in CronSim(self.schedule, self._local_before(moment)):
            later = [found for found in self._moments(local) if found > moment]
            best = min([*later, *([best] if best else [])], default=None)
            if best is not None and _first(local, self.zone) >= best:
                return best
        raise AssertionError(f"{self.schedule!r} opens never, which is refused when it is read")

    def is_open(self, moment: datetime) -> bool:
        """Whether it is open: from its opening on, until the duration has passed."""
        return self.opening_after(moment - self.duration) <= moment

    def __str__(self) -> str:
        """As a person would say it: `0 22 * * 1-5 for 4h (Europe/Berlin)`."""
        return f"{self.schedule} for {_duration_text(self.duration)} ({self.zone.key})"

    def _local_before(self, moment: datetime) -> datetime:
        """A local time before all whose moments are later than this: the present one, but near a change."""
        near = [(moment + shift).astimezone(self.zone) for shift in (-_SHIFT, timedelta(0), _SHIFT)]
        local = near[1].replace(tzinfo=None)
        return local if len({one.utcoffset() for one in near}) == 1 else local - _SHIFT

    @property
    def _follows_the_wall(self) -> bool:
        minutes, hours, *_ = self.schedule.split()
        return minutes.startswith("*") or hours.startswith("*")

    def _moments(self, local: datetime) -> Iterator[datetime]:
        """The moments at which a local time opens it: none, one, or two."""
        moments = [local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
        exists = moments[0].astimezone(self.zone).replace(tzinfo=None) == local
        if exists:
            yield from sorted(set(moments)) if self._follows_the_wall else moments[:1]
        elif not self._follows_the_wall:
            yield _change(local, self.zone)


def parse_window(schedule: str, duration: timedelta, zone: str) -> Window:
    """A window that can open.

    Raises:
        ValueError: with what is wrong and what is expected.
    """
    if len(schedule.split()) != _FIELDS:
        message = "has five fields: minute, hour, day of month, month, day of week; such as 0 22 * * 1-5"
        raise ValueError(f"schedule {schedule!r} is no cron expression: one {message}")
    try:
        next(CronSim(schedule, _SOME_DAY))
    except CronSimError as error:
        raise ValueError(f"schedule {schedule!r} is no cron expression: {str(error).lower()}") from error
    except StopIteration:
        raise ValueError(f"schedule {schedule!r} names a day that never comes") from None
    if duration <= timedelta(0):
        raise ValueError("duration is 0, so the window would never be open: say how long, such as 4h")
    try:
        found = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:  # no such zone, no name of one, a folder of zones
        raise ValueError(f"zone {zone!r} is unknown: use a name of the IANA database such as Europe/Berlin") from error
    return Window(" ".join(schedule.split()), duration, found)


def is_open(windows: Iterable[Window], moment: datetime) -> bool:
    """Whether any of them is open."""
    return any(window.is_open(moment) for window in windows)


@lru_cache(maxsize=4096)
def next_open(windows: tuple[Window, ...], moment: datetime) -> datetime:
    """The first moment, not before the given one, at which any of at least one window is open."""
    return moment if is_open(windows, moment) else min(window.opening_after(moment) for window in windows)


def _first(local: datetime, zone: ZoneInfo) -> datetime:
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _change(local: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which clocks went past a local time that does not exist.

    By PEP 495, fold=0 reads it by the offset before the change and fold=1 by the one after: earlier than the change.
    """
    low = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    high = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high.replace(microsecond=0)


def _duration_text(duration: timedelta) -> str:
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"
