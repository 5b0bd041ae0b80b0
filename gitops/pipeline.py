"""One run, readable from top to bottom: source → desired → live → plan → rollout → record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from gitops.control.control import Control, Suspension
from gitops.control.store import load_control
from gitops.control.watch import Watch
from gitops.desired.compose import Desired
from gitops.errors import GitopsError, Refused
from gitops.lease.lease import Lease
from gitops.live.garden import check_identity
from gitops.look import plan
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, pruning
from gitops.record.record import Record
from gitops.record.store import load_records, save_record, tells_news
from gitops.rollout.executor import ThreadCrew, carry_out
from gitops.rollout.rollout import Result, Rollout, RunOutcome, not_begun
from gitops.rollout.wave import Rules
from gitops.world import Pace, World


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
