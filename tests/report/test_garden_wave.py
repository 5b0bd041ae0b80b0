"""The wave before all shoots, in every report."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from gitops.errors import Rejected
from gitops.gardener.installation_gate import SeedVerdict
from gitops.manifest import GARDEN, Ref
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, FieldChange, Plan, WavePlan
from gitops.plan.document import digest, plan_document
from gitops.record.record import Record, outcomes, record_document
from gitops.report.frame import Frames
from gitops.report.plan_diff import diff_files, plan_diff
from gitops.report.plan_markdown import plan_markdown
from gitops.report.plan_text import plan_text
from gitops.report.progress import ProgressLines
from gitops.report.record_text import record_text
from gitops.report.style import PLAIN
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import Result, RunOutcome, ShootResult, WaveOutcome, WaveResult
from gitops.rollout.step import ShootOutcome
from gitops.verdict import current, in_progress
from tests.report.plans import DIGEST, REVISION, unchanged
from tests.rollout.toy_garden import Garden, garden

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
VECTOR = ("helm", "values", "imageVectorOverwrite")
DEPLOYMENT = Ref(GARDEN, "core.gardener.cloud/v1", "ControllerDeployment", "", "nri")
REGISTRATION = Ref(GARDEN, "core.gardener.cloud/v1beta1", "ControllerRegistration", "", "nri")
CHANGES = (
    Change(DEPLOYMENT, Action.CONFIGURED, (FieldChange(VECTOR, ABSENT, "images: []\n", manager=""),)),
    Change(REGISTRATION, Action.UNCHANGED),
)
WAVES = (WavePlan("canary", (unchanged("garden-local/one"),)),)
PLAN = Plan("dev", REVISION, WAVES, garden=CHANGES)
WITHOUT = Plan("dev", REVISION, WAVES)
SEEDS = (
    SeedVerdict("nri", "a", current("it is well")),
    SeedVerdict("nri", "b", in_progress("condition Healthy is False")),
)


def record(outcome: ShootOutcome, *, writes: int = 1, message: str = "") -> Record:
    before = RegistrationsResult(outcome, writes, message, SEEDS)
    stopped = outcome is ShootOutcome.FAILED
    shoots = (ShootResult("garden-local/one", ShootOutcome.NOT_STARTED if stopped else ShootOutcome.CONVERGED, 0, ""),)
    wave = WaveResult("canary", WaveOutcome.NOT_STARTED if stopped else WaveOutcome.PASSED, shoots)
    run = RunOutcome.STOPPED if stopped else RunOutcome.CONVERGED
    result = Result(run, f"garden: {message}" if message else "", (wave,), before)
    return Record("dev", REVISION, DIGEST, "command", result, NOON, NOON + timedelta(seconds=5))


def test_it_is_the_first_wave_of_a_plans_document_without_a_shoot() -> None:
    garden, canary = plan_document(PLAN)["waves"]

    assert garden["name"] == "garden"
    assert [shoot["shoot"] for shoot in garden["shoots"]] == [None]
    assert [change["kind"] for change in garden["shoots"][0]["changes"]] == [
        "ControllerDeployment",
        "ControllerRegistration",
    ]
    assert canary["name"] == "canary"
    assert plan_document(PLAN)["summary"]["configured"] == 1
    assert PLAN.pending
    assert digest(PLAN) != digest(WITHOUT)


def test_a_plan_without_registrations_has_no_such_wave() -> None:
    assert [wave["name"] for wave in plan_document(WITHOUT)["waves"]] == ["canary"]
    assert "garden wave" not in plan_text(WITHOUT, DIGEST, PLAIN).lower()
    assert "registrations" not in plan_markdown(WITHOUT, DIGEST)


def test_it_comes_first_in_text_markdown_and_diff() -> None:
    text, markdown = plan_text(PLAN, DIGEST, PLAIN), plan_markdown(PLAN, DIGEST)

    assert text.index("Wave garden") < text.index("ControllerDeployment nri") < text.index("Wave canary")
    assert "    = 1 object unchanged\n" in text
    assert "| <code>garden</code> | registrations | 0 | 1 | 0 | 0 | 0 | 0 |" in markdown
    assert "<summary><code>garden</code>: registrations of extensions: 1 configured</summary>" in markdown
    assert plan_diff(PLAN, PLAIN).startswith("--- live/garden/ControllerDeployment/nri\n")
    assert [pair.ref for pair in diff_files(PLAN)] == [DEPLOYMENT]


def test_a_comment_without_room_for_it_stays_within_its_limit() -> None:
    short = plan_markdown(PLAN, DIGEST, limit=700)

    assert len(short) <= 700
    assert "<summary>" not in short


def test_it_is_the_first_wave_of_a_record_with_its_seeds() -> None:
    document = record_document(record(ShootOutcome.CONVERGED))
    garden: Any = document["waves"][0]

    assert (garden["name"], garden["outcome"]) == ("garden", "Passed")
    assert garden["shoots"] == [{"shoot": None, "outcome": "Converged", "writes": 1, "message": ""}]
    assert garden["seeds"][1] == {
        "extension": "nri",
        "seed": "b",
        "status": "InProgress",
        "message": "condition Healthy is False",
    }
    assert document["writes"] == 1
    assert outcomes(document) != outcomes(record_document(record(ShootOutcome.WAITING)))


def test_the_end_of_a_stopped_run_names_the_seeds_that_are_not_well() -> None:
    text = record_text(record(ShootOutcome.FAILED, message="nri on seed b: condition Healthy is False"), PLAIN)

    assert "  garden  Stopped     1 registration written, well in 1 of 2 places\n    nri on seed b\n" in text
    assert "nri on seed a" not in text
    assert "Wave garden stopped. Garden: nri on seed b" in text
    assert "Nothing was written to the 1 shoot of later waves." in text


def told(landscape: Garden) -> list[str]:
    """All lines of a run, and its last frame."""
    progress, frames = ProgressLines(PLAIN), Frames(landscape.world.time.now())
    rollout = landscape.rollout()
    lines = progress.lines(rollout)
    landscape.run(rollout, on_change=lambda moved: lines.extend(progress.lines(moved)))
    return [*lines, "", *frames.lines(rollout, landscape.world.time.now(), PLAIN)]


def test_progress_tells_what_is_written_and_waited_for_before_the_first_wave() -> None:
    lines = told(garden())

    assert lines[:5] == [
        "garden  2 registrations written",
        "garden  waiting: what was written is to be looked at",
        (
            "garden  waiting: nri on seed seed: it has not caught up with ControllerDeployment nri: "
            "deploymentRef is at None"
        ),
        "garden  passed: 2 registrations written, well in 1 of 1 place",
        "canary  1 shoot",
    ]
    frame = lines[lines.index("") + 1 :]
    assert frame[0] == "garden  2 registrations written, well in 1 of 1 place"


def test_a_garden_wave_with_nothing_to_do_is_not_told() -> None:
    landscape = garden()
    landscape.run()

    assert not [line for line in told(landscape) if line.startswith("garden  waiting")]


def test_progress_of_a_stopped_garden_wave_says_why_and_opens_no_wave() -> None:
    lines = told(garden(on_write=lambda: Rejected("spec: Invalid value", status=422)))

    assert lines[0] == "garden  stopped: spec: Invalid value"
    assert not [line for line in lines[: lines.index("")] if line.startswith("canary")]
