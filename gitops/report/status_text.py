"""Where every shoot stands, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gitops.report.control import control_lines
from gitops.report.registrations_status import registrations_lines
from gitops.report.standing import Standing
from gitops.report.status import OverlayStatus, ShootStatus
from gitops.report.style import Style, Tone
from gitops.report.table import table_lines
from gitops.report.words import counted, printable, short_revision, wrapped

_HEADING = ("WAVE", "SHOOT", "IN SYNC", "VERDICT", "LAST RUN")
_TONES = {
    Standing.CURRENT: Tone.ADDED,
    Standing.PENDING: Tone.CHANGED,
    Standing.IN_PROGRESS: Tone.CHANGED,
    Standing.FAILED: Tone.REMOVED,
    Standing.DEFERRED: Tone.FAINT,
    Standing.UNKNOWN: Tone.WARNED,
}
_ROWS = 200
"""Shoots shown unless everything is wanted; beyond, shoots that are well are left out."""
_IN_SYNC = {True: "yes", False: "no", None: "unknown"}


def status_text(status: OverlayStatus, style: Style) -> str:
    """The last run, a row for every shoot with its message, and totals."""
    lines = [_last_run(status), *_control(status, style)]
    if status.registrations is not None:
        tone = _TONES[status.registrations.standing]
        lines += [style.paint(line, tone) for line in registrations_lines(status.registrations)]
    lines.append("")
    shown = [s for s in status.shoots if style.whole or len(status.shoots) <= _ROWS or not _is_well(s, status)]
    if shown:
        lines += [*_table(shown, status, style), ""]
    if left_out := len(status.shoots) - len(shown):
        lines.append(f"{counted(left_out, 'shoot')} in sync and current not shown.")
    counts = Counter(shoot.standing for shoot in status.shoots)
    standings = ", ".join(f"{counts[standing]} {standing.value}" for standing in Standing if counts[standing])
    in_sync = sum(shoot.in_sync is True for shoot in status.shoots)
    totals = f"{in_sync} of {counted(len(status.shoots), 'shoot')} in sync: {standings}."
    lines.append(style.paint(totals, Tone.STRONG))
    return "\n".join(lines) + "\n"


def _control(status: OverlayStatus, style: Style) -> Iterator[str]:
    """Not wrapped: there are commands among it, to be copied."""
    for line in control_lines(status.control) if status.control is not None else []:
        yield style.paint(line, Tone.WARNED)


def _table(shoots: Sequence[ShootStatus], status: OverlayStatus, style: Style) -> Iterator[str]:
    """Each message stands whole below its row, and so does what keeps the shoot from being written."""
    held = status.control.held if status.control is not None else {}
    tones = [_TONES[shoot.standing] for shoot in shoots]
    heading, *rows = table_lines(_HEADING, [_row(shoot) for shoot in shoots], style, tones)
    yield heading
    for shoot, row in zip(shoots, rows, strict=True):
        yield row
        yield from wrapped(shoot.message, width=style.width, indent="    ")
        if waiting := held.get(shoot.shoot):
            yield from wrapped(waiting.message, width=style.width, indent="    ")


def _is_well(shoot: ShootStatus, status: OverlayStatus) -> bool:
    if status.control is not None and shoot.shoot in status.control.held:
        return False
    return shoot.in_sync is True and shoot.standing is Standing.CURRENT


def _row(shoot: ShootStatus) -> tuple[str, ...]:
    return shoot.wave, shoot.shoot, _IN_SYNC[shoot.in_sync], shoot.standing.value, shoot.last_outcome or "-"


def _last_run(status: OverlayStatus) -> str:
    here = f"Overlay {printable(status.overlay)} at {short_revision(status.revision)}"
    if status.last is None:
        return f"{here}; never reconciled."
    outcome, finished, revision = (str(status.last.get(key, "")) for key in ("outcome", "finished", "revision"))
    elsewhere = "" if revision == status.revision else f" of {short_revision(revision)}"
    return f"{here}; last run{elsewhere}: {printable(outcome)}, {printable(finished)}."
