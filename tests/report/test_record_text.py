from __future__ import annotations

from datetime import timedelta

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.record.record import Record
from gitops.report.record_text import Garden, next_steps, record_text
from gitops.report.style import PLAIN, Colour, Detail, Style
from gitops.rollout.rollout import Result, RunOutcome, ShootResult, WaveOutcome, WaveResult
from gitops.rollout.step import ShootOutcome
from tests.report.approval import approve
from tests.report.plans import DIGEST, REVISION, TEXTS
from tests.report.rollouts import NOON

HIBERNATED = "it is hibernated: its API server is off and nothing in it can be checked"
NODE_FAILED = (
    "BalloonsPolicy kube-system/default: node worker-3 answers Failure: failed to apply balloons configuration: "
    "cannot reserve 9 CPUs of 8 on package 0"
)


def record(outcome: RunOutcome, message: str, *waves: WaveResult) -> Record:
    """A run of 3 minutes and 5 seconds."""
    result = Result(outcome, message, waves)
    return Record("dev", REVISION, DIGEST, "command", result, NOON, NOON + timedelta(minutes=3, seconds=5))


def shoots(outcome: ShootOutcome, message: str, names: list[str], writes: int = 0) -> tuple[ShootResult, ...]:
    """Shoots that fared alike."""
    return tuple(ShootResult(f"garden-local/{name}", outcome, writes, message) for name in names)


CANARY = WaveResult("canary", WaveOutcome.PASSED, shoots(ShootOutcome.CONVERGED, "", ["local"], 2))
NOT_STARTED = WaveResult("fleet", WaveOutcome.NOT_STARTED, shoots(ShootOutcome.NOT_STARTED, "", ["a", "b", "c"]))
RECORDS = {
    "converged": record(RunOutcome.CONVERGED, "", CANARY),
    "nothing": record(
        RunOutcome.CONVERGED,
        "",
        WaveResult("canary", WaveOutcome.PASSED, shoots(ShootOutcome.CONVERGED, "", ["local"])),
    ),
    "stopped": record(
        RunOutcome.STOPPED,
        f"wave canary: garden-local/local: {NODE_FAILED}",
        WaveResult("canary", WaveOutcome.STOPPED, shoots(ShootOutcome.FAILED, NODE_FAILED, ["local"], 2)),
        NOT_STARTED,
    ),
    "allowed-failures": record(
        RunOutcome.STOPPED,
        f"garden-local/a: {NODE_FAILED}",
        CANARY,
        WaveResult(
            "fleet",
            WaveOutcome.PASSED,
            (*shoots(ShootOutcome.CONVERGED, "", ["b"], 1), *shoots(ShootOutcome.FAILED, NODE_FAILED, ["a"], 1)),
        ),
    ),
    "waiting": record(
        RunOutcome.WAITING,
        "; ".join(f"garden-local/{name}: {HIBERNATED}" for name in "abcdefgh"),
        CANARY,
        WaveResult(
            "fleet",
            WaveOutcome.PASSED,
            (
                *shoots(ShootOutcome.DEFERRED, HIBERNATED, list("abcdefgh")),
                *shoots(ShootOutcome.QUARANTINED, "not answering since 11:02:03: connection refused", ["q"], 1),
            ),
        ),
    ),
    "interrupted": record(
        RunOutcome.WAITING,
        "interrupted; the next run goes on from here",
        WaveResult(
            "canary", WaveOutcome.WAITING, shoots(ShootOutcome.WAITING, "Reconcile is Processing, 42 %", ["local"], 1)
        ),
        NOT_STARTED,
    ),
    "failed": record(
        RunOutcome.FAILED, "the garden cannot be read any more: GET /apis: connection refused", CANARY, NOT_STARTED
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_reads_as_approved(name: str) -> None:
    approve(f"record-{name}.txt", record_text(RECORDS[name], PLAIN))


def test_colours_only_repeat_what_the_plain_text_says() -> None:
    coloured = record_text(RECORDS["stopped"], Style(colour=Colour.ANSI))

    assert coloured != click.unstyle(coloured)
    assert click.unstyle(coloured) == record_text(RECORDS["stopped"], PLAIN)


@pytest.mark.parametrize("name", ["converged", "interrupted", "stopped"])
def test_after_a_run_in_a_sandbox_nothing_is_promised_of_the_next(name: str) -> None:
    steps = next_steps(RECORDS[name], Garden.PASSING)

    assert "The landscape ended with this run." in steps
    assert "`gitops sandbox dev`" in steps[-1]
    assert not any("Run `gitops reconcile dev` again" in step or "From here on" in step for step in steps)


def test_many_messages_are_cut_unless_everything_is_wanted() -> None:
    failed = tuple(ShootResult(f"a/s-{n}", ShootOutcome.FAILED, 0, f"message {n}") for n in range(500))
    run = record(RunOutcome.STOPPED, "", WaveResult("fleet", WaveOutcome.STOPPED, failed))

    assert "and 480 more shoots" in record_text(run, PLAIN)
    assert "message 499" in record_text(run, Style(detail=Detail.EVERYTHING))


def test_failures_are_told_before_everything_else() -> None:
    waiting = tuple(ShootResult(f"a/s-{n}", ShootOutcome.WAITING, 0, f"message {n}") for n in range(50))
    failed = ShootResult("a/z", ShootOutcome.FAILED, 0, "the one that matters")
    run = record(RunOutcome.STOPPED, "", WaveResult("fleet", WaveOutcome.STOPPED, (*waiting, failed)))

    assert "the one that matters" in record_text(run, PLAIN)


@given(
    run=st.builds(
        record,
        st.sampled_from(RunOutcome),
        TEXTS,
        st.builds(
            WaveResult,
            TEXTS,
            st.sampled_from(WaveOutcome),
            st.lists(st.builds(ShootResult, TEXTS, st.sampled_from(ShootOutcome), st.integers(0, 3), TEXTS)).map(tuple),
        ),
    )
)
def test_every_run_is_told_without_forged_lines_and_with_a_next_step(run: Record) -> None:
    text = record_text(run, PLAIN)

    assert next_steps(run)
    assert all(line.isprintable() for line in text.split("\n"))
    assert sum(line.startswith("→ ") for line in text.split("\n")) == len(next_steps(run))
