"""The Shoot's own window."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.gardener.maintenance_window import DailyWindow, confining_window


def shoot(begin: Any = "220000+0100", end: Any = "230000+0100", *, confined: Any = True) -> dict[str, Any]:
    window = {"begin": begin, "end": end}
    return {"spec": {"maintenance": {"timeWindow": window, "confineSpecUpdateRollout": confined}}}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("begin", "end", "moment", "is_open"),
    [
        ("220000+0100", "230000+0100", "2026-06-01T21:00Z", True),
        ("220000+0100", "230000+0100", "2026-06-01T20:59:59Z", False),
        ("220000+0100", "230000+0100", "2026-06-01T21:44:59Z", True),
        ("220000+0100", "230000+0100", "2026-06-01T21:45Z", False),
        ("233000+0000", "013000+0000", "2026-06-01T23:45Z", True),
        ("233000+0000", "013000+0000", "2026-06-02T01:14Z", True),
        ("233000+0000", "013000+0000", "2026-06-02T01:20Z", False),
        ("003000+0200", "013000+0200", "2026-06-01T22:40Z", True),
        ("220000-0500", "230000-0500", "2026-06-02T03:10Z", True),
    ],
)
def test_it_is_open_but_for_its_last_quarter_of_an_hour(begin: str, end: str, moment: str, *, is_open: bool) -> None:
    window = confining_window(shoot(begin, end))

    assert window is not None
    assert window.is_open(at(moment)) is is_open
    assert window.next_open(at(moment)) == at(moment) or not is_open


@pytest.mark.parametrize(
    "found",
    [
        {},
        shoot(confined=False),
        shoot(confined=None),
        shoot(begin=None),
        shoot(begin="22:00"),
        shoot(begin="220000+0100", end="221000+0100"),
        {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}},
    ],
    ids=["nothing", "not-confined", "null", "no-begin", "unreadable", "too-short", "no-window"],
)
def test_nothing_is_confined(found: dict[str, Any]) -> None:
    assert confining_window(found) is None


@given(begin=st.integers(0, 1439), length=st.integers(1, 1440), minutes=st.integers(0, 3000))
def test_the_next_opening_is_the_first_minute_at_which_it_is_open(begin: int, length: int, minutes: int) -> None:
    window = DailyWindow(timedelta(minutes=begin), timedelta(minutes=length))
    moment = at("2026-06-01T00:00Z") + timedelta(minutes=minutes)

    def watched(minute: int) -> bool:
        return (minute - begin) % 1440 < length

    assert window.is_open(moment) is watched(minutes)
    ahead = next(shift for shift in range(1441) if watched(minutes + shift))
    assert window.next_open(moment) == moment + timedelta(minutes=ahead)


def test_it_says_when_it_is_in_utc() -> None:
    assert str(confining_window(shoot())) == "21:00-21:45 UTC"
