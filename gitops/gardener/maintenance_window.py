"""The daily window to which a Shoot confines the roll-out of its spec.

With `spec.maintenance.confineSpecUpdateRollout` Gardener rolls a change of the spec out at some moment of
`spec.maintenance.timeWindow`, but not in its last 15 minutes, so that what was begun can end in it
(gardener pkg/utils/gardener/shoot.go, `EffectiveShootMaintenanceTimeWindow`). Begin and end have a fixed offset from
UTC, as `220000+0100` has: this window knows no daylight saving time. It may cross midnight.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gitops.manifest import Manifest, get

_DAY = timedelta(days=1)
_CLOSES_EARLY = timedelta(minutes=15)


@dataclass(frozen=True)
class DailyWindow:
    """The same time of every day."""

    begin: timedelta
    """Since midnight UTC."""
    length: timedelta
    """Above zero, at most a day."""

    def is_open(self, moment: datetime) -> bool:
        """Whether it is open: from its begin on, until its end comes."""
        return self.opening_after(moment - self.length) <= moment

    def opening_after(self, moment: datetime) -> datetime:
        """When it opens next: later than a moment."""
        midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        opening = midnight + self.begin
        return opening if opening > moment else opening + _DAY

    def next_open(self, moment: datetime) -> datetime:
        """The first moment, not before the given one, at which it is open."""
        return moment if self.is_open(moment) else self.opening_after(moment)

    def __str__(self) -> str:
        """In UTC, as the server's clock has it: `21:00-22:00 UTC`."""
        begin, end = (f"{minutes // 60:02}:{minutes % 60:02}" for minutes in self._minutes())
        return f"{begin}-{end} UTC"

    def _minutes(self) -> tuple[int, int]:
        begin, end = self.begin, (self.begin + self.length) % _DAY
        return int(begin.total_seconds()) // 60, int(end.total_seconds()) // 60


def confining_window(shoot: Manifest) -> DailyWindow | None:
    """When changes of this Shoot's spec are rolled out, as far as Gardener begins anything in it.

    None where they are not confined, and where the window cannot be read, which Gardener takes as always.
    """
    if get(shoot, "spec", "maintenance", "confineSpecUpdateRollout") is not True:
        return None
    window = get(shoot, "spec", "maintenance", "timeWindow")
    try:
        begin, end = (_time_of_day(get(window, key)) for key in ("begin", "end"))
    except (TypeError, ValueError):
        return None
    length = (end - begin) % _DAY - _CLOSES_EARLY
    return DailyWindow(begin, length) if length > timedelta(0) else None


def _time_of_day(text: str) -> timedelta:
    """`220000+0100` since midnight UTC."""
    moment = datetime.strptime(f"19700102{text}", "%Y%m%d%H%M%S%z").astimezone(UTC)
    return moment - moment.replace(hour=0, minute=0, second=0)
