"""The command that writes."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar, cast

import click

from gitops.cli.chosen import chosen_in, composed, overtaken, tell_hold
from gitops.cli.exits import Exit
from gitops.cli.options import (
    Duration,
    Source,
    lock_timeout_option,
    output_option,
    overlay_argument,
    repository_options,
    world_options,
)
from gitops.cli.progress import Show, shown_progress
from gitops.cli.telling import Telling, telling_options, warnings_at_the_end
from gitops.cli.terminal import stderr_style, stdout_style
from gitops.cli.world import Where
from gitops.control.revision import Chosen
from gitops.desired.compose import Desired
from gitops.errors import GitopsError, Refused
from gitops.observer import Observer, Observers, Run
from gitops.pipeline import reconcile as run_once
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import record_document
from gitops.report.plan_text import plan_text
from gitops.report.record_text import Garden, record_text
from gitops.rollout.executor import INTERRUPTED
from gitops.rollout.rollout import Result, Rollout, RunOutcome
from gitops.world import Pace, World

_EXITS = {
    RunOutcome.CONVERGED: Exit.OK,
    RunOutcome.WAITING: Exit.WAITING,
    RunOutcome.STOPPED: Exit.STOPPED,
    RunOutcome.FAILED: Exit.ERROR,
}
_ENDED_AT_ONCE = """
Ended at once; of this run no record is kept. Whether something was written that was under way shows in the next run,
which looks first and goes on: `gitops reconcile {overlay}`."""


F = TypeVar("F", bound=Callable[..., Any])
Choose = Callable[[World, Desired], Chosen]
"""What is to be achieved, given the world and what git says."""


@dataclass(frozen=True)
class How:
    """How a run is carried out and told."""

    output: str
    pace: Pace
    telling: Telling
    trigger: str
    ok_to_wait: bool
    """Whether a run that must wait exits as one that has converged."""


def reconcile_options(function: F) -> F:
    """Everything that a command takes which runs a rollout, handed over as `source`, `where` and `how`."""

    @functools.wraps(function)
    def with_how(
        *,
        telling: Telling,
        output: str,
        deadline: timedelta | None,
        poll_interval: timedelta,
        lock_timeout: timedelta,
        trigger: str,
        ok_to_wait: bool,
        **others: Any,
    ) -> Any:
        pace = Pace(poll_interval, deadline, lock_timeout)
        return function(how=How(output, pace, telling, trigger, ok_to_wait), **others)

    between = "Time between two looks at something that is being waited for."
    poll = timedelta(seconds=5)
    triggers = click.Choice(["command", "push", "schedule"])
    started = "What started the run, for its record."
    options = (
        click.option("--ok-to-wait", is_flag=True, help="Exit with 0 instead of 3 where the run must wait."),
        click.option("--trigger", type=triggers, default="command", show_default=True, help=started),
        lock_timeout_option,
        click.option("--poll-interval", type=Duration(), default=poll, show_default="5s", help=between),
        click.option("--deadline", type=Duration(), help="End the run after this time, wherever it is."),
        output_option("text", "json"),
        telling_options,
        world_options,
        repository_options,
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_how))


@click.command()
@overlay_argument
@reconcile_options
def reconcile(overlay: str | None, source: Source, where: Where, how: How) -> int:
    """Run once to the end, or to where the run must wait.

    Exits with 0 when converged, 1 on an error, 3 when it waits and nothing is wrong, 4 when it was stopped.
    """
    return reconciled(source, overlay, where, how, lambda world, desired: chosen_in(world, source, desired))


def reconciled(
    source: Source, overlay: str | None, where: Where, how: How, choose: Choose, *, told_of_refusals: bool = True
) -> int:
    """One run; its result on standard output, its exit code returned.

    Args:
        source: what git holds.
        overlay: whose run; None where there is only one.
        where: which world.
        how: how the run is carried out and told.
        choose: which revision is meant.
        told_of_refusals: whether `choose` refuses because of what git holds, and not because of what somebody asks.
    """
    garden = Garden.PASSING if where.sandbox else Garden.LASTING
    with warnings_at_the_end() as tell, how.telling.opened(source.repo, tell) as told:
        not_begun = functools.partial(told.not_begun, trigger=how.trigger)
        desired = composed(source, overlay, not_begun)
        try:
            with ExitStack() as opened:
                try:
                    world = opened.enter_context(where.opened(desired))
                    chosen = choose(world, desired)
                except GitopsError as error:
                    if told_of_refusals or not isinstance(error, Refused):
                        not_begun(desired.overlay.name, desired.revision, error)
                    raise
                show_progress = opened.enter_context(shown_progress(world.clock))
                tell_hold(chosen)
                record = run_once(
                    world,
                    chosen.desired,
                    trigger=how.trigger,
                    pace=replace(how.pace, overtaken=functools.partial(overtaken, world, source, chosen.desired)),
                    observer=Observers(_Terminal(show_progress), told.observer(world.clock)),
                    control=chosen.control,
                )
        except KeyboardInterrupt:
            if garden is Garden.LASTING:
                click.echo(_ENDED_AT_ONCE.format(overlay=desired.overlay.name), err=True)
            raise
        if how.output == "json":
            click.echo(json.dumps(record_document(record), indent=2))
        else:
            click.echo(record_text(record, stdout_style(), garden), nl=False)
    code = exit_code(record.result)
    return Exit.OK if how.ok_to_wait and code is Exit.WAITING else code


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
