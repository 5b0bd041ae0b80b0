"""Commands that look at the garden and write nothing: plan, diff, status, history."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from gitops.cli.chosen import composed, opened_world
from gitops.cli.exits import Exit
from gitops.cli.options import (
    Source,
    kubeconfig_options,
    output_option,
    overlay_argument,
    source_options,
    world_options,
)
from gitops.cli.terminal import stdout_style
from gitops.cli.world import Where
from gitops.look import plan as make_plan
from gitops.plan.changes import Plan
from gitops.plan.document import digest, plan_document
from gitops.record.store import load_records
from gitops.report.control import Controlled, control_document, control_lines, controlled
from gitops.report.history_text import history_document, history_text
from gitops.report.plan_diff import diff_files, plan_diff
from gitops.report.plan_markdown import plan_markdown
from gitops.report.plan_text import plan_text
from gitops.report.registrations_status import registrations_status
from gitops.report.status import overlay_status, status_document
from gitops.report.status_text import status_text
from gitops.report.style import Detail


@click.command()
@overlay_argument
@source_options
@world_options
@output_option("text", "json", "markdown")
@click.option("-v", "--verbose", is_flag=True, help="Leave nothing out: unchanged objects, all of new ones.")
@click.option("--detailed-exitcode", is_flag=True, help="Exit with 2 when changes are pending.")
def plan(
    overlay: str | None,
    source: Source,
    where: Where,
    output: str,
    verbose: bool,
    detailed_exitcode: bool,
) -> int:
    """Show what a run would change, wave by wave, field by field, and what it would cost."""
    with opened_world(source, overlay, where) as (world, chosen):
        planned, outlook = make_plan(world, chosen.desired)
        now = world.clock.now()
    control = controlled(planned.plan, outlook, chosen.control, chosen.hold, now)
    detail = Detail.EVERYTHING if verbose else Detail.CHANGES
    click.echo(plan_as(planned.plan, output, detail, control), nl=output == "json")
    planned.require_permission()
    return Exit.PENDING if detailed_exitcode and planned.plan.pending else Exit.OK


def plan_as(plan: Plan, output: str, detail: Detail, control: Controlled) -> str:
    """A plan in one of the output formats; only text knows detail. What keeps it from being done comes last."""
    if output == "json":
        return json.dumps({**plan_document(plan), "control": control_document(control)}, indent=2)
    lines = control_lines(control)
    if output == "markdown":
        return plan_markdown(plan, digest(plan)) + "".join(f"\n> {line}\n" for line in lines)
    text = plan_text(plan, digest(plan), replace(stdout_style(), detail=detail))
    return text + "".join(f"\n{line}\n" for line in lines)


@click.command()
@overlay_argument
@source_options
@world_options
def diff(overlay: str | None, source: Source, where: Where) -> int:
    """Show what a run would change as a unified diff.

    Exits like `kubectl diff`: 0 without differences, 1 with, more than 1 on an error. KUBECTL_EXTERNAL_DIFF is
    honoured.
    """
    with opened_world(source, overlay, where) as (world, chosen):
        planned, _ = make_plan(world, chosen.desired)
    planned.require_permission()
    if not diff_files(planned.plan):
        return Exit.OK
    if external := os.environ.get("KUBECTL_EXTERNAL_DIFF"):
        return _external_diff(external, planned.plan)
    click.echo(plan_diff(planned.plan, stdout_style()), nl=False)
    return Exit.ERROR


def _external_diff(command: str, plan: Plan) -> int:
    """Run somebody's own tool on two folders, as kubectl does."""
    with tempfile.TemporaryDirectory(prefix="gitops-diff-") as folder:
        live, desired = Path(folder, "LIVE"), Path(folder, "DESIRED")
        for root in (live, desired):
            root.mkdir()
        for pair in diff_files(plan):
            (live / pair.name).write_text(pair.live)
            (desired / pair.name).write_text(pair.desired)
        done = subprocess.run([*shlex.split(command), str(live), str(desired)], check=False)  # noqa: S603 - the user's own
    return done.returncode


@click.command()
@overlay_argument
@source_options
@world_options
@output_option("text", "json")
def status(overlay: str | None, source: Source, where: Where, output: str) -> int:
    """Show where every shoot stands, from the record of the last run and the live state."""
    with opened_world(source, overlay, where) as (world, chosen):
        stored = load_records(world.garden, chosen.desired.overlay)
        planned, outlook = make_plan(world, chosen.desired)
        now = world.clock.now()
    control = controlled(planned.plan, outlook, chosen.control, chosen.hold, now, stored)
    last = stored.last if stored else None
    registrations = registrations_status(outlook, planned.plan, last, now)
    standing = overlay_status(outlook.desired, outlook.shoots, planned.plan, last)
    standing = replace(standing, control=control, registrations=registrations)
    if output == "json":
        click.echo(json.dumps(status_document(standing), indent=2))
    else:
        click.echo(status_text(standing, stdout_style()))
    return Exit.OK


@click.command()
@overlay_argument
@source_options
@kubeconfig_options
@output_option("text", "json")
def history(overlay: str | None, source: Source, where: Where, output: str) -> int:
    """Show the last runs: revision, trigger, plan digest, outcome."""
    desired = composed(source, overlay)
    with where.opened(desired) as world:
        stored = load_records(world.garden, desired.overlay)
    runs = stored.history if stored else ()
    if output == "json":
        click.echo(json.dumps(history_document(desired.overlay.name, runs), indent=2))
    else:
        click.echo(history_text(desired.overlay.name, runs, stdout_style()))
    return Exit.OK
