import threading

import pytest

from tests.actors.driving import settled, stepping
from tests.waiting import PATIENCE


def test_steps_follow_each_other_until_nothing_is_done() -> None:
    steps = iter([["a"], ["b", "c"], []])

    assert settled(lambda: next(steps), limit=3) == ["a", "b", "c"]


def test_an_actor_that_never_rests_is_told_so() -> None:
    with pytest.raises(RuntimeError, match="not settled after 3 steps"):
        settled(lambda: ["again"], limit=3)


def test_an_actor_that_dies_in_the_background_fails_the_test() -> None:
    died = threading.Event()

    def step() -> None:
        died.set()
        raise ValueError("cannot go on")

    with pytest.raises(ValueError, match="cannot go on"), stepping(step, interval=0):
        died.wait(PATIENCE)
