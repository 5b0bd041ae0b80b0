"""Rows of cells as aligned columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops.report.style import Style, Tone
from gitops.report.words import printable

_GAP = 2


def table_lines(
    heading: Sequence[str], rows: Sequence[Sequence[str]], style: Style, tones: Sequence[Tone | None] = ()
) -> Iterator[str]:
    """A heading and rows; the last column is cut where the line would grow too long.

    Args:
        heading: names of the columns.
        rows: as many cells in each as the heading has.
        style: colours and width; nothing is cut where everything is wanted.
        tones: one for each row, or none.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heading, *cells, strict=True)]
    yield style.paint(_line(heading, widths, style), Tone.STRONG)
    for number, row in enumerate(cells):
        yield style.paint(_line(row, widths, style), tones[number] if tones else None)


def _line(row: Sequence[str], widths: Sequence[int], style: Style) -> str:
    *padded, last = row
    start = "".join(f"{cell:<{width + _GAP}}" for cell, width in zip(padded, widths, strict=False))
    room = max(style.width - len(start), 30)
    cut = last if style.whole or len(last) <= room else f"{last[: room - 1]}…"
    return f"{start}{cut}".rstrip()
