"""Cron expressions in a time zone, and a spread that keeps many overlays from running at once.

What happens when clocks change is Debian cron's meaning (man cron(8), by the library cronsim): jobs at fixed times
whose time is skipped in spring run right after the change, and jobs whose time comes twice in autumn run once; jobs
with `*` in minute or hour run by the time that passes, so `*/10 * * * *` runs every ten minutes throughout.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

_FIELDS = 5
_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""As crontab(5) has them."""


@dataclass(frozen=True)
class Schedule:
    """When runs are due."""

    cron: str
    """Five fields."""
    zone: ZoneInfo

    def next_after(self, moment: datetime) -> datetime | None:
        """The first time after a moment, in UTC; None where none comes within the fifty years that are looked at."""
        try:
            return next(CronSim(self.cron, moment.astimezone(self.zone))).astimezone(UTC)
        except StopIteration:
            return None


def read_schedule(cron: str, zone: str) -> Schedule:
    """A schedule from what a person wrote.

    Raises:
        ValueError: it is no cron expression, or no time zone; the message says why.
    """
    expression = _MACROS.get(cron.strip(), " ".join(cron.split()))
    if len(expression.split()) != _FIELDS:
        raise ValueError(f"{cron!r} has not five fields: minute, hour, day of month, month, day of week")
    schedule = Schedule(expression, read_zone(zone))
    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ValueError(f"{cron!r} is no cron expression: {str(error).lower()}") from None
    if schedule.next_after(datetime(2026, 1, 1, tzinfo=UTC)) is None:
        raise ValueError(f"{cron!r} never comes")
    return schedule


def read_zone(name: str) -> ZoneInfo:
    """An IANA time zone.

    Raises:
        ValueError: there is none of that name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is no IANA time zone such as Europe/Berlin") from None


def spread(overlay: str, longest: timedelta) -> timedelta:
    """How much later than the schedule an overlay runs: always the same, and evenly spread over many overlays."""
    drawn = int.from_bytes(hashlib.sha256(overlay.encode()).digest()[:8], "big")
    return longest * (drawn / 2**64)
