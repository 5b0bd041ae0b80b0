"""`gitops serve`: one process that is told of pushes, keeps a schedule, and runs overlays for years."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click
from starlette.routing import BaseRoute

from gitops.cli.chosen import chosen_in
from gitops.cli.dashboard import Dashboard, dashboard_options
from gitops.cli.exits import Exit, leave_at_once
from gitops.cli.options import Source, repository_options, world_options
from gitops.cli.serve_options import Options, serve_options
from gitops.cli.telling import Telling, telling_options
from gitops.cli.world import Where
from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.observer import Observers
from gitops.serve.app import api_routes, health_routes, hook_routes, make_app, no_hook_routes
from gitops.serve.board import Board, ViewAccess, guarded
from gitops.serve.board import routes as board_routes
from gitops.serve.dispatch import Dispatch
from gitops.serve.display import Display
from gitops.serve.health import Health
from gitops.serve.hooks import Hooks
from gitops.serve.last import LastRuns
from gitops.serve.listening import HttpServer
from gitops.serve.logs import Form, LogObserver, logging_to
from gitops.serve.metrics import Metrics, metrics_route
from gitops.serve.process import Process
from gitops.serve.runner import OpenWorld, Runner
from gitops.source.address import is_url
from gitops.source.git import open_repository
from gitops.trigger.following import following
from gitops.world import World

log = logging.getLogger("gitops.serve")

_FLUSH = 4.0
"""Seconds, after runs have ended, for what is still to be told to others; with the grace period below 30."""


@click.command()
@click.argument("overlays", nargs=-1)
@repository_options
@world_options
@telling_options
@dashboard_options
@serve_options
def serve(
    overlays: tuple[str, ...], source: Source, where: Where, telling: Telling, dashboard: Dashboard, options: Options
) -> int:
    """Run OVERLAYS, or all that the repository has, on pushes and by the schedule, until stopped.

    It prints one line with its address when it listens. Ctrl-C and SIGTERM end runs before their next write.
    """
    _log_to_stderr(options.log_format)
    clock = SystemClock()
    options.secrets.check()
    _check_folder(source.repo)
    with ExitStack() as stack:
        worlds = stack.enter_context(_worlds(where))
        told = stack.enter_context(telling.opened(source.repo, log.warning, worlds.clock, flush=_FLUSH))
        display = Display(Board(worlds.clock), Metrics(worlds.clock), LastRuns(), not where.sandbox)
        runner = Runner(
            Dispatch(options.timing, overlays, clock.now(), initial_run=options.initial_run, queued=display.queued),
            source.commit,
            worlds.opened,
            clock,
            Health(time.monotonic),
            display,
            lambda world, desired: chosen_in(world, source, desired),
            Observers(LogObserver(), told.observer(worlds.clock)),
            poll=options.poll,
            deadline=options.deadline,
            not_begun=told.not_begun,
        )
        process = Process(runner, options.limits)
        addresses = [*_addresses(source.repo), *options.hook_repo]
        hooks = Hooks(
            options.secrets.read,
            following(addresses, source.revision),
            process.pushed,
            clock.now,
            display.metrics.webhook,
        )
        routes = [
            *health_routes(runner.health),
            metrics_route(display.metrics),
            *(no_hook_routes() if options.secrets.file is None else hook_routes(hooks)),
            *_pages(display, dashboard.access(options.listening.host)),
        ]
        try:
            server = HttpServer(make_app(*routes), options.listening)
        except OSError as error:
            where_to = f"{options.listening.host}:{options.listening.port}"
            raise click.ClickException(f"cannot listen at {where_to}: {error}") from None
        return _until_stopped(process, server)


def _pages(display: Display, access: ViewAccess | None) -> Sequence[BaseRoute]:
    """What there is to see, for those who may look; last, as the dashboard answers whatever no other route does."""
    if access is None:
        return ()
    return [*guarded(api_routes(display.last), access), *board_routes(display.board, access)]


def _until_stopped(process: Process, server: HttpServer) -> Exit:
    """The life of the process; a second Ctrl-C ends it at once."""
    wish = threading.Event()

    def hear(number: int, _: object) -> None:
        if wish.is_set() and number == signal.SIGINT:
            leave_at_once(Exit.INTERRUPTED)
        wish.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, hear)
    process.start(server)
    click.echo(f"gitops serve listens at {server.url}")
    if (tick := process.next_tick) is None:
        log.warning("no --schedule: only pushes start runs, and what others change in the clusters stays until then")
    else:
        log.info("next scheduled runs at %s", tick.isoformat())
    wish.wait()
    log.info("ending: runs end before their next write")
    if not process.stop():
        leave_at_once(Exit.ERROR)  # the interpreter would wait for threads whose requests hang
    return Exit.OK


@dataclass(frozen=True)
class _Worlds:
    """How runs come to their world, and what time it is there."""

    opened: OpenWorld
    clock: Clock


@contextmanager
def _worlds(where: Where) -> Iterator[_Worlds]:
    """A garden is opened for each run; a landscape of the sandbox lives as long as the process."""
    if not where.sandbox:
        yield _Worlds(where.opened, SystemClock())
        return
    with ExitStack() as stack:
        landscapes = _Landscapes(where, stack)
        yield _Worlds(landscapes.opened, landscapes)


class _Landscapes:
    """One for each overlay. As a clock, they tell the latest of their times, each of which goes its own pace."""

    def __init__(self, where: Where, stack: ExitStack) -> None:
        self._where = where
        self._stack = stack
        self._lock = threading.Lock()
        self._worlds: dict[str, World] = {}

    @contextmanager
    def opened(self, desired: Desired, _: Clock) -> Iterator[World]:
        """An overlay's landscape."""
        name = desired.overlay.name
        with self._lock:
            if name not in self._worlds:
                self._worlds[name] = self._stack.enter_context(self._where.opened(desired))
        yield self._worlds[name]

    def now(self) -> datetime:
        """The latest of their times."""
        with self._lock:
            return max((world.clock.now() for world in self._worlds.values()), default=SystemClock().now())

    def sleep(self, seconds: float) -> None:
        """Let real time pass."""
        SystemClock().sleep(seconds)

    def patience(self, until: datetime) -> float | None:
        """They stand still while others work."""
        del until
        return None


def _check_folder(repo: str) -> None:
    """A folder that is no repository will not become one; an address that does not answer now may do so later.

    Raises:
        SourceError: it is no repository.
    """
    if not is_url(repo):
        open_repository(Path(repo)).close()


def _addresses(repo: str) -> Sequence[str]:
    """How a push may name the repository."""
    return [repo] if is_url(repo) else [str(Path(repo).resolve())]


def _log_to_stderr(form: Form) -> None:
    logging_to(sys.stderr, form)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it warns of bad requests without their source; we do with
