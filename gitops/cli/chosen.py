"""The overlay that a command is about, at the revision that is meant, in its world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

import click

from gitops.cli.options import Source, chosen_overlay
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.control.revision import Chosen, choose_revision
from gitops.control.store import load_control
from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.world import World

Refusal = Callable[[str, str], AbstractContextManager[None]]
"""Hears of an overlay at a revision that is refused in the block."""


def composed(source: Source, overlay: str | None, of_refusal: Refusal = lambda _, __: nullcontext()) -> Desired:
    """An overlay as git, or the working tree, declares it."""
    with source.opened() as artifact:
        name = chosen_overlay(artifact, overlay)
        with of_refusal(name, artifact.revision):
            return compose_whole(artifact, name, SystemClock().now())


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
