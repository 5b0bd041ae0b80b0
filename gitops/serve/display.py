"""Everything that shows how overlays fare: the dashboard, the metrics, and the last runs for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from gitops.control.revision import Chosen
from gitops.errors import GitopsError
from gitops.manifest import GARDEN, RUNTIME
from gitops.observer import Observer, Observers, Run
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.record.store import Stored
from gitops.report.control import Controlled, controlled
from gitops.rollout.rollout import RunOutcome
from gitops.rollout.step import ShootOutcome
from gitops.serve.board.board import Board
from gitops.serve.last import LastRuns
from gitops.serve.metrics import Metrics
from gitops.source.headline import Headline
from gitops.trigger.queue import Trigger
from gitops.world import World


@dataclass(frozen=True)
class Display:
    """Told by all threads."""

    board: Board
    metrics: Metrics
    last: LastRuns
    schedule_in_world: bool = True
    """Whether the schedule and the runs live in the same time; a landscape of the sandbox has one of its own."""

    def observer(self, chosen: Chosen, now: Callable[[], datetime]) -> Observer:
        """Shows one run.

        Args:
            chosen: what the run is to achieve, and what people ask of it.
            now: what time it is in its world.
        """
        return Observers(self.last, self.board, self.metrics, _Notices(self.board, chosen, now))

    def unread(self, overlays: Sequence[str], error: GitopsError) -> None:
        """The repository could not be read, so that whatever is shown of its overlays may be old; until `found`."""
        self.board.unread(error)
        for overlay in overlays:
            self.last.failed_with(overlay, error)

    def found(self, overlays: Sequence[str], next_at: Callable[[str], datetime | None]) -> None:
        """The repository has these overlays now, and the schedule runs them then; forget all others."""
        self.board.unread(None)
        self.last.keep_only(overlays)
        self.board.keep(overlays)
        self.metrics.keep(overlays)
        for overlay in overlays if self.schedule_in_world else ():
            self.board.scheduled(overlay, next_at(overlay))

    def reads(self, overlay: str, revision: str, headline: Headline) -> None:
        """A run reads this commit."""
        self.board.committed(overlay, revision, headline.subject, headline.author)

    def queued(self, overlay: str, trigger: Trigger | None) -> None:
        """What asked for the run of an overlay that waits; None when none waits."""
        self.metrics.queued(overlay, int(trigger is not None))
        self.board.queued(overlay, () if trigger is None else (trigger.word,))

    def not_begun(self, overlay: str, revision: str, trigger: Trigger, error: GitopsError) -> None:
        """Why no run could begin, which observers of runs do not hear of.

        Args:
            overlay: whose run.
            revision: the commit; empty where not even that is known.
            trigger: what asked for it.
            error: the reason.
        """
        self.last.failed_with(overlay, error)
        self.metrics.not_begun(overlay, trigger.word)
        self.board.failed_before(overlay, revision, error)

    def close(self) -> None:
        """End what is being sent to readers: the process ends."""
        self.board.close()

    @contextmanager
    def counted(self, world: World) -> Iterator[World]:
        """The same world, in which every request is counted."""
        runtime = world.runtime
        garden = world.garden.through(lambda way: self.metrics.counting(way, GARDEN))
        if runtime is not None:
            runtime = runtime.through(lambda way: self.metrics.counting(way, RUNTIME))
        access = world.access.through(garden, lambda way: self.metrics.counting(way, "shoot"))
        with closing(access):
            yield replace(world, garden=garden, access=access, runtime=runtime)


class _Notices(Observer):
    """Says on the dashboard what people ask of a rollout, and what it waits for."""

    def __init__(self, board: Board, chosen: Chosen, now: Callable[[], datetime]) -> None:
        self._board = board
        self._chosen = chosen
        self._now = now
        self._before: Stored | None = None
        self._planned: Controlled | None = None

    def remembered(self, run: Run, before: Stored | None) -> None:
        """What holds whatever the plan turns out to be."""
        self._before = before
        self._tell(self._standing(run))

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """What its shoots wait for."""
        del run
        plan, chosen = planned.plan, self._chosen
        now = self._now()
        self._planned = controlled(plan, outlook, chosen.control, chosen.hold, now, self._before)
        self._tell(self._planned)

    def ended(self, run: Run, record: Record) -> None:
        """Nothing waits where everything is done; where something was, the plan is another one now."""
        result = record.result
        if result.outcome is RunOutcome.CONVERGED:
            self._tell(self._standing(run))
        elif result.writes and self._planned is not None:
            shoots = (shoot for wave in result.waves for shoot in wave.shoots)
            done = {shoot.shoot for shoot in shoots if shoot.outcome is ShootOutcome.CONVERGED}
            self._tell(self._planned.after_writes(done))

    def _standing(self, run: Run) -> Controlled:
        return Controlled(run.overlay, "", self._chosen.control.suspension, self._chosen.hold, {})

    def _tell(self, what: Controlled) -> None:
        self._board.asked(what)
