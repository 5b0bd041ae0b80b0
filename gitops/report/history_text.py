"""The last runs of an overlay, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from gitops.plan.document import API_VERSION
from gitops.report.style import Style, Tone
from gitops.report.table import table_lines
from gitops.report.words import duration_text, printable, short_digest, short_revision

_HEADING = ("STARTED", "TOOK", "REVISION", "TRIGGER", "OUTCOME", "WRITES", "PLAN", "MESSAGE")
_TONES = {"Converged": Tone.ADDED, "Waiting": Tone.CHANGED, "Stopped": Tone.REMOVED, "Failed": Tone.REMOVED}


def history_text(overlay: str, runs: Iterable[Mapping[str, Any]], style: Style) -> str:
    """A table of runs.

    Args:
        overlay: whose runs they are.
        runs: records in brief, as they are stored; newest first.
        style: colours and width.
    """
    listed = list(runs)
    if not listed:
        return f"Overlay {printable(overlay)} has never been reconciled.\n"
    tones = [_TONES.get(str(run.get("outcome"))) for run in listed]
    return "\n".join(table_lines(_HEADING, [_row(run) for run in listed], style, tones)) + "\n"


def history_document(overlay: str, runs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The same as JSON: the runs as they are stored."""
    return {"apiVersion": API_VERSION, "kind": "History", "overlay": overlay, "runs": [dict(run) for run in runs]}


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    started, finished = (str(run.get(key, "")) for key in ("started", "finished"))
    return (
        started,
        _took(started, finished),
        short_revision(str(run.get("revision", ""))),
        str(run.get("trigger", "")),
        str(run.get("outcome", "")),
        str(run.get("writes", "")),
        short_digest(str(run.get("digest", ""))),
        " ".join(str(run.get("message", "")).split()),
    )


def _took(started: str, finished: str) -> str:
    """Empty where the times of a stored record cannot be read."""
    try:
        return duration_text(datetime.fromisoformat(finished) - datetime.fromisoformat(started))
    except (ValueError, TypeError):
        return ""
