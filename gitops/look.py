"""One look at the world: what there is, and what a run would do about it. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from gitops.desired.compose import Desired
from gitops.errors import CredentialsError, Forbidden, GitopsError, Violation
from gitops.gardener.shoot_record import has_vectors
from gitops.live.garden import check_identity, observe_garden
from gitops.live.registrations import list_registrations, observe_registrations
from gitops.manifest import Manifest, Target, get
from gitops.plan.observed import NO_REGISTRATIONS, Inside, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, kinds_inside, make_plan
from gitops.plan.registered import touches_extensions, unregistered
from gitops.plan.registrations import registrations_to_be, with_left_images, with_vectors
from gitops.rollout.effects import Effects
from gitops.world import World


def observe(world: World, desired: Desired) -> Outlook:
    """The garden and every shoot, once, in as few calls as possible.

    Raises:
        Refused: it is the wrong garden, or what the pipeline wrote earlier cannot be read.
        Forbidden, Unreachable: the garden cannot be read, or some shoot may not be.
    """
    overlay = desired.overlay
    if {rule.extension for rule in overlay.image_vectors} - {ref.name for ref in desired.registrations}:
        raise ValueError("the overlay's image vectors would be left out: compose it with compose_whole")
    check_identity(world.garden, overlay.garden.identity)
    garden = observe_garden(world.garden, overlay.garden.namespaces)
    registrations = NO_REGISTRATIONS
    if desired.registrations or any(map(has_vectors, garden.shoots.values())):
        registrations = observe_registrations(world.garden, world.runtime, desired.registrations)
        desired = with_vectors(with_left_images(desired, registrations), registrations)
    server_time = garden.server_time or world.clock.now()
    effects = world.effects(desired)

    def look(target: Target) -> Observed:
        shoot = garden.shoots.get(target)
        return Observed(shoot, server_time, _look_inside(effects, desired, target, shoot))

    pool = ThreadPoolExecutor(world.threads, thread_name_prefix="observe")
    try:
        shoots = dict(zip(desired.shoots, pool.map(look, desired.shoots), strict=True))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # who ends early does not wait for those that never answer
    return Outlook(desired, shoots, registrations)


def plan(world: World, desired: Desired) -> tuple[Planned, Outlook]:
    """What a run would do, and the observation it is drawn from."""
    outlook = observe(world, desired)
    planned = make_plan(outlook.desired, outlook.shoots, outlook.registrations)
    return replace(planned, problems=(*planned.problems, *_unregistered(world, outlook, planned))), outlook


def _unregistered(world: World, outlook: Outlook, planned: Planned) -> Iterator[Violation]:
    """Entries of extensions that Gardener would refuse; none where we may not know, and it must tell by itself."""
    targets = touches_extensions(planned.plan)
    if not targets:
        return
    looked = outlook.registrations.server_time is not None
    known = outlook.registrations if looked else list_registrations(world.garden)
    if known is not None:
        registered = registrations_to_be(outlook.desired, known).values()
        yield from unregistered(outlook.desired, targets, outlook.shoots, registered)


def _look_inside(
    effects: Effects, desired: Desired, target: Target, shoot: Manifest | None
) -> Inside | Unobserved | GitopsError:
    """What one shoot holds, where it can be looked at and matters.

    Raises:
        Forbidden, CredentialsError: it may not be looked at, which no waiting will change.
    """
    if shoot is None:
        return Unobserved("the shoot does not exist yet")
    if not kinds_inside(desired.shoots[target], shoot) and not desired.overlay.prerequisites.any:
        return Unobserved("nothing is declared inside it")
    if get(shoot, "spec", "hibernation", "enabled") or get(shoot, "status", "hibernated"):
        return Unobserved("the shoot is hibernated")
    inside = effects.observe_inside(target, shoot)
    if isinstance(inside, Forbidden | CredentialsError):
        raise inside
    return inside
