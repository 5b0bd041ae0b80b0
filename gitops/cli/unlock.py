"""The command that takes an overlay's lease away from a run that does not give it back."""

from __future__ import annotations

import sys
from uuid import uuid4

import click

from gitops.cli.exits import Exit
from gitops.cli.options import Source, chosen_overlay, kubeconfig_options, overlay_argument, source_options
from gitops.cli.world import Where
from gitops.desired.compose import compose
from gitops.errors import Refused
from gitops.lease.lease import held_by
from gitops.lease.store import LeaseStore
from gitops.lease.unlock import held
from gitops.lease.unlock import unlock as take_away
from gitops.live.garden import check_identity
from gitops.report.words import counted


@click.command()
@overlay_argument
@source_options
@kubeconfig_options
@click.option("--holder", metavar="ID", help="Take it from this holder and from nobody else, without asking.")
@click.option("-y", "--yes", is_flag=True, help="Take it from whoever holds it, without asking.")
def unlock(overlay: str | None, source: Source, where: Where, *, holder: str | None, yes: bool) -> int:
    """Take the lease of OVERLAY away from a run that does not give it back.

    A run that died needs none of this: the next one takes over by itself when the lease has expired. A run that is
    alive ends with an error before it writes anything more. Nobody gets the lease until that is certain.
    """
    with source.opened() as artifact:
        desired = compose(artifact, chosen_overlay(artifact, overlay))
    declared = desired.overlay
    with where.opened(desired) as world:
        check_identity(world.garden, declared.garden.identity)
        store = LeaseStore(world.garden, declared.name, declared.garden.namespaces[0])
        lease = held(store)
        click.echo(f"{store.ref} is held by {held_by(lease)}.", err=True)
        if holder is None and not yes:
            _ask(lease.holder)

        def waiting(seconds: float) -> None:
            told = counted(round(seconds), "second")
            click.echo(f"Taken away; free in {told}, when that run surely writes nothing more.", err=True)

        take_away(store, holder or lease.holder, run=uuid4().hex, leasing=world.leasing, waiting=waiting)
    click.echo(f"{declared.name} is free.", err=True)
    return Exit.OK


def _ask(holder: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(f"nobody can be asked here: say --holder {holder}, or --yes")
    if not click.confirm("Take it away? That run will write nothing more", err=True):
        raise Refused("the lease is left as it is")
