"""What a run that was interrupted leaves to the next one, whatever windows say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitops.desired.windows import parse_window
from gitops.record.record import Record
from gitops.record.store import Unfinished, unfinished_after
from gitops.rollout.rollout import Result, RunOutcome, ShootResult, WaveOutcome, WaveResult
from gitops.rollout.step import ShootOutcome
from tests.plan.fleet import overlay, wave
from tests.rollout.runs import fleet

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
NIGHTS = parse_window("0 22 * * *", timedelta(hours=4), "UTC")
WAITING, NOT_STARTED = ShootOutcome.WAITING, ShootOutcome.NOT_STARTED


def left(
    *shoots: tuple[str, ShootOutcome, int], begun: frozenset[str] = frozenset(), windows: Any = (NIGHTS,)
) -> Unfinished:
    desired = replace(fleet({"all": 1}, overlay(wave("all", windows=windows))), content="abc")
    results = tuple(ShootResult(name, outcome, writes, "") for name, outcome, writes in shoots)
    result = Result(RunOutcome.WAITING, "interrupted", (WaveResult("all", WaveOutcome.WAITING, results),))
    return unfinished_after(Record("dev", "1" * 40, "", "push", result, NOW, NOW), desired, begun)


def test_what_was_written_and_has_not_come_to_an_end_is_left() -> None:
    found = left(
        ("written", WAITING, 1),
        ("suspended", ShootOutcome.DEFERRED, 2),
        ("only-waits", WAITING, 0),
        ("not-reached", NOT_STARTED, 0),
        ("done", ShootOutcome.CONVERGED, 3),
        ("failed", ShootOutcome.FAILED, 1),
    )

    assert found == Unfinished("abc", frozenset({"written", "suspended"}))
    assert found.of("abc") == found.shoots
    assert found.of("def") == Unfinished("", frozenset({"written"})).of("") == frozenset()


@pytest.mark.parametrize(
    ("outcome", "remains"), [(NOT_STARTED, True), (WAITING, True), (ShootOutcome.CONVERGED, False)], ids=str
)
def test_it_is_left_until_a_run_has_brought_it_to_an_end(outcome: ShootOutcome, *, remains: bool) -> None:
    found = left(("one", outcome, 0), ("two", outcome, 0), begun=frozenset({"one"}))

    assert found.shoots == ({"one"} if remains else set())


def test_where_no_window_closes_nothing_need_be_remembered() -> None:
    assert left(("one", WAITING, 1), windows=()).shoots == frozenset()


def test_what_does_not_fit_beside_the_record_is_not_remembered() -> None:
    many = [(f"garden-with-a-long-name/shoot-{number:06}", WAITING, 1) for number in range(10_000)]

    assert left(*many[:1000]).shoots
    assert not left(*many).shoots
