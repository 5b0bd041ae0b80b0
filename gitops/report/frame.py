"""A rollout at one glance, to be drawn again and again: every wave with its bar, and the shoots somebody works on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from gitops.plan.document import GARDEN_WAVE
from gitops.report.record_text import OUTCOME_TONES, OUTCOME_WORDS, seeds_text
from gitops.report.style import Style, Tone
from gitops.report.words import counted, duration_text, printable
from gitops.rollout.rollout import Rollout, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase, Track

_BAR = 24
_WAVES = 3
"""Waves shown before the present one, and after it."""
_ROWS = 8
"""Shoots shown that are under way, and as many of which something is wrong."""
_WRONG = frozenset({ShootOutcome.FAILED, ShootOutcome.QUARANTINED})


class Frames:
    """Draws one rollout. It may be asked while the rollout moves in another thread: what it reads never changes."""

    def __init__(self, started: datetime) -> None:
        self._started = started
        self._wave = ""
        self._before: list[tuple[str, Counter[ShootOutcome]]] = []
        self._after: list[tuple[str, int]] = []
        self._written_before = 0

    def lines(self, rollout: Rollout, now: datetime, style: Style) -> list[str]:
        """The rollout as it stands, none of the lines longer than the style's width."""
        if rollout.wave.name != self._wave:
            self._turn_to(rollout)
        tracks = list(rollout.tracks.values())
        names = max(len(printable(name)) for name in (self._wave, *(name for name, _ in (*self._before, *self._after))))
        drawn = [*self._garden(rollout, names), *self._waves_before(names)]
        drawn.append((self._present(rollout, tracks, names, now), Tone.STRONG))
        drawn += _shoots(tracks)
        drawn += self._waves_after(names)
        drawn.append((self._foot(rollout, tracks, now), Tone.FAINT))
        return [style.paint(_cut(line, style.width), tone) for line, tone in drawn]

    def _turn_to(self, rollout: Rollout) -> None:
        """Remember the other waves, which stay as they are while this one moves."""
        self._wave = rollout.wave.name
        others = [wave for wave in rollout.result().waves if wave.name != self._wave]
        passed = [wave for wave in others if wave.outcome is WaveOutcome.PASSED]
        self._before = [(wave.name, Counter(shoot.outcome for shoot in wave.shoots)) for wave in passed]
        self._written_before = sum(shoot.writes for wave in passed for shoot in wave.shoots)
        self._after = [(w.name, len(w.shoots)) for w in others if w.outcome is WaveOutcome.NOT_STARTED]

    def _garden(self, rollout: Rollout, names: int) -> Iterator[tuple[str, Tone]]:
        """The registrations, and what is waited for before any wave begins."""
        result = rollout.registrations
        if result is None:
            return
        tone = Tone.ADDED if rollout.waves_begun else Tone.STRONG
        yield f"{GARDEN_WAVE:<{names}}  {seeds_text(result)}", tone
        if result.message:
            yield f"  {printable(' '.join(result.message.split()))}", OUTCOME_TONES[result.outcome]

    def _waves_before(self, names: int) -> Iterator[tuple[str, Tone]]:
        if left_out := len(self._before[:-_WAVES]):
            yield f"{counted(left_out, 'wave')} passed", Tone.FAINT
        for name, outcomes in self._before[-_WAVES:]:
            size = outcomes.total()
            wrong = any(outcomes[outcome] for outcome in _WRONG)
            yield f"{_head(name, names, size, size)}{_counts(outcomes)}", Tone.WARNED if wrong else Tone.ADDED

    def _waves_after(self, names: int) -> Iterator[tuple[str, Tone]]:
        for name, size in self._after[:_WAVES]:
            yield _head(name, names, 0, size).rstrip(": "), Tone.FAINT
        if left_out := len(self._after[_WAVES:]):
            yield f"and {counted(left_out, 'more wave')}", Tone.FAINT

    def _present(self, rollout: Rollout, tracks: Sequence[Track], names: int, now: datetime) -> str:
        outcomes = Counter(track.outcome for track in tracks if track.phase is Phase.SETTLED)
        active = sum(_is_active(track) for track in tracks)
        counts = [_counts(outcomes), f"{active} under way" if active else ""]
        told = ", ".join(filter(None, counts)) or "queued"
        until = rollout.soaking_until
        soaking = f"; soaking, {duration_text(until - now)} to go" if until is not None and not rollout.ending else ""
        return f"{_head(rollout.wave.name, names, outcomes.total(), len(tracks))}{told}{soaking}"

    def _foot(self, rollout: Rollout, tracks: Sequence[Track], now: datetime) -> str:
        registered = rollout.registrations.writes if rollout.registrations else 0
        written = registered + self._written_before + sum(track.writes for track in tracks)
        text = f"{counted(written, 'object')} written in {duration_text(now - self._started)}"
        if rollout.ending is None or rollout.over:
            return text
        return f"{text}; {ending_text(rollout.ending[1])}"


def ending_text(reason: str) -> str:
    """That a run ends and why it has not ended yet."""
    return f"waiting for what is under way, Ctrl-C ends at once ({printable(' '.join(reason.split()))})"


def _head(name: str, names: int, settled: int, size: int) -> str:
    filled = _BAR * settled // size if size else _BAR
    return f"{printable(name):<{names}}  {'━' * filled}{'╌' * (_BAR - filled)}  {settled} of {size}: "


def _counts(outcomes: Counter[ShootOutcome]) -> str:
    return ", ".join(f"{outcomes[outcome]} {word}" for outcome, word in OUTCOME_WORDS.items() if outcomes[outcome])


def _shoots(tracks: Sequence[Track]) -> Iterator[tuple[str, Tone]]:
    """Who is under way and what for; who went wrong and why."""
    wrong = [track for track in tracks if track.phase is Phase.SETTLED and track.outcome in _WRONG]
    active = [track for track in tracks if _is_active(track)]
    shown = [*active[:_ROWS], *wrong[:_ROWS]]
    width = max((len(printable(track.target)) for track in shown), default=0)
    for track in shown:
        settled = track.phase is Phase.SETTLED
        message = printable(" ".join(track.message.split())) or "at work"
        told = f"{OUTCOME_WORDS[track.outcome]}: {message}" if settled else message
        yield f"  {printable(track.target):<{width}}  {told}", OUTCOME_TONES[track.outcome] if settled else Tone.FAINT
    left_out = len(active) + len(wrong) - len(shown)
    if left_out:
        yield f"  and {left_out} more", Tone.FAINT


def _is_active(track: Track) -> bool:
    return track.started and track.phase is not Phase.SETTLED


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"
