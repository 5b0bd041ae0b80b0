"""When windows are open, on ordinary days and when clocks change, against a clock that is watched minute by minute."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.desired.cron import Cron
from gitops.desired.windows import Window, is_open, next_open, parse_window

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),
    "America/New_York": ("2026-03-08T07:00Z", "2026-11-01T06:00Z"),
    "Australia/Lord_Howe": ("2026-10-03T15:30Z", "2026-04-04T15:00Z"),
}
"""The moments at which clocks go forward, and back, in one year."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@dataclass(frozen=True)
class Schedule:
    """A cron expression whose meaning is known without reading it."""

    minutes: tuple[str, frozenset[int]]
    hours: tuple[str, frozenset[int]]
    days: tuple[str, frozenset[int]]
    """Of the week, Monday is 0."""

    @property
    def text(self) -> str:
        return f"{self.minutes[0]} {self.hours[0]} * * {self.days[0]}"

    @property
    def is_for_certain_times(self) -> bool:
        return "*" not in self.minutes[0] + self.hours[0]

    def matches(self, local: datetime) -> bool:
        return local.minute in self.minutes[1] and local.hour in self.hours[1] and local.weekday() in self.days[1]


def watched_openings(schedule: Schedule, zone: str, begin: datetime, end: datetime) -> Iterator[datetime]:
    """What somebody would do who looks at the clock on the wall every minute."""
    done: set[datetime] = set()
    moment = begin
    before = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - MINUTE
    while moment <= end:
        local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        due = [local]
        while schedule.is_for_certain_times and before + MINUTE < local:  # the clock went forward over these
            before += MINUTE
            due.append(before)
        if schedule.is_for_certain_times:
            due = [one for one in due if one not in done]
        if any(map(schedule.matches, due)):
            yield moment
        done.update(due)
        before = local
        moment += MINUTE


def numbers(top: int, often: int) -> st.SearchStrategy[tuple[str, frozenset[int]]]:
    """A field of some numbers, more often low ones; of every number, or of every so many."""
    some = st.frozensets(st.integers(0, often) | st.integers(0, top), min_size=1, max_size=4)
    steps = st.sampled_from([2, 3, 5, 7, 15])
    return (
        some.map(lambda found: (",".join(map(str, sorted(found))), found))
        | steps.map(lambda step: (f"*/{step}", frozenset(range(0, top + 1, step))))
        | st.just(("*", frozenset(range(top + 1))))
    )


EVERY_DAY = ("*", frozenset(range(7)))
SCHEDULES = st.builds(
    Schedule, numbers(59, 59), numbers(23, 5), st.sampled_from([EVERY_DAY, ("6,0", frozenset({5, 6}))])
)


@pytest.mark.parametrize("which", [0, 1], ids=["forward", "back"])
@pytest.mark.parametrize("zone", CHANGES)
@settings(max_examples=15)
@given(schedule=SCHEDULES, minutes=st.integers(1, 36 * 60), shifts=st.lists(st.integers(-600, 1800), max_size=5))
def test_a_window_is_open_as_a_watched_clock_says(
    zone: str, which: int, schedule: Schedule, minutes: int, shifts: list[int]
) -> None:
    change = at(CHANGES[zone][which])
    duration = minutes * MINUTE
    window = Window(Cron(schedule.text, ZoneInfo(zone)), duration)
    openings = list(watched_openings(schedule, zone, change - 2 * DAY, change + 2 * DAY))
    near = [one for one in openings if abs(one - change) <= 2 * HOUR][:3]
    edges = [one + shift for one in near for shift in (-MINUTE, timedelta(0), duration - MINUTE, duration)]

    for moment in (*edges, *(change + shift * MINUTE for shift in (-1, 0, 1, *shifts))):
        passed = bisect_right(openings, moment)
        assert window.is_open(moment) == (passed > 0 and moment < openings[passed - 1] + duration), moment
        following = window.opening_after(moment)
        assert following == openings[passed] if passed < len(openings) else following > change + 2 * DAY, moment


@pytest.mark.parametrize("zone", CHANGES)
def test_the_moments_above_are_those_at_which_clocks_change(zone: str) -> None:
    for change, sign in zip(CHANGES[zone], (1, -1), strict=True):
        before, after = ((at(change) + shift).astimezone(ZoneInfo(zone)).utcoffset() for shift in (-MINUTE, MINUTE))
        assert before is not None
        assert after is not None
        assert (after - before) * sign in {HOUR, HOUR / 2}


def berlin(schedule: str, duration: timedelta) -> Window:
    return parse_window(schedule, duration, "Europe/Berlin")


def test_a_time_that_is_left_out_opens_the_window_when_clocks_change() -> None:
    window = berlin("30 2 * * *", HOUR)

    assert window.opening_after(at("2026-03-28T12:00Z")) == at("2026-03-29T01:00Z")
    assert window.is_open(at("2026-03-29T01:59:59Z"))
    assert not window.is_open(at("2026-03-29T02:00Z"))


def test_a_time_that_comes_twice_opens_the_window_once_and_for_its_real_duration() -> None:
    window = berlin("30 2 * * *", 4 * HOUR)

    assert window.opening_after(at("2026-10-24T12:00Z")) == at("2026-10-25T00:30Z")
    assert window.is_open(at("2026-10-25T04:29Z"))
    assert not window.is_open(at("2026-10-25T04:30Z"))
    assert window.opening_after(at("2026-10-25T00:30Z")) == at("2026-10-26T01:30Z")


def test_windows_that_overlap_are_one() -> None:
    windows = (berlin("0 22 * * *", 4 * HOUR), berlin("0 1 * * *", 2 * HOUR))

    opened = [hour for hour in range(24) if is_open(windows, at("2026-06-01T00:00+02:00") + hour * HOUR)]

    assert opened == [0, 1, 2, 22, 23]


def test_the_next_moment_is_now_while_a_window_is_open() -> None:
    windows = (berlin("0 22 * * 1-5", 4 * HOUR),)
    saturday = at("2026-06-06T10:00+02:00")

    assert next_open(windows, at("2026-06-05T23:00+02:00")) == at("2026-06-05T23:00+02:00")
    assert next_open(windows, saturday) == at("2026-06-08T22:00+02:00")


@pytest.mark.parametrize(
    ("schedule", "duration", "zone", "says"),
    [
        ("0 22 * *", HOUR, "UTC", "schedule .* has five fields"),
        ("0 0 22 * * *", HOUR, "UTC", "schedule .* has five fields"),
        ("@daily", HOUR, "UTC", "schedule .* has five fields"),
        ("0 25 * * *", HOUR, "UTC", "schedule .* is no cron expression: bad hour"),
        ("0 0 31 2 *", HOUR, "UTC", "schedule .* bad day-of-month"),
        ("0 0 31 2,4 1#5,1#1", timedelta(0), "UTC", "duration is 0"),
        ("0 22 * * *", HOUR, "Mars/Olympus", "zone 'Mars/Olympus' is unknown"),
        ("0 22 * * *", HOUR, "../etc/passwd", "zone .* is unknown"),
        ("0 22 * * *", HOUR, "Europe", "zone 'Europe' is unknown"),
    ],
)
def test_a_window_that_could_not_open_is_refused(schedule: str, duration: timedelta, zone: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_window(schedule, duration, zone)


def test_a_window_says_what_it_is() -> None:
    assert str(berlin("0  22 * * 1-5", 4.5 * HOUR)) == "0 22 * * 1-5 for 4h30m (Europe/Berlin)"
