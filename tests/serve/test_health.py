from __future__ import annotations

import json
import threading
from datetime import UTC, datetime

import pytest

from gitops.errors import CredentialsError, Forbidden, GitopsError, Refused, SourceError, Unreachable, Untrusted
from gitops.observer import Run
from gitops.serve.health import STUCK, Check, Health
from tests.serve.listening import served

RUN = Run("1", "dev", "1" * 40, "push", datetime(2026, 11, 30, tzinfo=UTC))


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def failing(checks: list[Check]) -> list[str]:
    return [check.name for check in checks if not check.ok]


def readable() -> Health:
    """A process that listens and has read its repository."""
    health = Health(Seconds())
    health.listening()
    health.repository(None)
    return health


def test_before_anything_happened_it_lives_and_is_not_ready() -> None:
    health = Health(Seconds())

    assert failing(health.live()) == []
    assert failing(health.ready()) == ["listening", "repository"]


def test_it_is_ready_once_it_listens_and_has_read_the_repository() -> None:
    """A garden is asked by runs only; one that nobody asked yet is no reason to refuse the push that would ask it."""
    assert failing(readable().ready()) == []


def test_a_repository_that_cannot_be_read_is_told_without_saying_why() -> None:
    health = readable()
    health.repository(SourceError("cannot fetch https://ada:password@git.example/fleet.git"))

    (check,) = [check for check in health.ready() if not check.ok]
    assert check.name == "repository"
    assert "password" not in check.message
    assert "git.example" not in check.message
    assert failing(health.live()) == []


def test_a_commit_that_nobody_signed_does_not_keep_the_signed_one_from_being_told() -> None:
    health = readable()
    health.repository(Untrusted("nobody signed it", rule="unsigned"))

    assert failing(health.ready()) == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Unreachable("no answer"), ["garden"]),
        (CredentialsError("none"), ["garden"]),
        (Forbidden("no"), []),
        (Refused("another garden"), []),
    ],
    ids=["unreachable", "no credentials", "forbidden", "refused"],
)
def test_a_garden_that_refuses_answers_and_one_that_is_silent_does_not(error: GitopsError, expected: list[str]) -> None:
    health = readable()
    health.failed(RUN, error)

    assert failing(health.ready()) == expected


def test_the_end_makes_it_not_ready_while_it_still_lives() -> None:
    health = readable()
    thread = threading.Thread(target=health.beat, name="worker-1")
    thread.start()
    thread.join()
    health.ending()

    assert failing(health.ready()) == ["listening"]
    assert failing(health.live()) == []


def test_a_thread_that_has_ended_is_told() -> None:
    health = readable()
    thread = threading.Thread(target=health.beat, name="worker-1")
    thread.start()
    thread.join()

    assert failing(health.live()) == ["thread worker-1"]


def test_a_thread_that_does_not_move_is_told_and_one_that_moves_again_is_well() -> None:
    seconds = Seconds()
    health = Health(seconds)
    health.beat()
    seconds.now = STUCK + 1

    (name,) = failing(health.live())
    health.beat()

    assert name == f"thread {threading.current_thread().name}"
    assert failing(health.live()) == []


def test_each_check_can_be_asked_for_by_itself() -> None:
    """A probe may wait for the repository alone, so that a pod that starts while the garden is away is not ended."""
    with served() as server:
        answers = {
            path: server.get(path) for path in ("/readyz", "/readyz/repository", "/readyz/garden", "/readyz/moon")
        }

    assert {path: status for path, (status, _) in answers.items()} == {
        "/readyz": 503,
        "/readyz/repository": 503,
        "/readyz/garden": 200,
        "/readyz/moon": 404,
    }
    assert [check["name"] for check in json.loads(answers["/readyz/repository"][1])["checks"]] == ["repository"]
