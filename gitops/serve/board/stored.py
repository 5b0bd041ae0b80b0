"""From records, as they are stored by contract, to what the dashboard shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gitops.desired.overlay import ApprovalRule, Unit, Wave
from gitops.plan.document import GARDEN_WAVE
from gitops.record.record import brief, is_news
from gitops.report.words import counted, duration_text
from gitops.rollout.registrations_run import RegistrationsResult
from gitops.rollout.rollout import garden_wave_outcome
from gitops.serve.board.views import GardenWave, LastRun, Seed
from gitops.serve.progress import ShootState, WaveState

HISTORY = 50
"""Runs remembered in brief, and commits."""
MESSAGE = 4_000
"""Characters of an error that are kept."""


def last_run(document: Mapping[str, Any]) -> LastRun:
    """The run that a record tells of."""
    return LastRun(
        str(document.get("revision", "")),
        str(document.get("digest", "")),
        str(document.get("trigger", "")),
        str(document.get("outcome", "")),
        str(document.get("message", "")),
        int(document.get("writes") or 0),
        moment(document.get("started")),
        moment(document.get("finished")),
    )


def waves_of(document: Mapping[str, Any]) -> tuple[WaveState, ...]:
    """The waves of shoots of a record."""
    return tuple(
        WaveState(
            str(wave["name"]),
            str(wave["outcome"]),
            tuple(
                ShootState(str(s["shoot"]), str(s["outcome"]), int(s.get("writes") or 0), str(s.get("message", "")))
                for s in wave["shoots"]
            ),
            unlisted=bool(wave.get("abridged")),
        )
        for wave in document.get("waves", ())
        if not _is_garden(wave)
    )


def garden_of(document: Mapping[str, Any]) -> GardenWave | None:
    """What came before the waves; None where the record has nothing of it."""
    wave = next((wave for wave in document.get("waves", ()) if _is_garden(wave)), None)
    if wave is None:
        return None
    entry: Mapping[str, Any] = next(iter(wave["shoots"]), {})
    seeds = tuple(
        Seed(str(seed["extension"]), str(seed["seed"] or ""), str(seed["status"]), str(seed["message"]))
        for seed in wave.get("seeds", ())
    )
    return GardenWave(str(wave["outcome"]), str(entry.get("message", "")), int(entry.get("writes") or 0), seeds)


def garden_now(result: RegistrationsResult | None) -> GardenWave | None:
    """The same of a run that is under way."""
    if result is None:
        return None
    seeds = tuple(Seed(s.extension, s.seed, s.verdict.status.value, s.verdict.message) for s in result.seeds)
    return GardenWave(garden_wave_outcome(result).value, result.message, result.writes, seeds)


def with_news(
    history: tuple[Mapping[str, Any], ...], document: Mapping[str, Any], before: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any], ...]:
    """The history with a run that tells anything new, as the garden's record keeps it."""
    return (brief(document, MESSAGE), *history)[:HISTORY] if is_news(document, before) else history


def rules_text(wave: Wave) -> str:
    """How carefully a wave goes."""
    at_once = wave.max_concurrent
    amount = f"{at_once.amount}%" if at_once.unit is Unit.PERCENT else str(at_once.amount)
    failures = f"{counted(wave.max_failures, 'failure')} allowed" if wave.max_failures else "no failure allowed"
    soak = f", soaks {duration_text(wave.soak)}" if wave.soak else ""
    windows = f", in a window: {' or '.join(map(str, wave.windows))}" if wave.windows else ""
    approval = ", with an approval" if wave.approval is ApprovalRule.REQUIRED else ""
    return f"{amount} at once, {failures}{soak}{approval}{windows}"


def moment(text: Any) -> datetime | None:
    """A stored time; None where it cannot be read."""
    try:
        read = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _is_garden(wave: Mapping[str, Any]) -> bool:
    """A wave of shoots may be named `garden` too; only the garden's own tells of seeds."""
    return wave["name"] == GARDEN_WAVE and "seeds" in wave
