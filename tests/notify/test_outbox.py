from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.errors import CredentialsError
from gitops.notify.outbox import Outbox, Patience
from gitops.notify.secret import SecretFile
from gitops.notify.web import Undelivered
from tests.kube.in_memory import Naps

LONG = 10.0
"""Real seconds that nothing here needs."""


class Receiver:
    """Takes messages, after as many refusals as it is told."""

    def __init__(self, *refusals: Exception) -> None:
        self.taken: list[str] = []
        self.attempts: list[str] = []
        self.refusals = list(refusals)

    def __call__(self, message: str) -> None:
        self.attempts.append(message)
        if self.refusals:
            raise self.refusals.pop(0)
        self.taken.append(message)


def passing(after: float | None = None) -> Undelivered:
    return Undelivered("HTTP 503", passing=True, retry_after=after)


@contextmanager
def outbox(
    receiver: Receiver, told: list[str] | None = None, naps: Naps | None = None, limit: int = 1000
) -> Iterator[Outbox[str]]:
    patience = Patience(uniform=lambda: 1.0, sleep=naps or Naps())
    box = Outbox("the forge", receiver, (told if told is not None else []).append, patience=patience, limit=limit)
    yield box
    box.close(LONG)


def test_messages_arrive_in_their_order() -> None:
    receiver = Receiver()
    with outbox(receiver) as box:
        for number in range(20):
            box.put(number, str(number))

    assert receiver.taken == [str(number) for number in range(20)]


def test_what_fails_for_a_while_is_sent_again_with_growing_pauses() -> None:
    naps, told = Naps(), list[str]()
    receiver = Receiver(*(passing() for _ in range(4)))
    with outbox(receiver, told, naps) as box:
        box.put("a", "failed")

    assert receiver.taken == ["failed"]
    assert naps.seconds == [1, 2, 4, 8]
    assert told == []


def test_a_receiver_that_asks_for_time_gets_it() -> None:
    naps = Naps()
    with outbox(Receiver(passing(30), passing(0)), naps=naps) as box:
        box.put("a", "x")

    assert naps.seconds == [31, 2]


def test_a_limit_that_is_lifted_within_the_hour_is_waited_for() -> None:
    receiver, naps = Receiver(passing(3590)), Naps()
    with outbox(receiver, naps=naps) as box:
        box.put("a", "x")

    assert receiver.taken == ["x"]
    assert naps.seconds == [3591]


def test_a_receiver_that_is_away_for_ten_minutes_is_told_afterwards() -> None:
    naps = Naps()
    taken: list[str] = []

    def deliver(message: str) -> None:
        if sum(naps.seconds) < 600:
            raise passing()
        taken.append(message)

    box = Outbox("the forge", deliver, taken.append, patience=Patience(uniform=lambda: 0.0, sleep=naps))
    box.put("a", "x")
    box.close(LONG)

    assert taken == ["x"]


def test_no_time_is_given_beyond_all_patience() -> None:
    naps, told = Naps(), list[str]()
    receiver = Receiver(passing(7200))
    with outbox(receiver, told, naps) as box:
        box.put("a", "x")
        box.put("b", "y")

    assert naps.seconds == []
    assert receiver.taken == ["y"]
    assert told == ["the forge was not told of x: HTTP 503"]


def test_what_is_refused_for_good_is_told_at_once() -> None:
    told: list[str] = []
    receiver = Receiver(Undelivered("HTTP 422: no such commit", passing=False))
    with outbox(receiver, told) as box:
        box.put("a", "x")
        box.put("b", "y")

    assert receiver.attempts == ["x", "y"]
    assert told == ["the forge was not told of x: HTTP 422: no such commit"]


def test_attempts_end() -> None:
    told: list[str] = []
    receiver = Receiver(*(passing() for _ in range(1000)))
    with outbox(receiver, told) as box:
        box.put("a", "x")
        box.flush(LONG)

    assert len(receiver.attempts) == 30
    assert told == ["the forge was not told of x: HTTP 503"]


def test_a_secret_that_is_being_replaced_is_read_again(tmp_path: Path) -> None:
    file = SecretFile(tmp_path / "token", "the token")
    taken: list[str] = []

    def sleep(_: float) -> None:
        file.path.write_text("new")

    box = Outbox[str](
        "the forge", lambda message: taken.append(message + file.read()), taken.append, patience=Patience(sleep=sleep)
    )
    box.put("a", "x")
    box.close(LONG)

    assert taken == ["xnew"]


def test_a_newer_message_overtakes_one_that_is_still_being_tried() -> None:
    receiver = Receiver(passing())
    slept = threading.Event()
    box: Outbox[str]

    def sleep(_: float) -> None:
        box.put("b", "other")
        box.put("a", "success")
        slept.set()

    box = Outbox("the forge", receiver, receiver.taken.append, patience=Patience(sleep=sleep))
    box.put("a", "pending")
    assert slept.wait(LONG)
    box.close(LONG)

    assert receiver.attempts == ["pending", "other", "success"]
    assert receiver.taken == ["other", "success"]


def test_closing_gives_up_in_time_and_tells_what_was_lost_and_why() -> None:
    told: list[str] = []
    tried = threading.Event()

    def deliver(_: str) -> None:
        tried.set()
        raise Undelivered("HTTP 503", passing=True)

    box = Outbox("the forge", deliver, told.append, patience=Patience(first=3600, longest=3600, total=1e9))
    box.put("a", "x")
    box.put("b", "y")
    assert tried.wait(LONG)
    box.close(0.05)

    assert told[0].startswith("the forge was not told of x: no time was left")
    assert told[1].startswith("the forge was not told of y: no time was left")
    assert len(told) == 2
    box.put("c", "z")
    assert told[2] == "the forge was not told of z: nothing more is sent"


def test_an_attempt_that_hangs_does_not_hold_up_the_end() -> None:
    told: list[str] = []
    begun, release = threading.Event(), threading.Event()

    def deliver(_: str) -> None:
        begun.set()
        release.wait(LONG)

    box = Outbox[str]("the forge", deliver, told.append)
    box.put("a", "x")
    assert begun.wait(LONG)
    box.close(0.05)
    release.set()

    assert told == ["the forge was not told of x: no time was left"]


def test_the_queue_is_bounded() -> None:
    told: list[str] = []
    release = threading.Event()
    taken: list[str] = []

    def deliver(message: str) -> None:
        release.wait(LONG)
        taken.append(message)

    box = Outbox[str]("the forge", deliver, told.append, limit=3)
    for number in range(10):
        box.put(number, str(number))
    release.set()
    box.close(LONG)

    assert taken[-3:] == ["7", "8", "9"]
    assert len(taken) + len(told) == 10
    assert all("too many messages wait" in text for text in told)


def test_a_bug_in_telling_is_told_and_ends_nothing() -> None:
    told: list[str] = []
    receiver = Receiver(KeyError("s3cr3t"))
    with outbox(receiver, told) as box:
        box.put("a", "x")
        box.put("b", "y")

    assert receiver.taken == ["y"]
    assert "this is a bug" in told[0]
    assert "s3cr3t" not in told[0]


def test_a_file_that_never_comes_is_told() -> None:
    told: list[str] = []
    with outbox(Receiver(*(CredentialsError("the token cannot be read") for _ in range(99))), told) as box:
        box.put("a", "x")

    assert told == ["the forge was not told of x: the token cannot be read"]


@settings(max_examples=60)
@given(
    messages=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=30),
    faults=st.lists(st.booleans(), max_size=60),
    lost=st.lists(st.booleans(), max_size=60),
)
def test_the_last_that_a_receiver_holds_is_the_last_that_was_put(
    messages: list[tuple[str, int]], faults: list[bool], lost: list[bool]
) -> None:
    held: dict[str, int] = {}
    bad, gone = iter(faults), iter(lost)

    def deliver(message: tuple[str, int]) -> None:
        fails = next(bad, False)
        if not fails or next(gone, False):  # of some failures only the answer is lost
            held[message[0]] = message[1]
        if fails:
            raise passing()

    patience = Patience(attempts=100, total=1e9, sleep=lambda _: None)
    told: list[str] = []
    box = Outbox("the forge", deliver, told.append, patience=patience)
    for message in messages:
        box.put(message[0], message)
    box.close(LONG)

    assert held == dict(messages)
    assert told == []
