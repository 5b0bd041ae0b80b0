"""`gitops serve`: one process that is told of pushes, keeps a schedule, and runs overlays for years."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

import click

from gitops.cli.chosen import chosen_in
from gitops.cli.exits import Exit, leave_at_once
from gitops.cli.options import Source, repository_options, world_options
from gitops.cli.serve_options import WebhookSecrets, serve_options
from gitops.cli.world import Where
from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.observer import Observers
from gitops.serve.app import api_routes, health_routes, hook_routes, make_app
from gitops.serve.dispatch import Dispatch, Timing
from gitops.serve.health import Health
from gitops.serve.hooks import Hooks
from gitops.serve.last import LastRuns
from gitops.serve.listening import HttpServer, Listening
from gitops.serve.metrics import Metrics, metrics_route
from gitops.serve.process import Limits, Process
from gitops.serve.runner import Runner
from gitops.source.address import is_url
from gitops.source.git import open_repository
from gitops.trigger.following import following
from gitops.trigger.schedule import read_schedule
from gitops.world import World

log = logging.getLogger("gitops.serve")


@click.command()
@click.argument("overlays", nargs=-1)
@repository_options
@world_options
@serve_options
def serve(
    overlays: tuple[str, ...],
    source: Source,
    where: Where,
    listen: tuple[str, int],
    webhook_secret_file: Path | None,
    hook_repo: tuple[str, ...],
    schedule: str | None,
    time_zone: str,
    jitter: timedelta,
    *,
    initial_run: bool,
    poll_interval: timedelta,
    deadline: timedelta | None,
    workers: int,
    grace_period: timedelta,
    forwarded_allow_ips: str,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> int:
    """Run OVERLAYS, or all that the repository has, on pushes and by the schedule, until stopped.

    It prints one line with its address when it listens. Ctrl-C and SIGTERM end runs before their next write.
    """
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    _log_to_stderr()
    clock = SystemClock()
    secrets = WebhookSecrets(webhook_secret_file)
    secrets.check()
    _check_folder(source.repo)
    timing = Timing(read_schedule(schedule, time_zone) if schedule else None, jitter)
    metrics = Metrics(clock)
    with ExitStack() as stack:
        runner = Runner(
            Dispatch(timing, overlays, clock.now(), initial_run=initial_run, queued=metrics.queued),
            source.opened,
            stack.enter_context(_worlds(where)),
            clock,
            Health(time.monotonic),
            LastRuns(),
            Observers(metrics),
            choose=lambda world, desired: chosen_in(world, source, desired),
            poll=poll_interval,
            deadline=deadline,
        )
        process = Process(runner, Limits(workers, grace_period.total_seconds()))
        routes = [*health_routes(runner.health), *api_routes(runner.last), metrics_route(metrics)]
        if webhook_secret_file is not None:
            followed = following([*_addresses(source.repo), *hook_repo], source.revision)
            routes += hook_routes(Hooks(secrets.read, followed, process.pushed, clock.now, metrics.webhook))
        try:
            server = HttpServer(make_app(*routes), Listening(*listen, tls_cert, tls_key, forwarded_allow_ips))
        except OSError as error:
            raise click.ClickException(f"cannot listen at {listen[0]}:{listen[1]}: {error}") from None
        return _until_stopped(process, server)


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


@contextmanager
def _worlds(where: Where) -> Iterator[Callable[[Desired, Clock], AbstractContextManager[World]]]:
    """How runs come to their world: a garden is opened for each, a landscape lives as long as the process."""
    if not where.sandbox:
        yield where.opened
        return
    lock, landscapes = threading.Lock(), dict[str, World]()
    with ExitStack() as stack:

        @contextmanager
        def landscape(desired: Desired, _: Clock) -> Iterator[World]:
            name = desired.overlay.name
            with lock:
                if name not in landscapes:
                    landscapes[name] = stack.enter_context(where.opened(desired))
            yield landscapes[name]

        yield landscape


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


def _log_to_stderr() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("gitops").setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it warns of bad requests without their source; we do with
