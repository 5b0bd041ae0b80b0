from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from gitops.errors import Rejected
from gitops.manifest import Manifest
from gitops.report.progress import ProgressLines
from gitops.report.style import PLAIN
from gitops.rollout.rollout import Rollout, RunOutcome
from tests.report.rollouts import SUCCEEDED, Landscape, desired_of, operation, overlay_of

WORKING = [operation("Processing", progress) for progress in (5, 6, 7, 42, 90)]


def told(landscape: Landscape) -> list[str]:
    """All lines of a run."""
    progress = ProgressLines(PLAIN)
    rollout = landscape.rollout()
    lines = progress.lines(rollout)
    landscape.run(rollout, lambda moved: lines.extend(progress.lines(moved)))
    return lines


def drifted(sizes: Mapping[str, int], statuses: Sequence[Manifest], *, at_once: int = 1) -> Landscape:
    """Waves whose every shoot is to be written, and then takes these statuses."""
    desired = desired_of(overlay_of(list(sizes), at_once=at_once), sizes)
    return Landscape(desired, dict.fromkeys(desired.shoots, statuses))


def test_a_run_is_told_shoot_by_shoot() -> None:
    assert told(drifted({"canary": 1, "fleet": 2}, [*WORKING, SUCCEEDED])) == [
        "canary  1 shoot",
        "canary  garden-local/canary  1 object written",
        "canary  garden-local/canary  waiting: Reconcile is Processing, 5 %",
        "canary  garden-local/canary  waiting: Reconcile is Processing, 42 %",
        "canary  garden-local/canary  waiting: Reconcile is Processing, 90 %",
        "canary  garden-local/canary  converged",
        "canary  passed: 1 converged",
        "fleet  2 shoots, at most 1 at a time",
        "fleet  garden-local/fleet-00  1 object written",
        "fleet  garden-local/fleet-00  waiting: Reconcile is Processing, 5 %",
        "fleet  garden-local/fleet-00  waiting: Reconcile is Processing, 42 %",
        "fleet  garden-local/fleet-00  waiting: Reconcile is Processing, 90 %",
        "fleet  garden-local/fleet-00  converged",
        "fleet  garden-local/fleet-01  1 object written",
        "fleet  garden-local/fleet-01  waiting: Reconcile is Processing, 5 %",
        "fleet  garden-local/fleet-01  waiting: Reconcile is Processing, 42 %",
        "fleet  garden-local/fleet-01  waiting: Reconcile is Processing, 90 %",
        "fleet  garden-local/fleet-01  converged",
        "fleet  passed: 2 converged",
    ]


def test_a_run_with_nothing_to_do_tells_its_waves_only() -> None:
    desired = desired_of(overlay_of(["canary", "fleet"]), {"canary": 1, "fleet": 200})

    lines = told(Landscape(desired, {}))

    assert [line for line in lines if "passed" in line] == [
        "canary  passed: 1 converged",
        "fleet  passed: 200 converged",
    ]
    assert not [line for line in lines if "garden-local/" in line]


def test_a_stop_names_the_shoot_and_the_waves_that_never_began_are_silent() -> None:
    landscape = drifted({"canary": 1, "fleet": 2}, [SUCCEEDED])
    landscape.refusals["garden-local/canary"] = Rejected("spec.purpose: Invalid value\n\x1b[2J", status=422)

    assert told(landscape) == [
        "canary  1 shoot",
        r"canary  garden-local/canary  failed: spec.purpose: Invalid value \x1b[2J",
        "canary  stopped: 1 failed",
    ]


def test_a_wave_says_until_when_it_soaks() -> None:
    desired = desired_of(overlay_of(["canary", "fleet"], soak=timedelta(minutes=10)), {"canary": 1, "fleet": 1})
    statuses = [*WORKING[:1], SUCCEEDED]
    landscape = Landscape(desired, dict.fromkeys(desired.shoots, statuses))

    soaking = [line for line in told(landscape) if "soaking" in line]

    assert soaking == ["canary  soaking until 12:10:05 UTC"]


def test_a_big_wave_is_told_in_few_lines() -> None:
    landscape = drifted({"fleet": 40}, [*WORKING, SUCCEEDED], at_once=10)

    lines = told(landscape)

    assert len(lines) < 30
    assert lines[0] == "fleet  40 shoots, at most 10 at a time"
    assert [line for line in lines if "waiting" in line] == [
        "fleet  garden-local/fleet-00  waiting: Reconcile is Processing, 5 %"
    ]
    assert lines[-1] == "fleet  passed: 40 converged"
    assert any("of 40 shoots done" in line for line in lines)


def test_a_failure_in_a_big_wave_is_named() -> None:
    landscape = drifted({"fleet": 20}, [SUCCEEDED], at_once=5)
    landscape.refusals["garden-local/fleet-15"] = Rejected("no", status=422)

    assert "fleet  garden-local/fleet-15  failed: no" in told(landscape)


def test_no_line_is_told_twice() -> None:
    lines = told(drifted({"a": 3, "b": 12}, [*WORKING, *WORKING, SUCCEEDED], at_once=7))

    assert len(lines) == len(set(lines))


def test_a_run_that_is_to_end_says_what_it_still_waits_for() -> None:
    landscape = drifted({"canary": 2}, [*WORKING, SUCCEEDED], at_once=2)
    progress = ProgressLines(PLAIN)
    lines: list[str] = []

    def stop_at_once(moved: Rollout) -> None:
        moved.stop(RunOutcome.WAITING, "somebody said so")
        lines.extend(progress.lines(moved))

    landscape.run(landscape.rollout(), stop_at_once)

    ending = "waiting for what is under way, Ctrl-C ends at once (somebody said so)"
    assert lines.count(ending) == 1
    assert lines.index(ending) < lines.index("canary  not finished: 2 waiting")
