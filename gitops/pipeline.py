"""One run, readable from top to bottom: source → desired → live → plan → rollout → record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gitops.clock import Clock
from gitops.desired.compose import Desired
from gitops.errors import CredentialsError, Forbidden, GitopsError, Violation
from gitops.gardener.shoot_record import has_vectors
from gitops.kube.cluster import Cluster
from gitops.live.access import ShootAccess
from gitops.live.garden import check_identity, observe_garden
from gitops.live.registrations import list_registrations, observe_registrations
from gitops.manifest import Manifest, Target, get
from gitops.plan.document import digest
from gitops.plan.observed import NO_REGISTRATIONS, Inside, Observed, ObservedRegistrations, Unobserved
from gitops.plan.planning import Planned, kinds_inside, make_plan, pruning
from gitops.plan.registered import touches_extensions, unregistered
from gitops.plan.registrations import registrations_to_be, with_left_images, with_vectors
from gitops.record.record import Record
from gitops.record.store import load_records, save_record, tells_news
from gitops.rollout.effects import Effects
from gitops.rollout.executor import ThreadCrew, carry_out
from gitops.rollout.rollout import Rollout
from gitops.rollout.wave import Rules


@dataclass(frozen=True)
class World:
    """What a run acts on."""

    garden: Cluster
    access: ShootAccess
    clock: Clock
    threads: int = 16
    """Requests under way at once."""
    runtime: Cluster | None = None
    """The cluster that gardener-operator runs in; None where nobody said how to reach it."""

    def effects(self, desired: Desired) -> Effects:
        """Whoever carries actions out in this world."""
        return Effects(desired, self.garden, self.access, self.clock, self.runtime)


@dataclass(frozen=True)
class Pace:
    """How a run spends its time."""

    poll: timedelta = timedelta(seconds=5)
    """Between two looks at something that is being waited for."""
    deadline: timedelta | None = None
    """The longest that a run may take; None lets it wait as long as its gates allow."""


@dataclass(frozen=True)
class Outlook:
    """What a plan is drawn from."""

    desired: Desired
    """With the image vectors that every shoot must have been rolled with."""
    shoots: Mapping[Target, Observed]
    registrations: ObservedRegistrations


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


def reconcile(
    world: World,
    desired: Desired,
    *,
    trigger: str,
    pace: Pace,
    on_plan: Callable[[Planned], None],
    on_change: Callable[[Rollout], None],
) -> Record:
    """One run to the end, or to where it must wait.

    Args:
        world: what to act on.
        desired: what to achieve.
        trigger: what started the run: `command`, `push` or `schedule`.
        pace: how to spend time.
        on_plan: shown the plan before anything is written.
        on_change: called whenever the rollout moved.

    Raises:
        Refused: the plan must not be carried out; nothing was written.
        ApiError: the garden cannot be read; nothing was written.
    """
    started = world.clock.now()
    before = load_records(world.garden, desired.overlay)
    planned, outlook = plan(world, desired)
    on_plan(planned)
    planned.require_permission()
    record = Record(
        overlay=desired.overlay.name,
        revision=desired.revision,
        digest=digest(planned.plan),
        trigger=trigger,
        result=_roll_out(world, outlook, pace, started, on_change).result(),
        started=started,
        finished=world.clock.now(),
    )
    if tells_news(record, before):
        save_record(world.garden, desired.overlay, record, before)
    return record


def _roll_out(
    world: World,
    outlook: Outlook,
    pace: Pace,
    started: datetime,
    on_change: Callable[[Rollout], None],
) -> Rollout:
    desired = outlook.desired
    rules = Rules(desired.overlay, pruning(desired), pace.poll)
    rollout = Rollout(desired, outlook.shoots, rules, world.clock.now(), outlook.registrations)
    effects = world.effects(desired)
    deadline = started + pace.deadline if pace.deadline is not None else None
    with ThreadCrew(effects.perform, world.clock, threads=world.threads) as crew:
        carry_out(rollout, crew, world.clock, deadline=deadline, on_change=on_change)
    return rollout


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
    if not kinds_inside(desired.shoots[target], shoot):
        return Unobserved("nothing is declared inside it")
    if get(shoot, "spec", "hibernation", "enabled") or get(shoot, "status", "hibernated"):
        return Unobserved("the shoot is hibernated")
    inside = effects.observe_inside(target, shoot)
    if isinstance(inside, Forbidden | CredentialsError):
        raise inside
    return inside
