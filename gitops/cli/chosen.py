"""The overlay that a command is about, at the revision that is meant, in its world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from gitops.cli.options import Source, chosen_overlay
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.control.revision import Chosen, choose_revision
from gitops.control.store import load_control
from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError
from gitops.world import World

NotComposed = Callable[[str, str, GitopsError], None]
"""Told of an overlay, the commit, and why it cannot be composed there; the commit is empty where none can be read."""


def composed(source: Source, overlay: str | None, not_composed: NotComposed = lambda *_: None) -> Desired:
    """An overlay as git, or the working tree, declares it."""
    name = overlay
    try:
        with source.opened() as artifact:
            name = chosen_overlay(artifact, overlay)
            return compose_whole(artifact, name, SystemClock().now())
    except GitopsError as error:
        if name is not None:
            not_composed(name, error.revision, error)
        raise


def composed_at(source: Source, overlay: str, revision: str) -> Desired:
    """The same at another commit."""
    return composed(replace(source, revision=revision, worktree=False), overlay)


@contextmanager
def opened_world(source: Source, overlay: str | None, where: Where) -> Iterator[tuple[World, Chosen]]:
    """The world of an overlay, and what is to be achieved in it, which a rollback may have changed; it is told then."""
    desired = composed(source, overlay)
    with where.opened(desired) as world:
        chosen = chosen_in(world, source, desired)
        tell_hold(chosen)
        yield world, chosen


def chosen_in(world: World, source: Source, desired: Desired) -> Chosen:
    """What is meant by an overlay in its world. Who asks for the working tree gets it."""
    if source.worktree:
        return Chosen(desired, load_control(world.garden, desired.overlay))
    return choose_revision(world.garden, desired, lambda revision: composed_at(source, desired.overlay.name, revision))


def overtaken(world: World, source: Source, desired: Desired) -> str:
    """Why something else is meant than what was composed earlier; empty where nothing is."""
    name = desired.overlay.name
    present = chosen_in(world, source, composed(source, name)).desired.revision
    if present == desired.revision:
        return ""
    return (
        f"before it was the turn of this run, revision {present[:12]} took the place of {desired.revision[:12]}; "
        f"`gitops reconcile {name}` rolls it out"
    )


def tell_hold(chosen: Chosen) -> None:
    """Say on standard error that it is not what git says."""
    if chosen.hold is not None:
        click.echo(f"{chosen.hold}; `gitops resume {chosen.desired.overlay.name}` takes that back", err=True)
