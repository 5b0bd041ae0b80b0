"""One run, readable from top to bottom: source → desired → live → plan → rollout → record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import uuid4

from gitops.clock import Clock
from gitops.control.control import Control, Suspension
from gitops.control.store import load_control
from gitops.control.watch import Watch
from gitops.desired.compose import Desired
from gitops.errors import CredentialsError, Forbidden, GitopsError, Refused, Violation
from gitops.gardener.shoot_record import has_vectors
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Transport
from gitops.lease.fence import Check, Fenced
from gitops.lease.lease import Lease
from gitops.lease.leasing import Leasing
from gitops.live.access import ShootAccess
from gitops.live.garden import check_identity, observe_garden
from gitops.live.registrations import list_registrations, observe_registrations
from gitops.manifest import Manifest, Target, get
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.observed import NO_REGISTRATIONS, Inside, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, kinds_inside, make_plan, pruning
from gitops.plan.registered import touches_extensions, unregistered
from gitops.plan.registrations import registrations_to_be, with_left_images, with_vectors
from gitops.record.record import Record
from gitops.record.store import load_records, save_record, tells_news
from gitops.rollout.effects import Effects
from gitops.rollout.executor import ThreadCrew, carry_out
from gitops.rollout.rollout import Result, Rollout, RunOutcome, not_begun
from gitops.rollout.wave import Rules


@dataclass(frozen=True)
class World:
    """What a run acts on."""

    garden: Cluster
    access: ShootAccess
    clock: Clock
    threads: int = 16
    """Requests under way at once."""
    run: str = field(default_factory=lambda: uuid4().hex)
    """Which run this is, unlike every other: what an earlier one found wanting is looked at again."""
    runtime: Cluster | None = None
    """The cluster that gardener-operator runs in; None where nobody said how to reach it."""
    leasing: Leasing = field(default_factory=Leasing)
    """How runs keep each other from writing at once."""

    def effects(self, desired: Desired) -> Effects:
        """Whoever carries actions out in this world."""
        return Effects(desired, self.garden, self.access, self.clock, self.run, self.runtime)

    @contextmanager
    def fenced(self, check: Check) -> Iterator[World]:
        """The same world, in which every write asks first."""

        def wrap(transport: Transport) -> Fenced:
            return Fenced(transport, check)

        garden = self.garden.through(wrap)
        runtime = self.runtime.through(wrap) if self.runtime is not None else None
        with closing(self.access.through(garden, wrap)) as access:
            yield replace(self, garden=garden, access=access, runtime=runtime)


@dataclass(frozen=True)
class Pace:
    """How a run spends its time."""

    poll: timedelta = timedelta(seconds=5)
    """Between two looks at something that is being waited for."""
    deadline: timedelta | None = None
    """The longest that a run may take; None lets it wait as long as its gates allow."""
    lock_timeout: timedelta = timedelta(0)
    """How long to wait for another run that is alive. One that is not is waited for until its lease has expired."""
    listen: timedelta = timedelta(seconds=1)
    """Before a write, how old may be what is known of a suspension; real time."""
    stopping: Callable[[], str] = lambda: ""
    """Why the run should end before its next write; empty lets it go on. Asked from the thread that the run is in."""


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
    observer: Observer | None = None,
    control: Control | None = None,
) -> Record:
    """One run to the end, or to where it must wait.

    Which revision is meant is the caller's to find out, by `choose_revision`: one that was rolled back is refused.

    It holds the overlay's lease from before its first write to after its last; where there is nothing to write, none
    is taken.

    Args:
        world: what to act on.
        desired: what to achieve.
        trigger: what started the run: `command`, `push` or `schedule`.
        pace: how to spend time.
        observer: told how it goes; None where nobody wants to know.
        control: what people ask, as it has just been read; None to read it.

    Raises:
        LeaseHeld: another run is at work on the overlay; nothing was written.
        LeaseLost: another run may be by now; nothing more was written, the record neither.
        Refused: the plan must not be carried out; nothing was written.
        ApiError: the garden cannot be read, and nothing was written; or the record could not be.
    """
    run = Run(uuid4().hex, desired.overlay.name, desired.revision, trigger, world.clock.now())
    observer = observer or Observer()
    observer.began(run, desired)
    overlay = desired.overlay
    lease = Lease(world.garden, overlay.name, overlay.garden.namespaces[0], run.id, world.leasing)
    try:
        with replace(world, run=run.id).fenced(lease.check) as fenced:
            record = _run(_Setting(fenced, run, pace, observer, lease), desired, control)
    except GitopsError as error:
        observer.failed(run, error)
        raise
    observer.ended(run, record)
    return record


@dataclass(frozen=True)
class _Setting:
    """One run in its world."""

    world: World
    run: Run
    pace: Pace
    observer: Observer
    lease: Lease

    @contextmanager
    def holding(self) -> Iterator[None]:
        """The lease is held while the block runs."""
        with self.lease.held(self.pace.lock_timeout, lambda holder: self.observer.waiting(self.run, holder)):
            self.observer.held(self.run, self.world.garden)
            yield


def _run(setting: _Setting, desired: Desired, control: Control | None) -> Record:
    world, run, lease = setting.world, setting.run, setting.lease
    before = load_records(world.garden, desired.overlay)
    setting.observer.remembered(run, before)
    control = control or load_control(world.garden, desired.overlay)
    if control.suspension is not None:
        return _suspended(setting, desired, control.suspension)
    if hold := control.hold_on(desired.revision):
        raise Refused(f"{hold}; `gitops resume {run.overlay}` takes that back")
    planned, outlook = _look(setting, desired)
    if result := _nothing_to_do(setting, planned, outlook, control):
        record = _record(setting, planned, result)
        if tells_news(record, before):
            with setting.holding():
                _remember(setting, desired, record)
        return record
    with setting.holding():
        if not lease.undisturbed_since(_looked_at(outlook)):
            setting.observer.remembered(run, load_records(world.garden, desired.overlay))
            control = load_control(world.garden, desired.overlay)
            planned, outlook = _look(setting, desired)
        record = _record(setting, planned, _roll_out(setting, planned, outlook, control))
        _remember(setting, desired, record)
    return record


def _suspended(setting: _Setting, desired: Desired, suspension: Suspension) -> Record:
    """A run that ends at once. It is not even recorded: nothing at all is written."""
    world, run = setting.world, setting.run
    check_identity(world.garden, desired.overlay.garden.identity)
    message = f"the overlay is suspended {suspension}; `gitops resume {run.overlay}` lets it go on"
    result = not_begun(desired, RunOutcome.WAITING, message)
    return Record(run.overlay, run.revision, "", run.trigger, result, run.started, world.clock.now())


def _look(setting: _Setting, desired: Desired) -> tuple[Planned, Outlook]:
    planned, outlook = plan(setting.world, desired)
    setting.observer.planned(setting.run, planned, outlook)
    planned.require_permission()
    return planned, outlook


def _looked_at(outlook: Outlook) -> datetime | None:
    """When the garden was read, by its own clock; None where nothing is declared in it."""
    return min((seen.server_time for seen in outlook.shoots.values()), default=None)


def _record(setting: _Setting, planned: Planned, result: Result) -> Record:
    run = setting.run
    return Record(
        overlay=run.overlay,
        revision=run.revision,
        digest=digest(planned.plan),
        trigger=run.trigger,
        result=result,
        started=run.started,
        finished=setting.world.clock.now(),
    )


def _remember(setting: _Setting, desired: Desired, record: Record) -> None:
    """Keep the record where it tells anything; read and written while no other run does either."""
    garden = setting.world.garden
    before = load_records(garden, desired.overlay)
    if tells_news(record, before):
        save_record(garden, desired.overlay, record, before)
        setting.observer.recorded(setting.run, record)


def _rollout(setting: _Setting, planned: Planned, outlook: Outlook, control: Control) -> Rollout:
    desired, run = outlook.desired, setting.run
    rules = Rules(
        desired.overlay,
        pruning(desired),
        setting.pace.poll,
        control,
        revision=run.revision,
        digest=digest(planned.plan),
    )
    return Rollout(desired, outlook.shoots, rules, setting.world.clock.now(), outlook.registrations)


def _nothing_to_do(setting: _Setting, planned: Planned, outlook: Outlook, control: Control) -> Result | None:
    """The result of a rollout that asks for nothing and waits for nobody; None where it does."""
    rollout = _rollout(setting, planned, outlook, control)
    if rollout.actions(setting.world.clock.now()) or not rollout.over:
        return None
    setting.observer.moved(setting.run, rollout)
    return rollout.result()


def _roll_out(setting: _Setting, planned: Planned, outlook: Outlook, control: Control) -> Result:
    world, run, pace = setting.world, setting.run, setting.pace
    desired = outlook.desired

    def moved(rollout: Rollout) -> None:
        setting.lease.check()  # without the lease, nothing that is said about any shoot is of use
        setting.observer.moved(run, rollout)

    rollout = _rollout(setting, planned, outlook, control)
    watch = Watch(run.revision, lambda: load_control(world.garden, desired.overlay), older=pace.listen)
    effects = replace(world.effects(desired), allow=watch.allow)
    deadline = run.started + pace.deadline if pace.deadline is not None else None
    with ThreadCrew(effects.perform, world.clock, threads=world.threads) as crew:
        carry_out(rollout, crew, world.clock, deadline=deadline, on_change=moved, stopping=pace.stopping)
    return rollout.result()


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
