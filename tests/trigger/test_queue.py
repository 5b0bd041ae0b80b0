from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.trigger.queue import Backoff, Trigger, Work, WorkQueue

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def taken(queue: WorkQueue, now: datetime = NOW) -> Work:
    work = queue.take(now)
    assert work is not None
    return work


def test_a_burst_is_one_piece_of_work() -> None:
    queue = WorkQueue()
    for _ in range(500):
        queue.ask("dev", Trigger.PUSH, NOW)

    assert taken(queue).key == "dev"
    assert queue.take(NOW) is None


def test_who_asks_while_it_is_under_way_is_heard_after_it() -> None:
    queue = WorkQueue()
    queue.ask("dev", Trigger.SCHEDULE, NOW)
    first = taken(queue)
    for _ in range(500):
        queue.ask("dev", Trigger.PUSH, NOW)

    assert queue.take(NOW) is None
    queue.done(first)
    assert taken(queue).trigger is Trigger.PUSH
    assert queue.take(NOW) is None


def test_other_keys_do_not_wait() -> None:
    queue = WorkQueue()
    queue.ask("dev", Trigger.PUSH, NOW)
    queue.ask("prod", Trigger.PUSH, NOW)

    assert {taken(queue).key, taken(queue).key} == {"dev", "prod"}


def test_what_waits_comes_no_later_for_another_asking() -> None:
    queue = WorkQueue()
    queue.ask("dev", Trigger.PUSH, NOW + SECOND)
    queue.ask("dev", Trigger.SCHEDULE, NOW + 60 * SECOND)

    assert queue.take(NOW) is None
    assert taken(queue, NOW + SECOND).trigger is Trigger.PUSH


def test_failures_wait_longer_and_longer_until_one_goes_well() -> None:
    queue = WorkQueue(Backoff(first=5 * SECOND, longest=60 * SECOND))
    now, waits = NOW, []
    queue.ask("dev", Trigger.PUSH, now)
    for _ in range(6):
        wait = queue.failed(taken(queue, now), now)
        waits.append(wait.total_seconds())
        assert queue.take(now + wait - SECOND / 10) is None
        now += wait
    queue.done(taken(queue, now))
    queue.ask("dev", Trigger.PUSH, now)

    assert waits == [5, 10, 20, 40, 60, 60]
    assert queue.failed(taken(queue, now), now) == 5 * SECOND


def test_a_push_does_not_wait_for_the_end_of_a_backoff_as_it_may_be_the_fix() -> None:
    queue = WorkQueue()
    queue.ask("dev", Trigger.SCHEDULE, NOW)
    queue.failed(taken(queue), NOW)

    queue.ask("dev", Trigger.PUSH, NOW)

    assert taken(queue).trigger is Trigger.PUSH


def test_a_backoff_never_overflows() -> None:
    assert Backoff().after(10_000) == Backoff().longest


@pytest.mark.parametrize(("drawn", "expected"), [(0.0, 2.5), (0.5, 3.75), (1.0, 5.0)])
def test_jitter_takes_from_the_upper_half(drawn: float, expected: float) -> None:
    assert Backoff(first=5 * SECOND, jitter=lambda: drawn).after(1).total_seconds() == expected


def test_beginnings_keep_their_distance() -> None:
    queue = WorkQueue(spacing=5 * SECOND)
    queue.ask("repository", Trigger.PUSH, NOW)
    queue.done(taken(queue))
    queue.ask("repository", Trigger.PUSH, NOW + SECOND)

    assert queue.take(NOW + 4 * SECOND) is None
    assert queue.next_due() == NOW + 5 * SECOND
    taken(queue, NOW + 5 * SECOND)


def test_keys_that_are_no_more_are_forgotten() -> None:
    queue = WorkQueue()
    for key in ("dev", "gone", "going"):
        queue.ask(key, Trigger.PUSH, NOW)
    going = next(work for work in (taken(queue), taken(queue), taken(queue)) if work.key == "going")
    for key in ("dev", "gone", "going"):
        queue.ask(key, Trigger.PUSH, NOW)

    queue.keep_only(["dev"])
    queue.done(going)

    assert [work.key for work in queue.waiting] == ["dev"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["ask", "take", "done", "failed"])), max_size=200))
def test_never_more_than_one_under_way_and_one_waiting(steps: list[tuple[str, str]]) -> None:
    """Whoever asked is answered by a piece of work that begins afterwards."""
    queue, now = WorkQueue(), NOW
    owed: set[str] = set()
    for key, step in steps:
        now += 3600 * SECOND
        if step == "ask":
            queue.ask(key, Trigger.PUSH, now)
            owed.add(key)
        elif step == "take":
            if (work := queue.take(now)) is not None:
                owed.discard(work.key)
        else:
            for work in queue.under_way:
                if work.key == key and step == "done":
                    queue.done(work)
                elif work.key == key:
                    queue.failed(work, now)
                    owed.add(key)
        assert max(Counter(work.key for work in queue.under_way).values(), default=0) <= 1
        assert max(Counter(work.key for work in queue.waiting).values(), default=0) <= 1
        assert owed == {work.key for work in queue.waiting}
