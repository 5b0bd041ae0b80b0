"""Where a rollback goes."""

from __future__ import annotations

import pytest

from gitops.errors import Refused
from gitops.record.earlier import good_revision, remembered_revision

HISTORY = [
    {"revision": "c" * 40, "outcome": "Stopped"},
    {"revision": "d" * 40, "outcome": "Waiting"},
    {"revision": "b" * 40, "outcome": "Converged"},
    {"revision": "b" * 40, "outcome": "Converged"},
    {"revision": "ba" + "a" * 38, "outcome": "Converged"},
]
"""Newest first."""


@pytest.mark.parametrize(
    ("avoid", "good"),
    [
        ({"c" * 40}, "b" * 40),
        ({"b" * 40}, "ba" + "a" * 38),
        ({"c" * 40, "b" * 40}, "ba" + "a" * 38),
    ],
    ids=["a-bad-one", "one-that-converged", "once-more"],
)
def test_it_goes_to_the_newest_other_one_that_converged(avoid: set[str], good: str) -> None:
    assert good_revision(HISTORY, avoid) == good


def test_where_none_converged_there_is_nowhere_to_go() -> None:
    with pytest.raises(Refused, match=r"choose one of them with --to"):
        good_revision(HISTORY[:2], set())
    with pytest.raises(Refused, match=r"no other revision converged"):
        good_revision([], set())


def test_a_person_may_choose_any_that_is_remembered_by_the_beginning_of_its_name() -> None:
    assert remembered_revision(HISTORY, "c" * 7) == "c" * 40
    assert remembered_revision(HISTORY, "bb") == "b" * 40


@pytest.mark.parametrize(
    ("to", "says"),
    [("b", "several revisions .* 'b': they are bbbbbbbbbbbb, baaaaaaaaaaa"), ("f", "no revision"), ("", "no revision")],
)
def test_what_is_not_one_of_them_is_refused_with_those_that_are(to: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        remembered_revision(HISTORY, to)
