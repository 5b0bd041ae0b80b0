from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.serve.logs import Form, JsonFormatter, LogObserver, json_logging, logging_to
from tests.report.plans import TEXTS
from tests.serve.fleets import Fleet


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Logging is the process's own: leave it as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def stream() -> io.StringIO:
    stream = io.StringIO()
    json_logging(stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_run_is_told_from_its_beginning_to_its_end(stream: io.StringIO) -> None:
    Fleet("dev", {"canary": 1, "fleet": 2}, at_once=2).rollout(LogObserver())

    told = lines(stream)
    assert told[0]["message"] == "a run begins, over 3 shoots"
    assert told[1]["message"].startswith("plan sha256:")
    assert "3 to configure" in told[1]["message"]
    assert [line["wave"] for line in told if line["message"].startswith("wave passed")] == ["canary", "fleet"]
    assert told[-1]["message"].startswith("Converged: 3 objects written in ")
    for line in told:
        assert (line["overlay"], line["run"], line["trigger"]) == ("dev", "run-of-dev", "push")
        assert len(line["revision"]) == 40


def test_every_outcome_of_a_shoot_is_told_once(stream: io.StringIO) -> None:
    fleet = Fleet("dev", {"fleet": 4}, at_once=4)
    fleet.refuse("garden-local/fleet-02", "denied")
    fleet.rollout(LogObserver(monotonic=iter(range(10_000)).__next__))

    told = [(line["shoot"], line["level"], line["message"]) for line in lines(stream) if "shoot" in line]
    assert ("garden-local/fleet-02", "error", "failed: denied") in told
    assert len(told) == len(set(told))
    ends = [shoot for shoot, _, message in told if message.startswith("converged")]
    assert len(ends) == len(set(ends))


def test_whom_a_run_waits_for_is_told(stream: io.StringIO) -> None:
    fleet, observer = Fleet("dev", {"all": 1}), LogObserver()
    fleet.plan(observer)
    observer.waiting(fleet.run, "cron-1")

    *_, line = lines(stream)
    assert (line["message"], line["run"]) == ("another run is at work: waiting for cron-1", fleet.run.id)


def test_shoots_that_are_as_declared_are_no_news(stream: io.StringIO) -> None:
    Fleet("dev", {"all": 50}, lambda *_: False).rollout(LogObserver())

    assert not [line for line in lines(stream) if "shoot" in line]


def test_what_happens_in_between_is_told_by_and_by(stream: io.StringIO) -> None:
    observer = LogObserver(monotonic=lambda: 0.0)
    with Fleet("dev", {"all": 30}, at_once=30).under_way(observer, 20):
        told = [line for line in lines(stream) if "shoot" in line]

    assert len(told) <= 30


def test_a_run_that_could_not_go_on_says_why(stream: io.StringIO) -> None:
    Fleet("dev", {"all": 1}).fail(LogObserver(), "wrong garden:\nit says x")

    assert lines(stream)[-1]["level"] == "error"
    assert lines(stream)[-1]["message"] == "the run could not go on: wrong garden:\nit says x"


@given(message=TEXTS | st.text(max_size=30), shoot=TEXTS | st.text(max_size=30))
@pytest.mark.parametrize("form", Form, ids=lambda form: form.value)
def test_no_text_breaks_out_of_its_line(form: Form, message: str, shoot: str) -> None:
    stream = io.StringIO()
    logging_to(stream, form)

    logging.getLogger("x").error("%s", message, extra={"shoot": shoot})

    text = stream.getvalue()
    assert text.endswith("\n")
    assert text.removesuffix("\n").isprintable()
    if form is Form.JSON:
        line = json.loads(text)
        assert line["message"] == message
        assert line.get("shoot", "") == shoot


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer s3cr3t-t0ken-value",
        "https://someone:s3cr3t@git.example.invalid/x.git",
        "ghp_s3cr3ts3cr3ts3cr3t",
        "-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----",
    ],
    ids=["bearer", "url", "forge token", "private key"],
)
def test_what_looks_like_a_credential_is_left_out(stream: io.StringIO, text: str) -> None:
    logging.getLogger("library").warning("sending %s", text)

    assert "s3cr3t" not in stream.getvalue()
    assert "(sensitive)" in stream.getvalue()


def test_an_error_of_a_library_comes_with_its_traceback_in_one_line(stream: io.StringIO) -> None:
    try:
        int("in\nthere")
    except ValueError:
        logging.getLogger("library").exception("oh")

    (line,) = lines(stream)
    assert (line["level"], line["message"], line["logger"]) == ("error", "oh", "library")
    assert "ValueError: invalid literal for int() with base 10: 'in\\nthere'" in line["error"]


def test_warnings_go_the_same_way(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    (line,) = lines(stream)
    assert "old" in line["message"]


def test_a_library_that_logs_wrongly_is_heard_nevertheless() -> None:
    record = logging.LogRecord("library", logging.WARNING, "x.py", 1, "%d", ("not a number",), None)

    assert "not a number" in json.loads(JsonFormatter().format(record))["message"]


def test_text_is_for_people() -> None:
    stream = io.StringIO()
    logging_to(stream, Form.TEXT)
    Fleet("dev", {"all": 1}).rollout(LogObserver())

    last = stream.getvalue().splitlines()[-1]
    assert "info    Converged: 1 object written" in last
    assert last.endswith("[overlay=dev run=run-of-dev trigger=push]")
