"""One run, readable from top to bottom: source → desired → live → plan → rollout → record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from uuid import uuid4

from gitops.control.control import Control
from gitops.control.store import load_control
from gitops.control.watch import Watch
from gitops.desired.compose import Desired
from gitops.errors import GitopsError, Refused, told
from gitops.lease.lease import Lease
from gitops.live.garden import check_identity
from gitops.look import plan
from gitops.manifest import Target
from gitops.observer import Observer, Run
from gitops.plan.document import digest
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned, pruning
from gitops.record.record import Record
from gitops.record.store import Stored, begun_before, load_records, save_record, tells_news, unfinished_after
from gitops.rollout.executor import DEADLINE, ThreadCrew, carry_out
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
            setting = _Setting(fenced, run, pace, observer, lease)
            try:
                record = _run(setting, desired, control)
            except _NotBegun as why:
                record = _not_begun(setting, desired, str(why))
    except Exception as error:
        observer.failed(run, told(error))
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

    @property
    def deadline(self) -> datetime | None:
        return self.run.started + self.pace.deadline if self.pace.deadline is not None else None

    @contextmanager
    def holding(self) -> Iterator[None]:
        """The lease is held while the block runs.

        Raises:
            _NotBegun: somebody asked the run to end while it waited, or its time was up.
        """
        waiting = partial(self.observer.waiting, self.run)
        with self.lease.held(self.pace.lock_timeout, waiting, self._hear):
            self.observer.held(self.run, self.world.garden)
            yield

    def _hear(self) -> None:
        if reason := self.pace.stopping():
            raise _NotBegun(reason)
        if self.deadline is not None and self.world.clock.now() >= self.deadline:
            raise _NotBegun(DEADLINE)


class _NotBegun(Refused):
    """The run ends before its first write, and nothing is wrong; the message says why."""


@dataclass(frozen=True)
class _Sight:
    """What a run knows before it writes anything."""

    before: Stored | None
    control: Control
    planned: Planned
    outlook: Outlook

    @property
    def begun(self) -> frozenset[Target]:
        """Shoots that earlier runs began with the same, and did not come to an end with."""
        return begun_before(self.before, self.outlook.desired)

    @cached_property
    def digest(self) -> str:
        """Of the plan; reckoned once, as a plan may be of thousands of shoots."""
        return digest(self.planned.plan)


def _run(setting: _Setting, desired: Desired, control: Control | None) -> Record:
    run = setting.run
    setting.lease.note()
    sight = _look(setting, desired, control)
    idle = _nothing_to_do(setting, sight)
    if idle and not tells_news(record := _record(setting, sight, idle), sight.before):
        return record
    with setting.holding():
        if not setting.lease.undisturbed:
            _hear_of_newer(setting)
            sight, idle = _look(setting, desired, None), None  # nothing that was known is relied on
        elif sight.before is not None and sight.before.last["revision"] != run.revision:
            _hear_of_newer(setting)  # perhaps its run came and went between our look into git and that into the world
        record = _record(setting, sight, idle or _roll_out(setting, sight))
        _remember(setting, sight, record)
    return record


def _not_begun(setting: _Setting, desired: Desired, message: str) -> Record:
    """A run that ends before its first write. It is not even recorded: nothing at all is written."""
    run = setting.run
    result = not_begun(desired, RunOutcome.WAITING, message)
    return Record(run.overlay, run.revision, "", run.trigger, result, run.started, setting.world.clock.now())


def _look(setting: _Setting, desired: Desired, control: Control | None) -> _Sight:
    """How earlier runs ended, what people ask, and what is to be done.

    Raises:
        _NotBegun: the overlay is suspended.
        Refused: the revision was rolled back, or the plan must not be carried out.
    """
    world, run = setting.world, setting.run
    before = load_records(world.garden, desired.overlay)
    setting.observer.remembered(run, before)
    control = control or load_control(world.garden, desired.overlay)
    if control.suspension is not None:
        check_identity(world.garden, desired.overlay.garden.identity)
        message = f"the overlay is suspended {control.suspension}; `gitops resume {run.overlay}` lets it go on"
        raise _NotBegun(message)
    if hold := control.hold_on(desired.revision, desired.content):
        raise Refused(f"{hold}; `gitops resume {run.overlay}` takes that back")
    planned, outlook = plan(world, desired)
    setting.observer.planned(run, planned, outlook)
    planned.require_permission()
    return _Sight(before, control, planned, outlook)


def _hear_of_newer(setting: _Setting) -> None:
    """Ask git again, now that whoever comes with another commit has to wait for us.

    Raises:
        _NotBegun: something else is meant by now.
    """
    try:
        reason = setting.pace.overtaken()
    except GitopsError as error:
        if error.revision in {"", setting.run.revision}:
            raise  # what is wrong with a newer commit is not this one's fault
        reason = f"another commit took the place of this one, and cannot be carried out: {error}"
    if reason:
        raise _NotBegun(reason)


def _record(setting: _Setting, sight: _Sight, result: Result) -> Record:
    run = setting.run
    return Record(
        overlay=run.overlay,
        revision=run.revision,
        digest=sight.digest,
        trigger=run.trigger,
        result=result,
        started=run.started,
        finished=setting.world.clock.now(),
    )


def _remember(setting: _Setting, sight: _Sight, record: Record) -> None:
    """Keep the record where it tells anything; read and written while no other run does either."""
    garden, desired = setting.world.garden, sight.outlook.desired
    before = load_records(garden, desired.overlay)
    if tells_news(record, before):
        unfinished = unfinished_after(record, desired, sight.begun)
        save_record(garden, desired.overlay, record, before, unfinished)
        setting.observer.recorded(setting.run, record)


def _rollout(setting: _Setting, sight: _Sight) -> Rollout:
    desired, run = sight.outlook.desired, setting.run
    rules = Rules(
        desired.overlay,
        pruning(desired),
        setting.pace.poll,
        sight.control,
        revision=run.revision,
        digest=sight.digest,
        begun=sight.begun,
    )
    return Rollout(desired, sight.outlook.shoots, rules, setting.world.clock.now(), sight.outlook.registrations)


def _nothing_to_do(setting: _Setting, sight: _Sight) -> Result | None:
    """The result of a rollout that asks for nothing and waits for nobody; None where it does."""
    rollout = _rollout(setting, sight)
    if rollout.actions(setting.world.clock.now()) or not rollout.over:
        return None
    setting.observer.moved(setting.run, rollout)
    return rollout.result()


def _roll_out(setting: _Setting, sight: _Sight) -> Result:
    world, run, pace = setting.world, setting.run, setting.pace
    desired = sight.outlook.desired

    def moved(rollout: Rollout) -> None:
        setting.lease.check()  # without the lease, nothing that is said about any shoot is of use
        setting.observer.moved(run, rollout)

    rollout = _rollout(setting, sight)
    watch = Watch(
        run.revision,
        lambda: load_control(world.garden, desired.overlay),
        older=pace.listen,
        content=desired.content,
        under=sight.control.hold,
    )
    effects = replace(world.effects(desired), allow=watch.allow)
    with ThreadCrew(effects.perform, world.clock, threads=world.threads) as crew:
        carry_out(rollout, crew, world.clock, deadline=setting.deadline, on_change=moved, stopping=pace.stopping)
    return rollout.result()
