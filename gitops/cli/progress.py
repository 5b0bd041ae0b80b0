"""A rollout while it goes on: a display that is drawn again on a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import click

from gitops.cli.terminal import stderr_style
from gitops.clock import Clock
from gitops.report.frame import Frames
from gitops.report.progress import ProgressLines
from gitops.rollout.rollout import Rollout

if TYPE_CHECKING:
    from rich.text import Text

Show = Callable[[Rollout], None]
"""To be called whenever the rollout has moved."""

_PER_SECOND = 5


@contextmanager
def shown_progress(clock: Clock) -> Iterator[Show]:
    """Progress on standard error for as long as the block runs.

    Args:
        clock: the run's own, for what is left of a soak and how long it took.
    """
    if not is_live(sys.stderr):
        yield _Lines().show
        return
    display = _Display(clock)
    try:
        yield display.show
    finally:
        display.close()


def is_live(stream: TextIO) -> bool:
    """Whether somebody watches who would see a display move; logs of CI systems keep every frame of it."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("CI")


class _Lines:
    """Line after line."""

    def __init__(self) -> None:
        self._lines = ProgressLines(stderr_style())

    def show(self, rollout: Rollout) -> None:
        for line in self._lines.lines(rollout):
            click.echo(line, err=True)


class _Display:
    """Drawn again several times a second by a thread of its own, also while nothing happens but time."""

    def __init__(self, clock: Clock) -> None:
        # Imported here, because that takes longer than most of our commands, and only people at a terminal need it.
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.live import Live  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        self._clock = clock
        self._console = Console(file=sys.stderr, highlight=False)
        self._text = Text
        self._style = stderr_style()
        self._frames = Frames(clock.now())
        self._rollout: Rollout | None = None
        self._live = Live(console=self._console, get_renderable=self._drawn, refresh_per_second=_PER_SECOND)

    def show(self, rollout: Rollout) -> None:
        if self._rollout is None:
            self._rollout = rollout
            self._live.start(refresh=True)

    def close(self) -> None:
        """Leave the last frame standing, and the cursor below it."""
        if self._rollout is not None:
            self._live.stop()
            click.echo(err=True)

    def _drawn(self) -> Text:
        style = replace(self._style, width=self._console.width)
        lines = self._frames.lines(self._rollout, self._clock.now(), style) if self._rollout else []
        return self._text.from_ansi("\n".join(lines), no_wrap=True, overflow="ellipsis")
