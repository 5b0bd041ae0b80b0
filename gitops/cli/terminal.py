"""Whether colours are wanted: never in a pipe, never with NO_COLOR."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from gitops.report.style import Colour, Style


def stdout_style() -> Style:
    """For results."""
    return _style(sys.stdout)


def stderr_style() -> Style:
    """For progress and messages."""
    return _style(sys.stderr)


def _style(stream: TextIO) -> Style:
    coloured = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = min(shutil.get_terminal_size().columns, 160) if stream.isatty() else 100
    return Style(Colour.ANSI if coloured else Colour.NONE, width=width)
