"""How often a run listens, and that no write begins on knowledge that is older."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from gitops.control.control import NOTHING_ASKED, Control, Hold, Suspension
from gitops.control.watch import Watch
from gitops.errors import Suspended, Unreachable
from tests.waiting import PATIENCE

JANE = Suspension("jane", datetime(2026, 11, 30, 10, tzinfo=UTC), "disks are failing")


BAD = "1" * 40


class Garden:
    """What is asked, and how often somebody read it."""

    def __init__(self, asked: Control = NOTHING_ASKED) -> None:
        self.asked = asked
        self.read = 0
        self.time = 0.0

    def load(self) -> Control:
        self.read += 1
        return self.asked

    def watch(self, older: float = 1) -> Watch:
        return Watch(BAD, self.load, older=timedelta(seconds=older), seconds=lambda: self.time)


def test_it_is_read_once_in_a_while_however_many_ask() -> None:
    garden = Garden()
    watch = garden.watch()

    for _ in range(100):
        watch.allow("a/b")
        garden.time += 0.1

    assert garden.read == 10


def test_a_suspension_is_heard_when_the_time_has_come() -> None:
    garden = Garden()
    watch = garden.watch()
    watch.allow("a/b")
    garden.asked = Control(JANE)
    garden.time = 0.9
    watch.allow("a/b")
    garden.time = 1.0

    with pytest.raises(Suspended, match="the overlay is suspended by jane since 2026-11-30T10:00:00Z: disks") as told:
        watch.allow("a/b")
    assert told.value.shoot is None
    with pytest.raises(Suspended):
        watch.allow(None)


def test_a_run_of_what_is_rolled_back_meanwhile_ends_and_no_other() -> None:
    garden = Garden(Control(hold=Hold(BAD, "2" * 40, "jane", JANE.at)))

    with pytest.raises(Suspended, match="revision 222222222222 holds instead of 111111111111") as told:
        garden.watch().allow("a/b")
    assert told.value.shoot is None
    Watch("2" * 40, garden.load, older=timedelta(0)).allow("a/b")


def test_a_run_of_what_was_gone_back_to_ends_when_somebody_goes_further_back() -> None:
    first = Hold(BAD, "2" * 40, "jane", JANE.at)
    garden = Garden(Control(hold=first))
    back = Watch("2" * 40, garden.load, older=timedelta(0), under=first)
    by_git = Watch("4" * 40, garden.load, older=timedelta(0), under=first)
    back.allow("a/b")
    garden.asked = Control(hold=Hold(BAD, "3" * 40, "jane", JANE.at))

    with pytest.raises(Suspended, match="revision 333333333333 holds"):
        back.allow("a/b")
    by_git.allow("a/b")


def test_a_suspended_shoot_keeps_only_itself_from_being_written() -> None:
    garden = Garden(Control(shoots={"a/b": JANE}))
    watch = garden.watch(0)

    watch.allow("a/c")
    watch.allow(None)
    with pytest.raises(Suspended) as told:
        watch.allow("a/b")
    assert told.value.shoot == "a/b"


def test_what_cannot_be_read_is_not_taken_for_a_permission() -> None:
    def silent() -> Control:
        raise Unreachable("no answer")

    watch = Watch(BAD, silent, older=timedelta(0))

    for _ in range(2):
        with pytest.raises(Unreachable):
            watch.allow("a/b")


def test_others_wait_while_one_reads() -> None:
    reading, answer = threading.Event(), threading.Event()
    allowed: list[str] = []

    def slow() -> Control:
        reading.set()
        answer.wait(PATIENCE)
        return Control(JANE)

    watch = Watch(BAD, slow, older=timedelta(0))

    def write(name: str) -> None:
        try:
            watch.allow(name)
        except Suspended:
            return
        allowed.append(name)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a/b", "a/c")]
    for thread in threads:
        thread.start()
    reading.wait(PATIENCE)
    answer.set()
    for thread in threads:
        thread.join(PATIENCE)

    assert allowed == []
