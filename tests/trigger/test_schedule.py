"""Debian cron's meaning when clocks change, in zones that change in different ways."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.desired.cron import Cron, read_zone
from gitops.trigger.schedule import read_schedule, spread


def times(schedule: Cron, after: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    while len(found) < count:
        after = schedule.next_after(after)
        found.append(after)
    return found


def local(schedule: Cron, moments: list[datetime]) -> list[str]:
    return [moment.astimezone(schedule.zone).strftime("%m-%d %H:%M %z") for moment in moments]


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["03-29 03:00 +0200", "03-30 02:30 +0200"]),
        ("30 2 * * *", "America/New_York", "2026-03-07T12:00Z", ["03-08 03:00 -0400", "03-09 02:30 -0400"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", ["10-04 02:30 +1100", "10-05 02:15 +1100"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["10-25 02:30 +0200", "10-26 02:30 +0100"]),
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00Z", ["11-01 01:30 -0400", "11-02 01:30 -0500"]),
        ("0 12 * * *", "Europe/Berlin", "2026-03-28T00:00Z", ["03-28 12:00 +0100", "03-29 12:00 +0200"]),
        ("0 0 * * 1", "Asia/Kolkata", "2026-11-30T00:00Z", ["12-07 00:00 +0530", "12-14 00:00 +0530"]),
    ],
    ids=[
        "skipped in Berlin: right after the change",
        "skipped in New York: right after the change",
        "half an hour skipped on Lord Howe",
        "twice in Berlin: once",
        "twice in New York: once",
        "noon stays noon",
        "a zone that never changes",
    ],
)
def test_a_fixed_time_comes_once_each_day(cron: str, zone: str, after: str, expected: list[str]) -> None:
    schedule = read_schedule(cron, zone)

    assert local(schedule, times(schedule, datetime.fromisoformat(after), 2)) == expected


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("month", [3, 4, 10, 11])
def test_every_ten_minutes_means_every_ten_minutes_throughout(zone: str, month: int) -> None:
    schedule = read_schedule("*/10 * * * *", zone)
    found = times(schedule, datetime(2026, month, 1, tzinfo=UTC), 31 * 24 * 6)

    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(minutes=10)}


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:05Z", "10-26 02:30 +0100"),
        ("30 1 * * *", "America/New_York", "2026-11-01T06:06Z", "11-02 01:30 -0500"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T15:05Z", "04-06 01:45 +1030"),
        ("*/30 2 * * *", "Australia/Lord_Howe", "2026-04-04T15:00Z", "04-05 02:00 +1030"),
        ("20 */6 * * *", "Australia/Lord_Howe", "2026-10-03T15:00Z", "10-04 06:20 +1100"),
    ],
    ids=[
        "within the second of two hours in Berlin",
        "within the second of two hours in New York",
        "within the second of two half hours on Lord Howe",
        "after half an hour comes twice",
        "after half an hour is left out",
    ],
)
def test_whenever_it_is_asked_it_tells_a_time_to_come(cron: str, zone: str, after: str, expected: str) -> None:
    schedule = read_schedule(cron, zone)

    assert local(schedule, times(schedule, datetime.fromisoformat(after), 1)) == [expected]


@given(
    st.sampled_from(["*/5 * * * *", "17 3 * * *", "30 2 * * 0", "0 0 1 * *", "45 1 * * 1-5"]),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]),
    st.datetimes(datetime(2025, 1, 1), datetime(2028, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - made aware
)
def test_the_next_time_is_always_later_and_none_is_between(cron: str, zone: str, moment: datetime) -> None:
    schedule = read_schedule(cron, zone)

    following = schedule.next_after(moment)

    assert following > moment
    between = moment + (following - moment) / 2
    if between.replace(microsecond=0) < following:
        assert schedule.next_after(between) == following


@pytest.mark.parametrize(
    ("cron", "why"),
    [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("* * * * * *", "five fields"),
        ("61 * * * *", "bad minute"),
        ("* 24 * * *", "bad hour"),
        ("*/0 * * * *", "bad minute"),
        ("x * * * *", "bad minute"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("* * * * MONDAY", "bad day-of-week"),
        ("@sometimes", "five fields"),
    ],
)
def test_what_is_no_cron_expression_is_refused_with_the_reason(cron: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_schedule(cron, "UTC")


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "Europe/", "../etc/passwd", "/etc/passwd", "CET+1 \0"])
def test_what_is_no_time_zone_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match="is unknown: use a name of the IANA database"):
        read_zone(zone)


@pytest.mark.parametrize(
    ("macro", "cron"), [("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), (" @weekly ", "0 0 * * 0")]
)
def test_crontab_s_own_words_are_known(macro: str, cron: str) -> None:
    assert read_schedule(macro, "UTC").expression == cron


def test_a_thousand_overlays_spread_evenly_and_always_alike() -> None:
    minute = timedelta(minutes=1)
    late = [spread(f"overlay-{number}", minute) for number in range(1000)]
    by_second = [sum(int(moment.total_seconds()) == second for moment in late) for second in range(60)]

    assert late == [spread(f"overlay-{number}", minute) for number in range(1000)]
    assert all(timedelta() <= moment < minute for moment in late)
    assert max(by_second) < 40
    assert spread("any", timedelta()) == timedelta()
