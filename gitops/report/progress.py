"""A rollout while it goes on, as plain lines for what changed since last time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC

from gitops.manifest import Target
from gitops.plan.document import GARDEN_WAVE
from gitops.report.frame import ending_text
from gitops.report.record_text import OUTCOME_TONES, OUTCOME_WORDS, outcome_counts, seeds_text
from gitops.report.style import Style, Tone
from gitops.report.words import counted, printable
from gitops.rollout.rollout import Rollout, ShootResult, WaveOutcome, WaveResult
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase, Track

_SMALL = 10
"""Shoots in a wave that are told one by one; of a bigger wave, what is wrong, what is new, and every tenth part."""
_NUMBERS = re.compile(r"\d+")
_LOUD = frozenset({ShootOutcome.FAILED, ShootOutcome.QUARANTINED})


class ProgressLines:
    """Says what changed since it was asked last, never the same line twice in one wave."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._told_waves: set[str] = set()
        self._garden = _GardenLines(style)
        self._told_ending = False
        self._wave = _WaveLines("", 0, style)

    def lines(self, rollout: Rollout) -> list[str]:
        """New lines; to be asked whenever the rollout has moved."""
        found = list(self._garden.lines(rollout))
        if not rollout.waves_begun:
            return found
        if rollout.wave.name != self._wave.name:
            found += self._finished(rollout)
            size = len(rollout.tracks)
            self._wave = _WaveLines(rollout.wave.name, size, self._style)
            if not all(track.phase is Phase.SETTLED for track in rollout.tracks.values()):
                found.append(_opening(rollout))
        found += self._wave.moves(rollout.tracks)
        found += self._wave.waits(rollout)
        if rollout.ending is not None and not rollout.over and not self._told_ending:
            self._told_ending = True
            found.append(ending_text(rollout.ending[1]))
        if rollout.over:
            found += self._finished(rollout)
        return found

    def _finished(self, rollout: Rollout) -> Iterator[str]:
        """The ends of waves that nobody was told of yet; a wave may come and go between two questions."""
        for wave in rollout.result().waves:
            unfinished = wave.outcome is WaveOutcome.NOT_STARTED or (
                wave.outcome is not WaveOutcome.PASSED and not rollout.over
            )
            if unfinished or wave.name in self._told_waves:
                continue
            self._told_waves.add(wave.name)
            known = self._wave if wave.name == self._wave.name else _WaveLines(wave.name, len(wave.shoots), self._style)
            yield from known.closing(wave)


class _GardenLines:
    """What was said about the registrations."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._said: set[str] = set()

    def lines(self, rollout: Rollout) -> Iterator[str]:
        """What is new of them."""
        result = rollout.registrations
        if result is None or not (result.writes or result.message or result.outcome is ShootOutcome.FAILED):
            return
        if result.writes:
            yield from self._once(f"{counted(result.writes, 'registration')} written", None)
        if result.outcome is ShootOutcome.WAITING and result.message:
            yield from self._once(f"waiting: {result.message}", Tone.FAINT)
        if result.outcome is ShootOutcome.FAILED:
            yield from self._once(f"stopped: {result.message}", Tone.REMOVED)
        if result.outcome is ShootOutcome.CONVERGED:
            yield from self._once(f"passed: {seeds_text(result)}", Tone.ADDED)

    def _once(self, text: str, tone: Tone | None) -> Iterator[str]:
        if text not in self._said:
            self._said.add(text)
            yield f"{GARDEN_WAVE}  {self._style.paint(printable(' '.join(text.split())), tone)}"


class _WaveLines:
    """What was said about one wave."""

    def __init__(self, name: str, size: int, style: Style) -> None:
        self.name = name
        self._size = size
        self._style = style
        self._seen: dict[Target, Track] = {}
        self._said: set[str] = set()
        self._settled = 0
        self._tenths = 0

    def moves(self, tracks: Mapping[Target, Track]) -> Iterator[str]:
        """What is new of the shoots."""
        for target, track in tracks.items():
            before = self._seen.get(target)
            if before is not track:
                self._seen[target] = track
                yield from self._move(target, before, track)

    def _move(self, target: Target, before: Track | None, track: Track) -> Iterator[str]:
        self._settled += (track.phase is Phase.SETTLED) - (before is not None and before.phase is Phase.SETTLED)
        if track.writes and self._size <= _SMALL:
            yield from self._once(self._line(target, f"{counted(track.writes, 'object')} written", None))
        if track.phase is Phase.WAITING and track.message:
            yield from self._waiting(target, track.message)
        if track.phase is Phase.SETTLED and track.started:
            yield from self._settling(target, track.outcome, track.message)
        if self._size > _SMALL and self._settled * 10 // self._size > self._tenths:
            self._tenths = self._settled * 10 // self._size
            yield f"{printable(self.name)}  {self._settled} of {self._size} shoots done"

    def waits(self, rollout: Rollout) -> Iterator[str]:
        """That the wave soaks."""
        until = rollout.soaking_until
        if until is not None and rollout.ending is None:
            yield from self._once(f"{printable(self.name)}  soaking until {until.astimezone(UTC):%H:%M:%S} UTC")

    def closing(self, wave: WaveResult) -> Iterator[str]:
        """How the wave ended, after what was not said of its shoots yet."""
        for shoot in wave.shoots:
            if _is_telling(shoot):
                yield from self._settling(shoot.shoot, shoot.outcome, shoot.message)
        words = {WaveOutcome.PASSED: "passed", WaveOutcome.STOPPED: "stopped", WaveOutcome.WAITING: "not finished"}
        counts = outcome_counts(wave.shoots) or "no shoots"
        yield f"{printable(self.name)}  {words.get(wave.outcome, wave.outcome.value)}: {counts}"

    def _waiting(self, target: Target, message: str) -> Iterator[str]:
        """In a big wave, the first shoot that waits for something speaks for those that come after it."""
        text = f"waiting: {message}"
        if self._size <= _SMALL:
            yield from self._once(self._line(target, text, Tone.FAINT), key=f"{target} {_coarse(text)}")
        else:
            yield from self._once(self._line(target, text, Tone.FAINT), key=_NUMBERS.sub("#", text))

    def _settling(self, target: Target, outcome: ShootOutcome, message: str) -> Iterator[str]:
        if self._size <= _SMALL or outcome in _LOUD:
            text = f"{OUTCOME_WORDS[outcome]}: {message}" if message else OUTCOME_WORDS[outcome]
            yield from self._once(self._line(target, text, OUTCOME_TONES[outcome]))

    def _line(self, target: Target, text: str, tone: Tone | None) -> str:
        told = printable(" ".join(text.split()))
        return f"{printable(self.name)}  {printable(target)}  {self._style.paint(told, tone)}"

    def _once(self, line: str, key: str | None = None) -> Iterator[str]:
        if (key or line) not in self._said:
            self._said.add(key or line)
            yield line


def _opening(rollout: Rollout) -> str:
    size = len(rollout.tracks)
    limit = rollout.wave.max_concurrent.of(size)
    pace = f", at most {limit} at a time" if limit < size else ""
    return f"{printable(rollout.wave.name)}  {counted(size, 'shoot')}{pace}"


def _is_telling(shoot: ShootResult) -> bool:
    """Whether an outcome is worth a line of its own: of a shoot that was as declared all along it is not."""
    return shoot.writes > 0 or shoot.outcome not in {ShootOutcome.CONVERGED, ShootOutcome.NOT_STARTED}


def _coarse(text: str) -> str:
    """A text in which a percentage counts by tens, so that not every per cent is a line."""
    return re.sub(r"\d+(?= ?%)", lambda match: str(int(match[0]) // 10), text)
