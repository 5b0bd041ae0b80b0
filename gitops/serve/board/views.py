"""What the dashboard shows of an overlay, as values that never change: one page is drawn from one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from gitops.errors import Violation
from gitops.manifest import Target
from gitops.plan.changes import Plan, ShootPlan
from gitops.report.control import Controlled, control_lines
from gitops.report.explain import Explanation
from gitops.report.grouping import Group, groups, is_quiet
from gitops.serve.progress import STATES, UNDER_WAY, ShootState, WaveState

NEVER = "NeverRun"
"""Of an overlay of which no run is known."""
TROUBLE = "Error"
"""Of an overlay whose last run could not go on: that is no outcome of any shoot."""


@dataclass(frozen=True)
class Commit:
    """What people call a revision."""

    subject: str
    author: str = ""


@dataclass(frozen=True)
class RunNow:
    """The run that is under way."""

    id: str
    revision: str
    trigger: str
    started: datetime
    planned: bool = False
    """Whether it knows what it would do."""
    waits_for: str = ""
    """Who holds the overlay's lease, without which it writes nothing; empty where it waits for nobody."""
    ending: str = ""
    """Why it is about to end; empty while it goes on."""


@dataclass(frozen=True)
class LastRun:
    """The last run that came to its end."""

    revision: str
    digest: str
    trigger: str
    outcome: str
    message: str
    writes: int
    started: datetime | None
    finished: datetime | None


@dataclass(frozen=True)
class Trouble:
    """Why the last runs, or the last looks into the repository, could not go on."""

    message: str
    revision: str
    since: datetime
    """When the first of them failed in this way."""
    last: datetime
    times: int


def once_more(before: Trouble | None, message: str, revision: str, now: datetime) -> Trouble:
    """The same trouble as before, or another."""
    if before is not None and before.message == message:
        return replace(before, revision=revision, last=now, times=before.times + 1)
    return Trouble(message, revision, now, now, 1)


@dataclass(frozen=True)
class RepositoryView:
    """How it fares with the repository, which all pages tell."""

    version: int
    """When that changed, by the board's count."""
    trouble: Trouble | None = None
    """Why it could not be read at the last try; None where it could. It is of no revision."""


@dataclass(frozen=True)
class Seed:
    """How one extension fares on one seed."""

    extension: str
    seed: str
    """Empty where it is on none."""
    status: str
    message: str


@dataclass(frozen=True)
class GardenWave:
    """What comes before all waves: registrations of extensions."""

    state: str
    message: str
    writes: int
    seeds: tuple[Seed, ...]


@dataclass(frozen=True)
class PlanNow:
    """The last plan that a run has drawn. Its values are masked."""

    plan: Plan
    digest: str
    at: datetime
    problems: tuple[Violation, ...]
    """Why it must not be carried out; empty where it may be."""

    @cached_property
    def shoots(self) -> Mapping[Target, ShootPlan]:
        """Each shoot's part."""
        return {shoot.shoot: shoot for wave in self.plan.waves for shoot in wave.shoots}

    @cached_property
    def groups(self) -> tuple[tuple[str, Group], ...]:
        """Shoots that change alike, each with its wave; found once, as that takes long over thousands."""
        return tuple((wave.name, group) for wave in self.plan.waves for group in groups(wave))

    @cached_property
    def quiet(self) -> Mapping[str, int]:
        """By wave, how many shoots there is nothing to tell of."""
        return {wave.name: sum(map(is_quiet, wave.shoots)) for wave in self.plan.waves}


@dataclass(frozen=True)
class OverlayView:
    """One overlay at one moment."""

    name: str
    version: int
    """Of two views of one board the later has the greater."""
    run: RunNow | None = None
    last: LastRun | None = None
    trouble: Trouble | None = None
    """None once a run came to its end again."""
    garden: GardenWave | None = None
    """None where no registration is declared."""
    waves: tuple[WaveState, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)
    """By wave, how carefully it goes: `25% at once, no failure allowed, soaks 10 min`."""
    plan: PlanNow | None = None
    history: tuple[Mapping[str, Any], ...] = ()
    """Records in brief, newest first."""
    known: Mapping[Target, Explanation] = field(default_factory=dict)
    """Why each shoot is where the last run left it; empty until one of this process has, and while the next begins."""
    labels: Mapping[Target, Mapping[str, str]] = field(default_factory=dict)
    """Of the declared Shoots."""
    commits: Mapping[str, Commit] = field(default_factory=dict)
    """By revision, as far as anybody said."""
    next_at: datetime | None = None
    """When the schedule starts the next run; None where nothing is scheduled."""
    queued: tuple[str, ...] = ()
    """What asked for a run that has not begun."""
    control: Controlled | None = None
    """What people have asked of this overlay's rollout, and what shoots wait for; None while nobody has looked."""

    @property
    def state(self) -> str:
        """`UNDER_WAY`, `TROUBLE`, the last run's outcome, or `NEVER`."""
        if self.run is not None:
            return UNDER_WAY
        if self.trouble is not None:
            return TROUBLE
        return self.last.outcome if self.last is not None else NEVER

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence for each thing that is asked, or waited for: suspended, held, waiting for an approval."""
        return tuple(control_lines(self.control)) if self.control is not None else ()

    @property
    def standing_notices(self) -> tuple[str, ...]:
        """Those that hold for every shoot, whatever it waits for itself."""
        return tuple(control_lines(replace(self.control, held={}))) if self.control is not None else ()

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Shoots by state, only states that occur."""
        found: Counter[str] = Counter()
        for wave in self.waves:
            found.update(wave.counts)
        return {state: found[state] for state in STATES if found[state]}

    @cached_property
    def shoots(self) -> Mapping[Target, tuple[WaveState, ShootState]]:
        """Every shoot with its wave."""
        return {shoot.shoot: (wave, shoot) for wave in self.waves for shoot in wave.shoots}

    @property
    def revision(self) -> str:
        """What is being rolled out, or was last; empty where no run is known."""
        if self.run is not None:
            return self.run.revision
        return self.last.revision if self.last is not None else ""
