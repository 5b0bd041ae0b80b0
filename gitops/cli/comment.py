"""The command that shows a pull request what merging it would change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing

import click

from gitops.cli.exits import Exit
from gitops.cli.forge import BRIEFLY, ForgeOptions, forge_options, open_web
from gitops.cli.options import Source, chosen_overlay, repository_options, world_options
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.desired.artifact import Artifact
from gitops.desired.overlay_file import overlay_names
from gitops.desired.whole import compose_whole
from gitops.errors import InvalidInput, Refused
from gitops.look import plan as make_plan
from gitops.notify.comment import Published, mark, marked, publish
from gitops.notify.forge import Forge, ForgeClient
from gitops.notify.forges import GitHub
from gitops.plan.document import digest
from gitops.report.plan_comment import plan_comment, problems_comment, refusal_comment

_PROBLEMS = 8000
"""Characters for the reasons why a plan must not be carried out."""


@click.command()
@click.argument("overlays", nargs=-1, metavar="[OVERLAY]...")
@repository_options
@world_options
@forge_options
@click.option("--pr", "pull", type=click.IntRange(min=1), required=True, help="Number of the pull or merge request.")
@click.option("--dry-run", is_flag=True, help="Print the comments instead.")
def comment(
    overlays: tuple[str, ...], source: Source, where: Where, forge: ForgeOptions, pull: int, dry_run: bool
) -> int:
    """Put the plan of each OVERLAY, or of all, on a pull request, as one comment that later ones replace.

    Read the pull request's commit with --revision. Exits with 1 where a plan is refused; the comment then says why.
    """
    code = Exit.OK
    with closing(open_web(forge.ca_file)) as web, source.opened() as artifact:
        client = None if dry_run else forge.client(source.repo, web)
        on: Forge = client.forge if client else GitHub("https://github.com", "owner/name")
        for overlay in _chosen(artifact, overlays):
            text, is_refused = _text(artifact, overlay, where, on)
            code = Exit.ERROR if is_refused else code
            if client is None:
                click.echo(text, nl=False)
            else:
                published = _publish(client, pull, overlay, text)
                click.echo(f"{overlay}: comment {published.value} on {on.name} pull request {pull}")
    return code


def _chosen(artifact: Artifact, overlays: Sequence[str]) -> Sequence[str]:
    """Those that were named, or all: a pull request is told of nothing that the repository does not have."""
    known = overlay_names(artifact) or [chosen_overlay(artifact, None)]
    if unknown := sorted(set(overlays) - set(known)):
        raise click.UsageError(f"no overlay {unknown[0]!r}; there are {', '.join(known)}.")
    return overlays or known


def _text(artifact: Artifact, overlay: str, where: Where, forge: Forge) -> tuple[str, bool]:
    """A comment, and whether it says that the overlay is refused. What the world does not answer is an error."""
    limit = forge.longest - len(mark(overlay)) - 2
    try:
        desired = compose_whole(artifact, overlay, SystemClock().now())
        with where.opened(desired) as world:
            planned, _ = make_plan(world, desired)
    except (InvalidInput, Refused) as error:
        click.echo(f"error: {error}", err=True)
        return marked(overlay, refusal_comment(overlay, str(error), limit)), True
    problems = ""
    try:
        planned.require_permission()
    except Refused as error:
        click.echo(f"error: {error}", err=True)
        problems = problems_comment(str(error), _PROBLEMS)
    plan = planned.plan
    text = plan_comment(plan, digest(plan), limit=limit - len(problems), html=forge.takes_html)
    return marked(overlay, text + problems), bool(problems)


def _publish(client: ForgeClient, pull: int, overlay: str, text: str) -> Published:
    """A request without an answer may have made the comment: the next attempt looks for it first."""
    retrying = BRIEFLY.retrying(time.sleep, lambda: False)
    return retrying(publish, client, pull, overlay, text)
