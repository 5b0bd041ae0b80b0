from datetime import UTC, datetime, timedelta

from gitops.sandbox import ScaledClock, VirtualClock

_START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_virtual_clock_stops_at_every_action_on_its_way() -> None:
    clock = VirtualClock(_START)
    seen: list[tuple[str, float]] = []

    def note(name: str) -> None:
        seen.append((name, (clock.now() - _START).total_seconds()))

    def first() -> None:
        note("first")
        clock.call_later(2, lambda: note("third"))

    clock.call_later(10, first)
    clock.call_later(10, lambda: note("second"))
    clock.call_later(60, lambda: note("never"))
    clock.advance(30)
    assert seen == [("first", 10), ("second", 10), ("third", 12)]
    assert clock.now() == _START + timedelta(seconds=30)


def test_an_action_may_let_time_pass_itself() -> None:
    clock = VirtualClock(_START)
    clock.call_later(1, lambda: clock.sleep(100))
    clock.advance(5)
    assert clock.now() == _START + timedelta(seconds=101)


def test_a_scaled_clock_runs_ahead_and_keeps_its_agenda() -> None:
    clock = ScaledClock(1000)
    done: list[datetime] = []
    start = clock.now()
    clock.call_later(20, lambda: done.append(clock.now()))
    clock.sleep(200)
    clock.stop()
    assert clock.now() - start >= timedelta(seconds=200)
    assert len(done) == 1
    assert done[0] - start >= timedelta(seconds=20)
