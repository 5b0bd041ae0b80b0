"""Cron expressions in a time zone, as Debian's cron reads them when clocks change.

cron(8), "Daylight Saving Time and other time changes":

- An expression for certain times, whose minutes and hours both begin with no `*`, comes exactly once for each of them.
  A local time that is left out when clocks go forward comes at the moment of the change; one that is there twice when
  they go back comes at the first.
- An expression with a `*` there follows the clock on the wall: times left out do not come, times that are there twice
  come twice.

Only local times are asked of the `cronsim` library, and mapped to moments here: cronsim 2.8 loses matches across a
change of half an hour, as on Lord Howe Island (`advance_hour` goes on in steps of an hour from half past), and from
within an hour that comes twice it leads back to the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = 5
_SHIFT = timedelta(hours=3)
"""More than any clock is ever changed by."""
_SOME_DAY = datetime(2024, 1, 1)  # noqa: DTZ001 - a local time of no zone


@dataclass(frozen=True)
class Cron:
    """Moments by the clock on some wall."""

    expression: str
    """Five fields, with one space between; it comes at some time."""
    zone: ZoneInfo
    """Where its times are local."""

    def next_after(self, moment: datetime) -> datetime:
        """The first of its moments that is later than this, in UTC."""
        best: datetime | None = None
        for local in CronSim(self.expression, self._local_before(moment)):
            later = [found for found in self._moments(local) if found > moment]
            best = min([*later, *([best] if best else [])], default=None)
            if best is not None and _first(local, self.zone) >= best:
                return best
        raise AssertionError(f"{self.expression!r} never comes, which is refused when it is read")

    def _local_before(self, moment: datetime) -> datetime:
        """A local time before all whose moments are later than this: the present one, but near a change."""
        near = [(moment + shift).astimezone(self.zone) for shift in (-_SHIFT, timedelta(0), _SHIFT)]
        local = near[1].replace(tzinfo=None)
        return local if len({one.utcoffset() for one in near}) == 1 else local - _SHIFT

    @property
    def _follows_the_wall(self) -> bool:
        minutes, hours, *_ = self.expression.split()
        return minutes.startswith("*") or hours.startswith("*")

    def _moments(self, local: datetime) -> Iterator[datetime]:
        """The moments of a local time: none, one, or two."""
        moments = [local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
        exists = moments[0].astimezone(self.zone).replace(tzinfo=None) == local
        if exists:
            yield from sorted(set(moments)) if self._follows_the_wall else moments[:1]
        elif not self._follows_the_wall:
            yield _change(local, self.zone)


def read_cron(expression: str, zone: ZoneInfo) -> Cron:
    """An expression that comes at some time.

    Raises:
        ValueError: with what is wrong and what is expected.
    """
    if len(expression.split()) != _FIELDS:
        fields = "minute, hour, day of month, month, day of week"
        raise ValueError(f"{expression!r} is no cron expression: one has five fields: {fields}; such as 0 22 * * 1-5")
    try:
        next(CronSim(expression, _SOME_DAY))
    except CronSimError as error:
        raise ValueError(f"{expression!r} is no cron expression: {str(error).lower()}") from error
    except StopIteration:
        raise ValueError(f"{expression!r} names a day that never comes") from None
    return Cron(" ".join(expression.split()), zone)


def read_zone(name: str) -> ZoneInfo:
    """A time zone.

    Raises:
        ValueError: there is none of that name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such zone, no name of one, a folder of zones
        raise ValueError(f"zone {name!r} is unknown: use a name of the IANA database such as Europe/Berlin") from None


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
