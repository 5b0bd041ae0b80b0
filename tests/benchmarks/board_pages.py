"""The dashboard over 5 000 shoots in the midst of a rollout: pages, and what telling costs a run.

A page is asked for in this process, so that what is measured is ours and not the network's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from gitops.observer import Observer
from gitops.serve.board import Board, Everybody, routes
from tests.report.rollouts import NOON
from tests.serve.asking import ask
from tests.serve.board.demo import thousands
from tests.serve.fleets import StoppedClock

TURNS = 900


def best(what: Callable[[], object]) -> float:
    """Seconds of a processor that it takes, the best of five."""
    times = []
    for _ in range(5):
        start = time.process_time()
        what()
        times.append(time.process_time() - start)
    return min(times)


def bare(request: Request) -> PlainTextResponse:
    """The least that can be answered."""
    del request
    return PlainTextResponse("")


def main() -> None:
    """Measure and print."""
    board = Board(StoppedClock(NOON))
    thousands(board, TURNS)
    app = Starlette(routes=[Route("/bare", bare), *routes(board, Everybody())])
    least = best(lambda: ask(app, "/bare"))
    for path in ("/", "/overlays/prod", "/overlays/prod?q=fleet-1&outcome=Converged&page=9", "/overlays/prod/plan"):
        took = best(partial(ask, app, path))
        sys.stdout.write(f"{path}: {took * 1000:.0f} ms, {took / least:.0f} times a bare answer\n")
    watched = best(lambda: _told(Board(StoppedClock(NOON))))
    alone = best(lambda: _told(_Nobody()))
    sys.stdout.write(f"{TURNS} turns of a rollout take {watched / alone:.2f} times as long with a board as without\n")


def _told(board: Board) -> None:
    thousands(board, TURNS)


class _Nobody(Board):
    """Hears nothing."""

    began = Observer.began
    planned = Observer.planned
    moved = Observer.moved


if __name__ == "__main__":
    main()
