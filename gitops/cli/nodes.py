"""Commands about the nodes of shoots: what they lack, where containers run, and why a shoot is where it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta

import click

from gitops.cli.chosen import chosen_in
from gitops.cli.exits import Exit
from gitops.cli.options import (
    Duration,
    Source,
    chosen_target,
    lock_timeout_option,
    output_option,
    overlay_and_shoot,
    source_options,
    world_options,
)
from gitops.cli.terminal import stdout_style
from gitops.cli.turn import in_turn
from gitops.cli.world import Where
from gitops.clock import SystemClock
from gitops.control.revision import Chosen
from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError, Refused
from gitops.kube.cluster import Access
from gitops.live.garden import check_identity, observe_garden
from gitops.live.nodes import observe_node_work
from gitops.live.placement import observe_scene
from gitops.live.shoots import observe_shoot
from gitops.look import plan as make_plan
from gitops.manifest import Manifest, Target, get
from gitops.nri.placement.verification import verify as verify_scene
from gitops.nri.prerequisites.facts import static_cpu_pools
from gitops.nri.prerequisites.ledger import read_ledger
from gitops.plan.observed import Inside
from gitops.record.store import load_records
from gitops.report.control import controlled
from gitops.report.explain import Explanation, explain_document, explain_text
from gitops.report.explaining import gates, has_policies
from gitops.report.placement import ShootPlacement, placement_document
from gitops.report.placement_page import placement_html
from gitops.report.placement_picture import placement_svg
from gitops.report.placement_text import placement_text
from gitops.report.preflight import ShootPreflight, is_ready, preflight_document, preflight_text
from gitops.report.status import overlay_status
from gitops.rollout.effects import Effects
from gitops.rollout.preflight import preflight as look_at_nodes
from gitops.rollout.preflight import remembered
from gitops.world import World

_POLICIES = ("config.nri/v1alpha1", "BalloonsPolicy")
_words = click.argument("words", nargs=-1, metavar="[OVERLAY] [SHOOT]")


@click.command()
@_words
@source_options
@world_options
@output_option("text", "json")
@click.option("--no-probe", is_flag=True, help="Show what is known; run nothing on nodes.")
@click.option(
    "--timeout", type=Duration(), default=timedelta(minutes=5), show_default="5m", help="Wait for nodes so long."
)
@lock_timeout_option
def preflight(
    *,
    words: tuple[str, ...],
    source: Source,
    where: Where,
    output: str,
    no_probe: bool,
    timeout: timedelta,
    lock_timeout: timedelta,
) -> int:
    """Show what the nodes of OVERLAY's shoots, or of one SHOOT, are and lack.

    A short-lived DaemonSet looks at nodes that nobody has looked at since they booted. It changes nothing there, and
    never stands beside those of a run: both take turns. Exits with 1 unless every node has what the overlay asks for.
    """
    desired, targets = _chosen(source, words)
    wanted = desired.overlay.prerequisites

    def look(effects: Effects, target: Target, shoot: Manifest | None) -> ShootPreflight:
        pools = static_cpu_pools(shoot or {})
        if why := _asleep(shoot):
            return ShootPreflight(target, None, why, pools)
        try:
            if no_probe:
                return ShootPreflight(target, remembered(effects, target), "", pools)
            found = look_at_nodes(effects, target, poll=timedelta(seconds=2), timeout=timeout)
            return ShootPreflight(target, found, "", pools)
        except GitopsError as error:
            return ShootPreflight(target, None, str(error), pools)

    with where.opened(desired) as world:
        live = _live(world, desired)
        turn = nullcontext(world.effects(desired)) if no_probe else in_turn(world, desired, lock_timeout)
        with turn as acting, ThreadPoolExecutor(world.threads) as pool:
            shoots = list(pool.map(lambda target: look(acting, target, live.get(target)), targets))
    if output == "json":
        click.echo(json.dumps(preflight_document(desired.overlay.name, wanted, shoots), indent=2))
    else:
        click.echo(preflight_text(wanted, shoots, stdout_style()))
    return Exit.OK if all(is_ready(shoot, wanted) for shoot in shoots) else Exit.ERROR


@click.command()
@_words
@source_options
@world_options
@output_option("text", "json", "html", "svg")
def verify(words: tuple[str, ...], source: Source, where: Where, output: str) -> int:
    """Prove that containers run on the CPUs that the policies give them.

    Looks at every shoot for which a policy is declared, or at SHOOT. Exits with 1 unless every container is known to
    be where it belongs.
    """
    desired, targets = _chosen(source, words)
    if len(targets) > 1:
        targets = [target for target in targets if has_policies(desired, target)]
    with where.opened(desired) as world:
        live = _live(world, desired)
        with ThreadPoolExecutor(world.threads) as pool:
            shoots = list(pool.map(lambda target: _placement(world, desired, target, live.get(target)), targets))
    click.echo(_placement_as(output, desired.overlay.name, shoots), nl=output != "svg")
    return Exit.OK if all(shoot.proven for shoot in shoots) else Exit.ERROR


@click.command()
@_words
@source_options
@world_options
@output_option("text", "json")
def explain(words: tuple[str, ...], source: Source, where: Where, output: str) -> int:
    """Show on one screen why SHOOT is where it is, what happens next by itself, and what a person would do."""
    desired, targets = _chosen(source, words)
    if len(targets) != 1:
        raise click.UsageError(f"which shoot? There are {', '.join(targets)}.")
    with where.opened(desired) as world:
        explanation = _explanation(world, chosen_in(world, source, desired), targets[0])
    if output == "json":
        click.echo(json.dumps(explain_document(explanation), indent=2))
    else:
        click.echo(explain_text(explanation, stdout_style()))
    return Exit.OK


def _chosen(source: Source, words: tuple[str, ...]) -> tuple[Desired, list[Target]]:
    with source.opened() as artifact:
        overlay, shoot = overlay_and_shoot(artifact, words)
        desired = compose_whole(artifact, overlay, SystemClock().now())
    return desired, [chosen_target(desired, shoot)] if shoot else list(desired.shoots)


def _live(world: World, desired: Desired) -> Mapping[Target, Manifest]:
    overlay = desired.overlay
    check_identity(world.garden, overlay.garden.identity)
    return observe_garden(world.garden, overlay.garden.namespaces).shoots


def _asleep(shoot: Manifest | None) -> str:
    """Why there is nothing to look at; empty where there is."""
    if shoot is None:
        return "the garden has no such Shoot"
    asleep = get(shoot, "spec", "hibernation", "enabled") or get(shoot, "status", "hibernated")
    return "the shoot is hibernated" if asleep else ""


def _placement(world: World, desired: Desired, target: Target, shoot: Manifest | None) -> ShootPlacement:
    if why := _asleep(shoot):
        return ShootPlacement(target, None, why, {})
    try:
        cluster = world.access.cluster(target, Access.VIEWER)
        seen = observe_shoot(cluster, target, [_POLICIES])
        inside = Inside(seen.objects, seen.nodes, seen.unserved)
        ledger = read_ledger(observe_node_work(cluster, world.run).ledger)
        scene = observe_scene(cluster, inside, instance=desired.overlay.verification.instance)
    except GitopsError as error:
        return ShootPlacement(target, None, str(error), {})
    topologies = {node: entry.report.cpus for node, entry in ledger.items() if entry.report.cpus is not None}
    return ShootPlacement(target, verify_scene(scene), "", topologies)


def _placement_as(output: str, overlay: str, shoots: list[ShootPlacement]) -> str:
    match output:
        case "json":
            return json.dumps(placement_document(overlay, shoots), indent=2)
        case "html":
            return placement_html(overlay, shoots)
        case "svg":
            return placement_svg(shoots)
        case _:
            return placement_text(shoots, stdout_style())


def _explanation(world: World, chosen: Chosen, target: Target) -> Explanation:
    desired = chosen.desired
    if target not in desired.shoots:
        raise Refused(f"shoot {target} is not in overlay {desired.overlay.name} where {chosen.hold}")
    stored = load_records(world.garden, desired.overlay)
    planned, outlook = make_plan(world, desired)
    desired = outlook.desired
    standing = overlay_status(desired, outlook.shoots, planned.plan, stored.last if stored else None)
    now = world.clock.now()
    control = controlled(planned.plan, outlook, chosen.control, chosen.hold, now, stored)
    seen = outlook.shoots[target]
    changes = next(shoot.changes for wave in planned.plan.waves for shoot in wave.shoots if shoot.shoot == target)
    return Explanation(
        desired.overlay.name,
        desired.revision,
        target,
        next(status for status in standing.shoots if status.shoot == target),
        changes,
        tuple(gates(desired, target, seen)),
        desired.overlay.prerequisites,
        _known_of_nodes(world, desired, target, seen.shoot),
        _placement(world, desired, target, seen.shoot) if has_policies(desired, target) else None,
        control,
    )


def _known_of_nodes(world: World, desired: Desired, target: Target, shoot: Manifest | None) -> ShootPreflight:
    pools = static_cpu_pools(shoot or {})
    if why := _asleep(shoot):
        return ShootPreflight(target, None, why, pools)
    try:
        effects = world.effects(desired)
        return ShootPreflight(target, remembered(effects, target), "", pools)
    except GitopsError as error:
        return ShootPreflight(target, None, str(error), pools)
