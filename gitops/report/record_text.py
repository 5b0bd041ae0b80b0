"""The end of a run as text: what was done, where it stands, and what a person does next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum

from gitops.gardener.installation_gate import SeedVerdict
from gitops.plan.document import GARDEN_WAVE
from gitops.record.record import Record
from gitops.report.style import Style, Tone
from gitops.report.words import (
    counted,
    duration_text,
    listed,
    printable,
    short_digest,
    short_revision,
    wrapped,
)
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import Result, RunOutcome, ShootResult, WaveOutcome, WaveResult, garden_wave_outcome
from gitops.rollout.step import ShootOutcome

OUTCOME_WORDS = {
    ShootOutcome.CONVERGED: "converged",
    ShootOutcome.WAITING: "waiting",
    ShootOutcome.DEFERRED: "deferred",
    ShootOutcome.QUARANTINED: "quarantined",
    ShootOutcome.FAILED: "failed",
    ShootOutcome.NOT_STARTED: "not started",
}
OUTCOME_TONES = {
    ShootOutcome.CONVERGED: Tone.ADDED,
    ShootOutcome.WAITING: Tone.CHANGED,
    ShootOutcome.DEFERRED: Tone.CHANGED,
    ShootOutcome.QUARANTINED: Tone.WARNED,
    ShootOutcome.FAILED: Tone.REMOVED,
    ShootOutcome.NOT_STARTED: Tone.FAINT,
}
_RUN_TONES = {
    RunOutcome.CONVERGED: Tone.ADDED,
    RunOutcome.WAITING: Tone.CHANGED,
    RunOutcome.STOPPED: Tone.REMOVED,
    RunOutcome.FAILED: Tone.REMOVED,
}
_MESSAGES = 20
"""Different messages shown of one wave, unless everything is wanted."""
_NAMES = 5


class Garden(Enum):
    """What the next run will find."""

    LASTING = "lasting"
    """The same garden, as this run left it."""
    PASSING = "passing"
    """Nothing of it: the landscape was made for this run."""


def record_text(record: Record, style: Style, garden: Garden = Garden.LASTING) -> str:
    """What a run did, wave by wave; every shoot that is not converged has its message; at last, what to do next."""
    result = record.result
    outcome = style.paint(result.outcome.value, _RUN_TONES[result.outcome])
    took = duration_text(record.finished - record.started)
    where = f"{printable(record.overlay)} at {short_revision(record.revision)}"
    plan = f" (plan {short_digest(record.digest)})" if record.digest else ""
    written = f"{counted(result.writes, 'object')} written in {took}{plan}"
    lines = [f"{outcome}: {where}, {written}", ""]
    names = max(len(printable(name)) for name in (GARDEN_WAVE, *(wave.name for wave in result.waves)))
    if result.registrations is not None:
        lines += _registrations_lines(result.registrations, names, style)
    for wave in result.waves:
        lines += _wave_lines(wave, names, style)
    lines.append("")
    for step in next_steps(record, garden):
        lines += wrapped(step, width=style.width, indent="  ", first="→ ")
    return "\n".join(lines) + "\n"


def outcome_counts(shoots: tuple[ShootResult, ...]) -> str:
    """Such as `3 converged, 1 failed`."""
    counts = Counter(shoot.outcome for shoot in shoots)
    return ", ".join(f"{counts[outcome]} {word}" for outcome, word in OUTCOME_WORDS.items() if counts[outcome])


def next_steps(record: Record, garden: Garden = Garden.LASTING) -> tuple[str, ...]:
    """What to do now, one sentence or two each; at least one."""
    shoots = [shoot for wave in record.result.waves for shoot in wave.shoots]
    steps = [*_by_run(record), *_by_shoots(shoots)]
    if garden is Garden.PASSING:
        return (*steps, *_after_passing(record.overlay))
    if record.result.outcome is RunOutcome.CONVERGED:
        steps.append(f"From here on `gitops plan {record.overlay}` shows what drifts.")
    if record.result.outcome in {RunOutcome.WAITING, RunOutcome.FAILED}:
        steps.append(f"Run `gitops reconcile {record.overlay}` again, or wait for the next run: nothing is done twice.")
    return tuple(steps)


def _by_run(record: Record) -> Iterator[str]:
    result = record.result
    match result.outcome:
        case RunOutcome.CONVERGED:
            done = "Every shoot is as declared" if result.writes else "Nothing had to be written"
            yield f"{done}."
        case RunOutcome.WAITING:
            yield f"Nothing is wrong. {_own_message(result)}".rstrip()
        case RunOutcome.STOPPED:
            yield from _after_stop(record)
        case RunOutcome.FAILED:
            yield f"The run could not go on. {_own_message(result)}".rstrip()


def _after_passing(overlay: str) -> Iterator[str]:
    yield "The landscape ended with this run."
    yield (
        f"`gitops sandbox {overlay}` keeps one: reconcile it from another terminal, break something with kubectl, and "
        f"`gitops plan {overlay}` shows what."
    )


def _after_stop(record: Record) -> Iterator[str]:
    waves = record.result.waves
    failed = [shoot.shoot for wave in waves for shoot in wave.shoots if shoot.outcome is ShootOutcome.FAILED]
    before = record.result.registrations
    broken = before is not None and garden_wave_outcome(before) is WaveOutcome.STOPPED
    stopped = next((wave.name for wave in waves if wave.outcome is WaveOutcome.STOPPED), GARDEN_WAVE if broken else "")
    where = f"Wave {stopped} stopped" if stopped else "The waves allow some failures, and that is how many there are"
    yield f"{where}: {listed(failed, _NAMES)} failed." if failed else f"{where}. {_own_message(record.result)}".rstrip()
    later = sum(len(wave.shoots) for wave in waves if wave.outcome is WaveOutcome.NOT_STARTED)
    if later:
        yield f"Nothing was written to the {counted(later, 'shoot')} of later waves."
    yield (
        f"`gitops plan {record.overlay}` shows what is still to be done. Fix the cause, in git where it lies there, "
        "and push: a new commit starts again at the first wave, and what is done already is not repeated."
    )


def _by_shoots(shoots: list[ShootResult]) -> Iterator[str]:
    counts = Counter(shoot.outcome for shoot in shoots)
    if number := counts[ShootOutcome.WAITING]:
        yield f"{counted(number, 'shoot')} under way: what each waits for stands above."
    if number := counts[ShootOutcome.DEFERRED]:
        when = "after waking up, after the window or after a resume"
        yield f"{counted(number, 'shoot')} deferred: the first run {when} does the rest."
    if number := counts[ShootOutcome.QUARANTINED]:
        yield (
            f"{counted(number, 'shoot')} left out for not answering: see that the API server can be reached; the next "
            "run takes them in again."
        )


def _registrations_lines(result: RegistrationsResult, names: int, style: Style) -> Iterator[str]:
    """The wave before all others, and the seeds on which an extension is not well."""
    yield f"  {GARDEN_WAVE:<{names}}  {_outcome_text(garden_wave_outcome(result), style)}  {seeds_text(result)}"
    seeds = result.seeds if style.whole else [found for found in result.seeds if not found.verdict.open]
    for found in seeds:
        place = f"{found.extension} on seed {found.seed}" if found.seed else found.extension
        tone = Tone.ADDED if found.verdict.open else Tone.WARNED
        yield f"    {style.paint(printable(place), tone)}"
        yield from wrapped(found.verdict.message, width=style.width, indent=" " * 17)


def seeds_text(result: RegistrationsResult) -> str:
    """Such as `2 registrations written, well in 3 of 4 places`."""
    return f"{counted(result.writes, 'registration')} written, {places_text(result.seeds)}"


def places_text(seeds: Sequence[SeedVerdict]) -> str:
    """Such as `well in 3 of 4 places`."""
    well = sum(found.verdict.open for found in seeds)
    return f"well in {well} of {counted(len(seeds), 'place')}" if seeds else "on no seed yet"


def _outcome_text(outcome: WaveOutcome, style: Style) -> str:
    tone = {WaveOutcome.PASSED: Tone.ADDED, WaveOutcome.STOPPED: Tone.REMOVED}.get(outcome, Tone.FAINT)
    return style.paint(f"{outcome.value:<10}", tone)


def _wave_lines(wave: WaveResult, names: int, style: Style) -> Iterator[str]:
    counts = outcome_counts(wave.shoots) or "no shoots"
    yield f"  {printable(wave.name):<{names}}  {_outcome_text(wave.outcome, style)}  {counts}"
    alike: dict[tuple[ShootOutcome, str], list[ShootResult]] = {}
    for shoot in wave.shoots:
        if shoot.message or shoot.outcome not in {ShootOutcome.CONVERGED, ShootOutcome.NOT_STARTED}:
            alike.setdefault((shoot.outcome, shoot.message), []).append(shoot)
    worst_first = sorted(alike.items(), key=lambda item: item[0][0] is not ShootOutcome.FAILED)
    shown = worst_first if style.whole else worst_first[:_MESSAGES]
    for (found, message), shoots in shown:
        yield from _shoot_lines(found, message, shoots, style)
    if left_out := sum(len(shoots) for _, shoots in worst_first[len(shown) :]):
        yield f"    and {counted(left_out, 'more shoot')}"


def _shoot_lines(outcome: ShootOutcome, message: str, shoots: list[ShootResult], style: Style) -> Iterator[str]:
    names = [shoot.shoot for shoot in shoots]
    writes = sum(shoot.writes for shoot in shoots)
    written = f" ({counted(writes, 'object')} written)" if writes else ""
    told = listed(names, len(names) if style.whole else _NAMES)
    yield f"    {style.paint(f'{OUTCOME_WORDS[outcome]:<11}', OUTCOME_TONES[outcome])}  {told}{written}"
    yield from wrapped(message, width=style.width, indent=" " * 17)


def _own_message(result: Result) -> str:
    """Why the run ended, as a sentence, without what its shoots say, which stands with them."""
    said = [f"{shoot.shoot}: {shoot.message}" for wave in result.waves for shoot in wave.shoots if shoot.message]
    own = [part for part in result.message.split("; ") if not any(part in saying for saying in said)]
    text = " ".join("; ".join(own).split())
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
