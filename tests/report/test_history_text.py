from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.report.history_text import history_document, history_text
from gitops.report.style import PLAIN
from tests.report.approval import approve
from tests.report.plans import DIGEST, REVISION, VALUES

RUNS = (
    {
        "revision": REVISION,
        "digest": DIGEST,
        "trigger": "push",
        "outcome": "Stopped",
        "message": "wave canary: garden-local/local: node worker-3 answers Failure",
        "writes": 2,
        "started": "2026-11-30T12:00:00Z",
        "finished": "2026-11-30T12:03:05Z",
    },
    {
        "revision": "f" * 40,
        "digest": "sha256:" + "f" * 64,
        "trigger": "schedule",
        "outcome": "Converged",
        "message": "",
        "writes": 0,
        "started": "2026-11-29T12:00:00Z",
        "finished": "2026-11-29T12:00:01Z",
    },
)
_KEYS = st.sampled_from([*RUNS[0], "else"])


def test_a_history_reads_as_approved() -> None:
    approve("history.txt", history_text("dev", RUNS, PLAIN))


def test_an_overlay_that_never_ran_says_so() -> None:
    assert history_text("dev", [], PLAIN) == "Overlay dev has never been reconciled.\n"


@pytest.mark.parametrize("started", ["", "yesterday", "2026-11-30T12:00:00"], ids=["none", "words", "no zone"])
def test_a_time_that_cannot_be_read_has_no_duration(started: str) -> None:
    *_, row = history_text("dev", [{**RUNS[0], "started": started}], PLAIN).splitlines()

    assert "3 min" not in row
    assert "Stopped" in row


def test_a_history_is_json() -> None:
    document = json.loads(json.dumps(history_document("dev", RUNS)))

    assert document["kind"] == "History"
    assert document["runs"] == list(RUNS)


@given(runs=st.lists(st.dictionaries(_KEYS, VALUES), min_size=1, max_size=3))
def test_whatever_is_stored_is_one_line_each(runs: list[dict[str, object]]) -> None:
    lines = history_text("dev", runs, PLAIN).removesuffix("\n").split("\n")

    assert len(lines) == len(runs) + 1
    assert all(line.isprintable() for line in lines)
