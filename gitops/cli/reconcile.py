"""The command that writes."""

from __future__ import annotations

import json
from datetime import timedelta

import click

from gitops.cli.exits import Exit
from gitops.cli.options import (
    Duration,
    Source,
    chosen_overlay,
    output_option,
    overlay_argument,
    repository_options,
    world_options,
)
from gitops.cli.progress import Show, shown_progress
from gitops.cli.telling import Telling, telling_options, warnings_at_the_end
from gitops.cli.terminal import stderr_style, stdout_style
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.desired.whole import compose_whole
from gitops.observer import Observer, Observers, Run
from gitops.pipeline import Pace
from gitops.pipeline import reconcile as run_once
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import record_document
from gitops.report.plan_text import plan_text
from gitops.report.record_text import Garden, record_text
from gitops.rollout.executor import INTERRUPTED
from gitops.rollout.rollout import Result, Rollout, RunOutcome

_EXITS = {
    RunOutcome.CONVERGED: Exit.OK,
    RunOutcome.WAITING: Exit.WAITING,
    RunOutcome.STOPPED: Exit.STOPPED,
    RunOutcome.FAILED: Exit.ERROR,
}
_ENDED_AT_ONCE = """
Ended at once; of this run no record is kept. Whether something was written that was under way shows in the next run,
which looks first and goes on: `gitops reconcile {overlay}`."""


@click.command()
@overlay_argument
@repository_options
@world_options
@telling_options
@output_option("text", "json")
@click.option("--deadline", type=Duration(), help="End the run after this time, wherever it is.")
@click.option(
    "--poll-interval",
    type=Duration(),
    default=timedelta(seconds=5),
    show_default="5s",
    help="Time between two looks at something that is being waited for.",
)
@click.option(
    "--lock-timeout",
    type=Duration(zero=True),
    default=timedelta(0),
    show_default="0s",
    help="Wait so long for another run on OVERLAY; one that shows no sign of life is waited out in any case.",
)
def reconcile(
    overlay: str | None,
    source: Source,
    where: Where,
    telling: Telling,
    output: str,
    deadline: timedelta | None,
    poll_interval: timedelta,
    lock_timeout: timedelta,
) -> int:
    """Run once to the end, or to where the run must wait.

    Exits with 0 when converged, 1 on an error, 3 when it waits and nothing is wrong, 4 when it was stopped.
    """
    garden = Garden.PASSING if where.sandbox else Garden.LASTING
    with warnings_at_the_end() as tell, telling.opened(source.repo, tell) as told:
        with source.opened() as artifact:
            name = chosen_overlay(artifact, overlay)
            with told.of_refusal(name, artifact.revision, "command"):
                desired = compose_whole(artifact, name, SystemClock().now())
        try:
            with where.opened(desired) as world, shown_progress(world.clock) as show_progress:
                observer = Observers(_Terminal(show_progress), told.observer(world.clock))
                pace = Pace(poll_interval, deadline, lock_timeout)
                record = run_once(world, desired, trigger="command", pace=pace, observer=observer)
        except KeyboardInterrupt:
            if garden is Garden.LASTING:
                click.echo(_ENDED_AT_ONCE.format(overlay=desired.overlay.name), err=True)
            raise
        if output == "json":
            click.echo(json.dumps(record_document(record), indent=2))
        else:
            click.echo(record_text(record, stdout_style(), garden), nl=False)
    return exit_code(record.result)


class _Terminal(Observer):
    """The plan, and how it goes on, on standard error."""

    def __init__(self, show_progress: Show) -> None:
        self._show_progress = show_progress

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        del run, outlook
        click.echo(plan_text(planned.plan, digest(planned.plan), stderr_style()), err=True)

    def waiting(self, run: Run, holder: str) -> None:
        click.echo(f"another run is at work on {run.overlay}: waiting for {holder}", err=True)

    def moved(self, run: Run, rollout: Rollout) -> None:
        del run
        self._show_progress(rollout)


def exit_code(result: Result) -> Exit:
    """The exit code of a run."""
    return Exit.INTERRUPTED if result.message == INTERRUPTED else _EXITS[result.outcome]
