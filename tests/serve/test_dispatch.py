from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gitops.serve.dispatch import OVERTAKEN, Dispatch, Timing
from gitops.serve.interrupt import Interrupt
from gitops.trigger.queue import Trigger, Work
from gitops.trigger.schedule import read_schedule, spread

NOW = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ONE, TWO = "1" * 40, "2" * 40
HOURLY = Timing(read_schedule("0 * * * *", "UTC"))


def look(dispatch: Dispatch, now: datetime = NOW, *overlays: str, head: str = ONE) -> Work:
    """A look that is due finds these overlays."""
    work = dispatch.take_look(now)
    assert work is not None
    dispatch.looked(work, overlays or ("dev",), head, now)
    return work


def run(dispatch: Dispatch, now: datetime = NOW) -> tuple[Work, Interrupt]:
    due = dispatch.take_run(now)
    assert due is not None
    return due


def begun(*only: str, timing: Timing | None = None, initial_run: bool = True) -> Dispatch:
    return Dispatch(timing or Timing(), only, NOW, initial_run=initial_run)


def test_at_the_start_every_overlay_runs_once_and_at_once() -> None:
    dispatch = begun(timing=HOURLY)
    look(dispatch, NOW, "dev", "prod")

    assert {run(dispatch)[0].key, run(dispatch)[0].key} == {"dev", "prod"}
    assert dispatch.take_run(NOW) is None
    assert dispatch.take_look(NOW) is None


def test_without_an_initial_run_the_repository_is_looked_into_and_nothing_runs() -> None:
    dispatch = begun(initial_run=False)
    look(dispatch)
    assert dispatch.take_run(NOW) is None

    dispatch.pushed(NOW + 10 * SECOND)
    look(dispatch, NOW + 10 * SECOND)

    assert run(dispatch, NOW + 10 * SECOND)[0].trigger is Trigger.PUSH


def test_only_the_overlays_that_are_named_run() -> None:
    dispatch = begun("prod", "lost")
    work = dispatch.take_look(NOW)
    assert work is not None

    assert dispatch.looked(work, ["dev", "prod"], ONE, NOW) == ["lost"]
    assert run(dispatch)[0].key == "prod"
    assert dispatch.take_run(NOW) is None


def test_five_hundred_pushes_in_two_seconds_give_two_runs_however_quick_they_are() -> None:
    dispatch = begun(initial_run=False)
    look(dispatch)
    start, runs = NOW + 60 * SECOND, 0
    for tick in range(60 * 100):
        now = start + SECOND * (tick / 100)
        if tick < 200:
            for _ in range(5 if tick % 2 else 0):
                dispatch.pushed(now)
        if (work := dispatch.take_look(now)) is not None:
            dispatch.looked(work, ["dev"], ONE, now)
        while (due := dispatch.take_run(now)) is not None:
            runs += 1
            dispatch.run_ended(due[0])

    assert runs == 2


def test_five_hundred_pushes_during_a_run_give_one_more() -> None:
    dispatch = begun()
    look(dispatch)
    first, _ = run(dispatch)
    for number in range(500):
        now = NOW + SECOND * number
        dispatch.pushed(now)
        if (work := dispatch.take_look(now)) is not None:
            dispatch.looked(work, ["dev"], ONE, now)
        assert dispatch.take_run(now) is None

    later = NOW + 1000 * SECOND
    dispatch.run_ended(first)
    second, _ = run(dispatch, later)
    dispatch.run_ended(second)

    assert dispatch.take_run(later) is None


def test_the_schedule_asks_for_all_each_at_its_own_time() -> None:
    dispatch = begun(timing=HOURLY, initial_run=False)
    look(dispatch)
    hour = NOW.replace(hour=13, minute=0, second=0)
    assert dispatch.next_look() == dispatch.next_tick == hour
    assert dispatch.take_look(hour - SECOND) is None

    work = look(dispatch, hour, "dev", "prod")

    assert work.trigger is Trigger.SCHEDULE
    for name in sorted(("dev", "prod"), key=lambda name: spread(name, HOURLY.jitter)):
        due = hour + spread(name, HOURLY.jitter)
        assert dispatch.next_run() == due
        assert dispatch.take_run(due - SECOND / 100) is None
        assert run(dispatch, due)[0].key == name
    assert dispatch.next_tick == hour + timedelta(hours=1)


def test_ticks_that_nobody_was_there_for_are_one() -> None:
    """A machine that slept over a night does not make up for every hour of it."""
    dispatch = begun(timing=HOURLY)
    look(dispatch, NOW + timedelta(hours=9))

    assert dispatch.take_look(NOW + timedelta(hours=9, minutes=1)) is None


def test_an_overlay_that_is_gone_does_not_run_any_more() -> None:
    dispatch = begun()
    look(dispatch, NOW, "dev", "gone")
    dispatch.pushed(NOW + 10 * SECOND)
    look(dispatch, NOW + 10 * SECOND, "dev", "new")
    later = NOW + 20 * SECOND

    assert {run(dispatch, later)[0].key, run(dispatch, later)[0].key} == {"dev", "new"}
    assert dispatch.take_run(later) is None


def test_a_run_of_another_commit_is_overtaken_and_one_of_the_same_goes_on() -> None:
    dispatch = begun()
    look(dispatch, NOW, "dev", "prod")
    (one, interrupted), (two, left) = run(dispatch), run(dispatch)
    dispatch.found_head(one, ONE)
    dispatch.found_head(two, TWO)

    dispatch.pushed(NOW + 10 * SECOND)
    look(dispatch, NOW + 10 * SECOND, "dev", "prod", head=TWO)

    assert (interrupted.reason(), left.reason()) == (OVERTAKEN, "")


def test_a_commit_that_is_found_while_a_run_reads_another_overtakes_it_too() -> None:
    dispatch = begun()
    look(dispatch, NOW, "dev", "prod")
    (one, interrupted), (two, left) = run(dispatch), run(dispatch)

    dispatch.pushed(NOW + 10 * SECOND)
    look(dispatch, NOW + 10 * SECOND, "dev", "prod", head=TWO)
    dispatch.found_head(one, ONE)
    dispatch.found_head(two, TWO)
    dispatch.run_ended(one)

    assert (interrupted.reason(), left.reason()) == (OVERTAKEN, "")
    assert run(dispatch, NOW + 10 * SECOND)[0].key == one.key


def test_a_look_that_fails_is_tried_again_after_a_while() -> None:
    dispatch = begun()
    work = dispatch.take_look(NOW)
    assert work is not None
    wait = dispatch.look_failed(work, NOW)

    assert dispatch.take_look(NOW + wait - SECOND / 10) is None
    look(dispatch, NOW + wait)
    run(dispatch, NOW + wait)


def test_after_the_wish_to_end_nothing_begins_and_what_goes_on_is_told() -> None:
    dispatch = begun()
    look(dispatch, NOW, "dev", "prod")
    _, interrupt = run(dispatch)

    dispatch.stop("the end")
    dispatch.pushed(NOW + 10 * SECOND)

    assert interrupt.reason() == "the end"
    assert dispatch.take_run(NOW + 60 * SECOND) is None
    assert dispatch.take_look(NOW + 60 * SECOND) is None


def test_only_the_first_reason_counts() -> None:
    interrupt = Interrupt()
    assert interrupt.reason() == ""
    interrupt.set("first")
    interrupt.set("second")

    assert interrupt.reason() == "first"


def test_what_asked_for_a_run_that_waits_is_told_when_it_changes() -> None:
    told: list[tuple[str, Trigger | None]] = []
    dispatch = Dispatch(Timing(), (), NOW, queued=lambda overlay, trigger: told.append((overlay, trigger)))
    look(dispatch)
    work, _ = run(dispatch)
    dispatch.run_failed(work, NOW)

    assert told == [("dev", Trigger.SCHEDULE), ("dev", None), ("dev", Trigger.SCHEDULE)]


def test_only_the_overlays_that_were_named_are_wanted() -> None:
    assert Dispatch(Timing(), ("dev",), NOW).wanted(["dev", "prod"]) == ["dev"]
    assert Dispatch(Timing(), (), NOW).wanted(["dev", "prod"]) == ["dev", "prod"]
