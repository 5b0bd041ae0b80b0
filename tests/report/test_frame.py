from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import click

from gitops.errors import Rejected
from gitops.manifest import Manifest
from gitops.report.frame import Frames
from gitops.report.style import PLAIN, Colour, Style
from gitops.rollout.rollout import Rollout, RunOutcome
from tests.report.rollouts import NOON, SUCCEEDED, Landscape, desired_of, operation, overlay_of

WORKING = [operation("Processing", progress) for progress in (5, 42, 90)]
FULL = "━" * 24
EMPTY = "╌" * 24


def drifted(
    sizes: Mapping[str, int], statuses: Sequence[Manifest], *, at_once: int = 1, soak: timedelta = timedelta(0)
) -> Landscape:
    """Waves whose every shoot is to be written, and then takes these statuses."""
    desired = desired_of(overlay_of(list(sizes), at_once=at_once, soak=soak), sizes)
    return Landscape(desired, dict.fromkeys(desired.shoots, statuses))


def frames(landscape: Landscape, style: Style = PLAIN) -> list[list[str]]:
    """What a display would show in every turn of a run."""
    drawing = Frames(NOON)
    shown: list[list[str]] = []
    landscape.run(landscape.rollout(), lambda moved: shown.append(drawing.lines(moved, landscape.now(), style)))
    return shown


def test_a_frame_shows_every_wave_and_who_is_under_way() -> None:
    shown = frames(drifted({"canary": 1, "fleet": 4, "rest": 9}, [*WORKING, SUCCEEDED], at_once=2))

    assert [
        f"canary  {FULL}  1 of 1: 1 converged",
        f"fleet   {EMPTY}  0 of 4: 2 under way",
        "  garden-local/fleet-00  Reconcile is Processing, 5 %",
        "  garden-local/fleet-01  at work",
        f"rest    {EMPTY}  0 of 9",
        "2 objects written in 15 s",
    ] in shown
    assert shown[-1] == [
        f"canary  {FULL}  1 of 1: 1 converged",
        f"fleet   {FULL}  4 of 4: 4 converged",
        f"rest    {FULL}  9 of 9: 9 converged",
        "14 objects written in 2 min",
    ]


def test_a_frame_before_anything_happened_is_queued() -> None:
    rollout = drifted({"fleet": 4}, [SUCCEEDED]).rollout()

    assert Frames(NOON).lines(rollout, NOON, PLAIN) == [
        f"fleet  {EMPTY}  0 of 4: queued",
        "0 objects written in 0 s",
    ]


def test_a_soak_is_counted_down() -> None:
    landscape = drifted({"canary": 1, "fleet": 1}, [*WORKING, SUCCEEDED], soak=timedelta(minutes=2))
    rollout = landscape.rollout()
    soaking: list[str] = []

    def look(moved: Rollout) -> None:
        if moved.soaking_until is not None:
            drawing, now = Frames(NOON), landscape.now()
            soaking.extend(drawing.lines(moved, now + timedelta(seconds=s), PLAIN)[0] for s in (0, 30, 500))

    landscape.run(rollout, look)

    assert soaking[:3] == [
        f"canary  {FULL}  1 of 1: 1 converged; soaking, 2 min to go",
        f"canary  {FULL}  1 of 1: 1 converged; soaking, 1 min 30 s to go",
        f"canary  {FULL}  1 of 1: 1 converged; soaking, 0 s to go",
    ]


def test_what_went_wrong_stays_in_sight() -> None:
    landscape = drifted({"fleet": 3}, [*WORKING, SUCCEEDED], at_once=3)
    landscape.refusals["garden-local/fleet-01"] = Rejected("no\x1b[2J", status=422)

    last = frames(landscape)[-1]

    assert r"  garden-local/fleet-01  failed: no\x1b[2J" in last


def test_a_frame_says_that_the_run_is_to_end() -> None:
    landscape = drifted({"fleet": 2}, [*WORKING, SUCCEEDED], at_once=2)
    rollout = landscape.rollout()
    feet: list[str] = []

    def stop(moved: Rollout) -> None:
        moved.stop(RunOutcome.WAITING, "somebody\nsaid so")
        feet.append(Frames(NOON).lines(moved, NOON, PLAIN)[-1])

    landscape.run(rollout, stop)

    assert feet[0].endswith("; waiting for what is under way, Ctrl-C ends at once (somebody said so)")
    assert feet[-1] == "2 objects written in 0 s"


def test_a_frame_stays_small() -> None:
    waves = {f"wave-{number}": 20 for number in range(12)}
    landscape = drifted(waves, [*WORKING, SUCCEEDED], at_once=20)

    shown = frames(landscape, Style(width=60))

    assert max(map(len, shown)) <= 20
    assert max(len(line) for lines in shown for line in lines) <= 60
    assert any("  and 12 more" in lines for lines in shown)
    assert any("and 8 more waves" in lines for lines in shown)
    assert shown[-1][0] == "8 waves passed"


def test_colours_only_repeat_what_the_plain_frame_says() -> None:
    sizes = {"canary": 1, "fleet": 2}
    coloured = frames(drifted(sizes, [*WORKING, SUCCEEDED]), Style(colour=Colour.ANSI))
    plain = frames(drifted(sizes, [*WORKING, SUCCEEDED]))

    assert coloured != plain
    assert [[click.unstyle(line) for line in lines] for lines in coloured] == plain
