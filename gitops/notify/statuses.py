"""Commit statuses per overlay and wave: what the forge shows beside the commit that a run carries out."""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from gitops.desired.compose import Desired
from gitops.errors import GitopsError, InvalidInput, LeaseHeld, LeaseLost, Refused
from gitops.notify.forge import CommitStatus, ForgeClient, Held, State
from gitops.notify.summary import spoken
from gitops.notify.web import Undelivered
from gitops.observer import Observer, Run
from gitops.plan.changes import Action, Change
from gitops.plan.document import GARDEN_WAVE
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.record.store import Stored
from gitops.report.words import counted, short_revision
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import Result, Rollout, RunOutcome, WaveOutcome, WaveResult, garden_wave_outcome
from gitops.rollout.step import ShootOutcome

_RUNS = {
    RunOutcome.CONVERGED: (State.SUCCESS, "Converged"),
    RunOutcome.WAITING: (State.PENDING, "Waiting"),
    RunOutcome.STOPPED: (State.FAILURE, "Stopped"),
    RunOutcome.FAILED: (State.ERROR, "Failed"),
}
_WAVES = {
    WaveOutcome.PASSED: (State.SUCCESS, "Passed"),
    WaveOutcome.WAITING: (State.PENDING, "Waiting"),
    WaveOutcome.STOPPED: (State.FAILURE, "Stopped"),
}
ANOTHER_RUN = (LeaseHeld, LeaseLost)
"""What ends a run because another one is at work, which says nothing of what the commit declares."""
_PENDING = {Action.CREATED, Action.CONFIGURED, Action.PRUNED}
_REVISIONS = 64
"""Commits of which it is remembered what the forge holds."""
_PAGES = 20
"""Of a commit's statuses that are read."""
_REWORDED = 50
"""How often one context of one commit may get another reason; GitHub takes a thousand statuses of it."""
_NUMBER = re.compile(r"\d+")
_FRESH = 300.0
"""Seconds after which the forge is asked again: other processes, and people, set the same statuses."""


@dataclass
class _Seen:
    """What was said of one run, so that nothing is said twice."""

    overlay: str
    revision: str
    id: str = ""
    """The run's; empty where none began."""
    pending: frozenset[str] = frozenset()
    """Waves in which something will be written."""
    wave: str | None = None
    """The wave that the rollout was in."""
    soaking: bool = False
    rolled_out: bool = False
    """Whether the last run that looked at the world found the revision rolled out."""
    said: dict[str, CommitStatus] = field(default_factory=dict)
    """By context."""


class ForgeStatuses(Observer):
    """Says on the forge how runs go: `gitops/<overlay>`, and `gitops/<overlay>/<wave>` for each wave that begins.

    A status is put where a state changed: some for a run that writes, and for one that finds everything as declared
    its outcome only, which the forge holds already if an earlier run of the same commit ended alike. None stays pending
    once a run of another commit begins, but where a process was killed before it could keep a record.
    """

    def __init__(self, put: Callable[[CommitStatus], None], target_url: str = "") -> None:
        """Make the observer.

        Args:
            put: takes a status that is to be delivered, at once.
            target_url: where statuses lead, with `{overlay}` for the overlay's name; empty for the commit's page.
        """
        self._put = put
        self._target_url = target_url
        self._seen: dict[str, _Seen] = {}
        self._pending: dict[str, dict[str, CommitStatus]] = {}
        """By overlay and context, what was said last, where that is no outcome."""

    def not_begun(self, overlay: str, revision: str, error: GitopsError) -> None:
        """No run of the commit could even begin. One of another commit may go on meanwhile."""
        self._say(_Seen(overlay, revision), "", *_of_error(error))

    def began(self, run: Run, desired: Desired) -> None:
        """Forget an earlier run of the overlay, which may have been broken off; what it left pending has ended."""
        del desired
        for status in list(self._pending.get(run.overlay, {}).values()):
            if status.revision != run.revision:
                self._supersede(run, status.revision, status.context)
        self._seen[run.overlay] = _Seen(run.overlay, run.revision, run.id)

    def remembered(self, run: Run, before: Stored | None) -> None:
        """A commit that an earlier run, perhaps of another process, had to leave is not waited for any more."""
        if before is None:
            return
        last = before.last
        self._of(run).rolled_out = (last["revision"], last["outcome"]) == (run.revision, RunOutcome.CONVERGED.value)
        if last["revision"] == run.revision or last["outcome"] != RunOutcome.WAITING.value:
            return
        overlay = _context(run.overlay, "")
        waiting = [wave["name"] for wave in last["waves"] if wave["outcome"] == WaveOutcome.WAITING.value]
        for context in (overlay, *(_context(run.overlay, wave) for wave in waiting)):
            self._supersede(run, str(last["revision"]), context)

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        """Where something will be written, the overlay is on its way."""
        del outlook
        plan = planned.plan
        waves = {wave.name: [c for shoot in wave.shoots for c in shoot.changes] for wave in plan.waves}
        changing = {name for name, changes in waves.items() if _writes(changes)}
        seen = self._of(run)
        seen.pending = frozenset(changing | ({GARDEN_WAVE} if _writes(list(plan.garden)) else set()))
        if seen.pending and not planned.problems:
            self._say(seen, "", State.PENDING, "Under way")
            if GARDEN_WAVE in seen.pending:
                self._say(seen, GARDEN_WAVE, State.PENDING, "Under way")

    def moved(self, run: Run, rollout: Rollout) -> None:
        """Say when a wave begins, soaks and has passed; everything else is for the end."""
        seen = self._of(run)
        if not rollout.waves_begun:
            return
        soaking = rollout.soaking_until is not None
        if rollout.wave.name == seen.wave and soaking == seen.soaking:
            return
        for name, state, headline, detail in _waves(rollout.result()):
            if state is State.SUCCESS:
                self._say(seen, name, state, headline, detail)
        seen.wave, seen.soaking = rollout.wave.name, soaking
        if seen.wave in seen.pending and rollout.ending is None:
            headline = f"Soaking until {rollout.soaking_until:%H:%M} UTC" if soaking else "Under way"
            self._say(seen, seen.wave, State.PENDING, headline)
            self._say(seen, "", State.PENDING, f"Under way in wave {seen.wave}")

    def ended(self, run: Run, record: Record) -> None:
        """Every wave that came to something, and the whole."""
        seen = self._of(run)
        if not record.looked:
            if not seen.rolled_out:
                self._say(seen, "", State.PENDING, "Waiting", record.result.message)
            self._seen.pop(run.overlay, None)
            return
        for name, state, headline, detail in _waves(record.result):
            self._say(seen, name, state, headline, detail)
        state, word = _RUNS[record.result.outcome]
        shoots = [shoot for wave in record.result.waves for shoot in wave.shoots]
        self._say(seen, "", state, f"{word}, {_counts([s.outcome for s in shoots])}", record.result.message)
        self._seen.pop(run.overlay, None)

    def failed(self, run: Run, error: GitopsError) -> None:
        """The run could not go on, in whatever wave it was; where another one does, that tells of itself."""
        if not isinstance(error, ANOTHER_RUN):
            seen = self._of(run)
            for wave in sorted(seen.pending):
                if _context(run.overlay, wave) in self._pending.get(run.overlay, {}):
                    self._say(seen, wave, *_of_error(error))
            self._say(seen, "", *_of_error(error))
        self._seen.pop(run.overlay, None)

    def _of(self, run: Run) -> _Seen:
        seen = self._seen.get(run.overlay)
        if seen is None or seen.id != run.id:
            seen = self._seen[run.overlay] = _Seen(run.overlay, run.revision, run.id)
        return seen

    def _say(self, seen: _Seen, wave: str, state: State, headline: str, detail: str = "") -> None:
        context = _context(seen.overlay, wave)
        status = CommitStatus(seen.revision, context, state, headline, detail, self._link_of(seen.overlay))
        if seen.said.get(context) != status:
            seen.said[context] = status
            pending = self._pending.setdefault(seen.overlay, {})
            if state is State.PENDING:
                pending[context] = status
            elif context in pending and pending[context].revision == seen.revision:
                del pending[context]
            self._put(status)

    def _supersede(self, run: Run, revision: str, context: str) -> None:
        """Nobody goes on with a revision: the run is of another one."""
        self._pending.get(run.overlay, {}).pop(context, None)
        detail = f"{short_revision(run.revision)} is rolled out instead"
        self._put(CommitStatus(revision, context, State.ERROR, "Superseded", detail, self._link_of(run.overlay)))

    def _link_of(self, overlay: str) -> str:
        return self._target_url.replace("{overlay}", quote(overlay, safe=""))


@dataclass
class _Known:
    """What is known of one commit's statuses."""

    held: dict[str, Held] = field(default_factory=dict)
    asked: float | None = None
    """When the forge was asked; None before that."""
    reworded: Counter[str] = field(default_factory=Counter)
    """How often each was set without another state."""


class StatusPost:
    """Delivers statuses to a forge, but those that it holds already. For one thread at a time."""

    def __init__(self, client: ForgeClient, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Nothing is known yet.

        Args:
            client: the forge.
            monotonic: seconds that only ever pass, by which what is known of the forge grows old.
        """
        self._client = client
        self._monotonic = monotonic
        self._held: OrderedDict[str, _Known] = OrderedDict()

    def __call__(self, status: CommitStatus) -> None:
        """Have the forge hold a status.

        Raises:
            Undelivered, CredentialsError: it could not be told.
        """
        forge = self._client.forge
        known, key = self._known(status.revision), forge.key(status.context)
        before = known.held.pop(key, None)  # what an attempt without an answer has done is not known
        if before is None or _is_new(before, forge.word(status.state), status, known.reworded[key]):
            known.reworded[key] += before is not None and before.word == forge.word(status.state)
            response = self._client.exchange(forge.status(status))
            if not forge.has(status, response):
                self._client.require(response)
            before = Held(forge.word(status.state), status.description)
        known.held[key] = before

    def _known(self, revision: str) -> _Known:
        """What the forge holds for a commit. Where it may not be asked, that is what was sent to it."""
        known = self._held.setdefault(revision, _Known())
        self._held.move_to_end(revision)
        if len(self._held) > _REVISIONS:
            self._held.popitem(last=False)
        if known.asked is None or self._monotonic() - known.asked > _FRESH:
            try:
                for found in self._pages(revision):
                    known.held |= found
            except Undelivered as error:
                if error.passing:
                    raise
            known.asked = self._monotonic()
        return known

    def _pages(self, revision: str) -> Iterator[dict[str, Held]]:
        forge, before = self._client.forge, dict[str, Held]()
        for page in range(1, _PAGES + 1):
            found = forge.held(self._client.ask(forge.statuses(revision, page)).json())
            yield found
            if len(found) < forge.statuses_page or found == before:  # old Bitbuckets have one page, again and again
                return
            before = found


def _is_new(held: Held, word: str, status: CommitStatus, reworded: int) -> bool:
    """Whether a status says anything new: numbers, such as times, may differ, and words do not for ever."""
    if held.word != word:
        return True
    headline = CommitStatus("", "", status.state, status.headline).description
    if held.description != headline and not held.description.startswith(f"{headline}:"):
        return True
    return reworded < _REWORDED and _NUMBER.sub("0", held.description) != _NUMBER.sub("0", status.description)


def _context(overlay: str, wave: str) -> str:
    return f"gitops/{overlay}/{wave}" if wave else f"gitops/{overlay}"


def _writes(changes: list[Change]) -> bool:
    return any(change.action in _PENDING for change in changes)


def _waves(result: Result) -> Iterator[tuple[str, State, str, str]]:
    """Name, state, headline and detail of each wave that came to something."""
    if result.registrations is not None:
        outcome = garden_wave_outcome(result.registrations)
        if outcome in _WAVES:
            yield (GARDEN_WAVE, *_WAVES[outcome], _garden_detail(result.registrations, outcome))
    for wave in result.waves:
        if wave.outcome in _WAVES:
            state, word = _WAVES[wave.outcome]
            counts = _counts([shoot.outcome for shoot in wave.shoots])
            yield wave.name, state, f"{word}, {counts}", "" if state is State.SUCCESS else _detail(wave)


def _garden_detail(result: RegistrationsResult, outcome: WaveOutcome) -> str:
    return "" if outcome is WaveOutcome.PASSED else result.message


def _counts(outcomes: list[ShootOutcome]) -> str:
    """Such as `4 of 5 shoots converged, 1 failed`."""
    count = Counter(outcomes)
    converged = count.pop(ShootOutcome.CONVERGED, 0)
    others = (f", {number} {spoken(outcome.value)}" for outcome, number in sorted(count.items(), key=_by_name))
    total = counted(len(outcomes), "shoot")
    head = f"{total} converged" if converged == len(outcomes) else f"{converged} of {total} converged"
    return head + "".join(others)


def _by_name(counted_outcome: tuple[ShootOutcome, int]) -> str:
    return counted_outcome[0].value


def _detail(wave: WaveResult) -> str:
    """The worst that happened, in the words of the first shoot to which it did."""
    for outcome in (ShootOutcome.FAILED, ShootOutcome.QUARANTINED, ShootOutcome.WAITING, ShootOutcome.DEFERRED):
        for shoot in wave.shoots:
            if shoot.outcome is outcome and shoot.message:
                return f"{shoot.shoot}: {shoot.message}"
    return ""


def _of_error(error: GitopsError) -> tuple[State, str, str]:
    """What a commit declares is its fault; what the world refuses is not."""
    if isinstance(error, InvalidInput | Refused):
        return State.FAILURE, "Refused", str(error)
    return State.ERROR, "Failed", str(error)
