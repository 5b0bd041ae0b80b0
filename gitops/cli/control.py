"""Commands by which people control a rollout: approve, suspend, resume, rollback."""

from __future__ import annotations

import functools
import getpass
import re
from collections.abc import Callable
from typing import Any

import click

from gitops.cli.chosen import composed_at, opened_world
from gitops.cli.exits import Exit
from gitops.cli.options import (
    Source,
    chosen_target,
    kubeconfig_options,
    overlay_and_shoot,
    overlay_argument,
    repository_options,
)
from gitops.cli.reconcile import How, reconcile_options, reconciled
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.control.asker import asker
from gitops.control.control import Control, Hold, Suspension
from gitops.control.revision import Chosen, compose_earlier
from gitops.control.store import change_control, load_control
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import read_overlay
from gitops.desired.whole import compose_whole
from gitops.errors import Refused
from gitops.live.garden import check_identity
from gitops.look import plan as make_plan
from gitops.manifest import Target
from gitops.plan.document import digest
from gitops.record.earlier import good_revision, remembered_revision
from gitops.record.store import load_records
from gitops.report.words import counted
from gitops.rollout.approval import approval_of, approved
from gitops.world import World

_words = click.argument("words", nargs=-1, metavar="[OVERLAY] [SHOOT]")


class Digest(click.ParamType[str]):
    """The digest of a plan, as `gitops plan` prints it."""

    name = "digest"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take it as it is, or fail as a usage error."""
        if not re.fullmatch(r"sha256:[0-9a-f]{64}", str(value)):
            self.fail(
                f"{value!r} is no digest: sha256: and 64 hexadecimal digits, as `gitops plan` prints it", param, ctx
            )
        return str(value)


@click.command()
@overlay_argument
@repository_options
@kubeconfig_options
@click.option("--digest", "seen", type=Digest(), required=True, help="Of the plan that you have seen.")
def approve(overlay: str | None, source: Source, where: Where, seen: str) -> int:
    """Agree to a plan, for waves with `approval: Required`.

    The plan is made afresh and must have exactly this digest. What was agreed to stays so, shoot by shoot, until a
    commit or somebody in the world changes what is to be done there.
    """
    with opened_world(source, overlay, where) as (world, chosen):
        planned, outlook = make_plan(world, chosen.desired)
        planned.require_permission()
        name, present = chosen.desired.overlay.name, digest(planned.plan)
        if present != seen:
            raise Refused(
                f"the plan has changed, and nothing was approved: its digest is {present} now. Look at it with "
                f"`gitops plan {name}`, and approve what you see"
            )
        approval = approval_of(planned.plan, present, outlook, _asker(world), world.clock.now())
        change_control(world.garden, chosen.desired.overlay, lambda control: approved(control, approval, outlook))
    if approval.shoots:
        click.echo(
            f"Approved for {counted(len(approval.shoots), 'shoot')}. `gitops reconcile {name}` goes on with them."
        )
    else:
        click.echo("Nothing is pending in a wave that requires approval.")
    return Exit.OK


@click.command()
@_words
@repository_options
@kubeconfig_options
@click.option("--reason", default="", help="Why, for whoever wonders.")
def suspend(words: tuple[str, ...], source: Source, where: Where, reason: str) -> int:
    """Write nothing more to OVERLAY, or to one SHOOT, until `gitops resume`.

    A run that is under way stops before its next write. Every later one ends at once; or goes on without the shoot.
    """
    desired, target = _about(source, words)
    with where.opened(desired) as world:
        check_identity(world.garden, desired.overlay.garden.identity)
        asked = Suspension(_asker(world), world.clock.now(), reason)
        change_control(world.garden, desired.overlay, lambda control: control.suspended(asked, target))
    again = f"gitops resume {desired.overlay.name}" + (f" {target}" if target else "")
    click.echo(f"Suspended {target or f'overlay {desired.overlay.name}'}. `{again}` lets it go on.")
    return Exit.OK


@click.command()
@_words
@repository_options
@kubeconfig_options
def resume(words: tuple[str, ...], source: Source, where: Where) -> int:
    """Let OVERLAY, or one SHOOT, go on from where it was suspended.

    An overlay that is not suspended goes on with what git says: a rollback holds no longer. Shoots that were suspended
    by themselves stay so.
    """
    desired, target = _about(source, words)
    before: list[Control] = []

    def resumed(control: Control) -> Control:
        before[:] = [control]
        return control.resumed(target)

    with where.opened(desired) as world:
        check_identity(world.garden, desired.overlay.garden.identity)
        change_control(world.garden, desired.overlay, resumed)
    click.echo(" ".join(_resumed(before[0], desired, target)))
    return Exit.OK


def _resumed(before: Control, desired: Desired, target: Target | None) -> list[str]:
    name = desired.overlay.name
    if target is not None:
        return [f"Shoot {target} goes on." if target in before.shoots else f"Shoot {target} was not suspended."]
    said = [f"Overlay {name} goes on." if before.suspension else f"Overlay {name} was not suspended."]
    if before.hold is not None and before.suspension is None:
        said.append(f"Revision {before.hold.good[:12]} holds no longer: the next run uses what git says.")
    elif before.hold is not None:
        said.append(f"Still {before.hold}; another `gitops resume {name}` takes that back.")
    if before.shoots:
        said.append(f"{counted(len(before.shoots), 'shoot')} still suspended: {', '.join(before.shoots)}.")
    return said


@click.command()
@overlay_argument
@reconcile_options
@click.option("--to", metavar="REVISION", help="Of `gitops history`; the newest other one that converged otherwise.")
def rollback(overlay: str | None, source: Source, where: Where, how: How, to: str | None) -> int:
    """Go back to the last revision that converged, and stay there until git moves on.

    Every later run uses that revision as long as git declares for OVERLAY what was gone back from. A commit that
    declares something else, or `gitops resume`, ends that. Otherwise like `gitops reconcile`, with its exit codes.
    """

    def choose(world: World, desired: Desired) -> Chosen:
        check_identity(world.garden, desired.overlay.garden.identity)
        name = desired.overlay.name

        @functools.cache
        def compose_at(revision: str) -> Desired:
            return compose_earlier(revision, lambda revision: composed_at(source, name, revision), name)

        earlier = compose_at(_earlier(world, desired, to, compose_at))
        hold = Hold(desired.revision, earlier.revision, _asker(world), world.clock.now(), desired.content)
        control = change_control(world.garden, desired.overlay, lambda control: control.held(hold))
        return Chosen(earlier, control, hold)

    return reconciled(source, overlay, where, how, choose, told_of_refusals=False)


def _earlier(world: World, desired: Desired, to: str | None, compose_at: Callable[[str], Desired]) -> str:
    """The revision to go back to: another one than where a rollback has led already, unless no run was there yet.

    Args:
        world: whose records are read.
        desired: what git says.
        to: the beginning of the one that was asked for; None for the newest that was good.
        compose_at: composes the overlay at another commit.

    Raises:
        Refused: none is known, or it is what git says.
        SourceError, Untrusted, InvalidInput: one that was good cannot be composed any more.
    """
    stored = load_records(world.garden, desired.overlay)
    history = stored.history if stored is not None else ()
    if to is not None:
        chosen = remembered_revision(history, to)
        if chosen == desired.revision or compose_at(chosen).content == desired.content:
            raise Refused(f"{chosen} declares what git says: there is nothing to go back from")
        return chosen
    hold = load_control(world.garden, desired.overlay).hold_on(desired.revision, desired.content)
    if hold is None:
        return good_revision(history, {desired.revision}, lambda other: compose_at(other).content != desired.content)
    if not history or history[0]["revision"] != hold.good:
        return hold.good  # whoever rolled back could not wait for a run that was at work, and tries again
    known = {desired.content, compose_at(hold.good).content}
    return good_revision(history, {desired.revision, hold.good}, lambda other: compose_at(other).content not in known)


def _about(source: Source, words: tuple[str, ...]) -> tuple[Desired, Target | None]:
    """The overlay, and the shoot where one is named; without one, nothing else that git declares need be sound."""
    with source.opened() as artifact:
        overlay, shoot = overlay_and_shoot(artifact, words)
        if shoot is None:
            return Desired(read_overlay(artifact, overlay, {}), artifact.revision, {}, ()), None
        desired = compose_whole(artifact, overlay, SystemClock().now())
    return desired, chosen_target(desired, shoot)


def _asker(world: World) -> str:
    return asker(world.garden, otherwise=getpass.getuser())
