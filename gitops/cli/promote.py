"""The command that carries what one overlay has proven over to another."""

from __future__ import annotations

import click

from gitops.cli.editing import carry_out_edits, check_option
from gitops.cli.options import Source, kubeconfig_options, repository_options
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.desired.compose import Desired, compose
from gitops.desired.edits import Edited
from gitops.desired.image_vectors import read_image_vectors
from gitops.desired.overlay_file import read_overlay
from gitops.desired.promotion import promote as promotion_of
from gitops.live.garden import check_identity
from gitops.record.proof import require_proven
from gitops.record.store import load_records
from gitops.source.worktree import open_worktree


@click.command()
@click.argument("from_overlay", metavar="FROM")
@click.argument("to_overlay", metavar="TO")
@repository_options
@kubeconfig_options
@click.option("--unproven", is_flag=True, help="Do not ask the garden of FROM whether its last run converged.")
@check_option
def promote(from_overlay: str, to_overlay: str, source: Source, where: Where, *, unproven: bool, check: bool) -> int:
    """Carry image vectors, versions of policies and patches of overlay FROM over to overlay TO, in the work tree.

    FROM is read from a commit, and its last run must have converged at that commit. TO keeps its own selectors,
    waves and whatever FROM does not have.
    """
    if from_overlay == to_overlay:
        raise click.UsageError("FROM and TO are the same overlay")
    with source.opened() as artifact:
        desired = compose(artifact, from_overlay)
        if not unproven:
            _require_proven(where, desired)
        target = open_worktree(source.repo)
        found = promotion_of(artifact, desired.overlay, target, read_overlay(target, to_overlay, {}))
        edited = Edited(target, found.edits)
        read_image_vectors(edited, compose(edited, to_overlay), SystemClock().now())
    click.echo("".join(f"{line}\n" for line in found.summary), err=True, nl=False)
    return carry_out_edits(source.repo, found.edits, check=check)


def _require_proven(where: Where, desired: Desired) -> None:
    overlay = desired.overlay
    with where.opened(desired) as world:
        check_identity(world.garden, overlay.garden.identity)
        require_proven(load_records(world.garden, overlay), overlay.name, desired.revision)
