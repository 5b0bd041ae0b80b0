"""`gitops serve`: one process that is told of pushes, keeps a schedule, and runs overlays for years."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import click

from gitops.cli.exits import Exit, leave_at_once
from gitops.cli.options import Duration, Source, repository_options, world_options
from gitops.cli.world import Where
from gitops.clock import Clock, SystemClock
from gitops.desired.compose import Desired
from gitops.errors import CredentialsError
from gitops.pipeline import World
from gitops.serve.app import api_routes, health_routes, hook_routes, make_app
from gitops.serve.dispatch import Dispatch, Timing
from gitops.serve.health import Health
from gitops.serve.hooks import Hooks
from gitops.serve.last import LastRuns
from gitops.serve.listening import HttpServer, Listening
from gitops.serve.process import Limits, Process
from gitops.serve.runner import Runner
from gitops.source.git import open_repository
from gitops.source.mirror import is_url
from gitops.trigger.following import following
from gitops.trigger.schedule import read_schedule, read_zone
from gitops.trigger.secrets_file import SHORT, read_secrets

log = logging.getLogger("gitops.serve")

_FILE = click.Path(dir_okay=False, path_type=Path)


class HostAndPort(click.ParamType[tuple[str, int]]):
    """`HOST:PORT`, `[IPV6]:PORT` or `:PORT`, which means every address of the machine."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Read it, or fail as a usage error."""
        if isinstance(value, tuple):
            return value
        host, colon, port = str(value).rpartition(":")
        if not (colon and port.isascii() and port.isdigit() and int(port) <= 65535):
            self.fail(f"{value!r} is not HOST:PORT such as 127.0.0.1:8080 or [::]:8080", param, ctx)
        return host.removeprefix("[").removesuffix("]") or "0.0.0.0", int(port)  # noqa: S104 - asked for by `:PORT`


@dataclass(frozen=True)
class _Webhooks:
    """What makes a delivery ours."""

    file: Path | None
    aliases: tuple[str, ...]

    def secrets(self) -> Sequence[str]:
        """As the file has them now.

        Raises:
            OSError, ValueError: it cannot be read.
        """
        return read_secrets(self.file.read_text()) if self.file is not None else ()

    def check(self) -> None:
        """Say at the start what would go wrong later.

        Raises:
            CredentialsError: the file cannot be read, or holds no secret.
        """
        if self.file is None:
            log.warning("no --webhook-secret-file: /hooks/ answers 404, and no push starts a run")
            return
        try:
            secrets = self.secrets()
        except (OSError, ValueError) as error:
            raise CredentialsError(f"the webhook secrets in {self.file} cannot be read: {error}") from None
        if not secrets:
            raise CredentialsError(f"{self.file} holds no webhook secret: write one on each line")
        if any(len(secret) < SHORT for secret in secrets):
            log.warning("a webhook secret has fewer than %d characters and can be guessed", SHORT)


class _Checked(click.ParamType[str]):
    """A text that a function accepts, or refuses with a ValueError that says why."""

    def __init__(self, name: str, check: Callable[[str], object]) -> None:
        self.name = name
        self._check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Leave it as it is, or fail as a usage error."""
        try:
            self._check(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


def _check_networks(text: str) -> None:
    for part in filter(None, text.split(",")):
        try:
            ip_network(part.strip())
        except ValueError:
            raise ValueError(f"{part.strip()!r} is neither an address nor a network") from None


_CRON = _Checked("cron", lambda text: read_schedule(text, "UTC"))
_ZONE = _Checked("zone", read_zone)
_NETWORKS = _Checked("networks", _check_networks)


def _options(function: Callable[..., int]) -> Callable[..., int]:
    """What only this command has."""
    grace = "Time for runs to end before their next write, once the process is to end."
    proxies = "Proxies whose X-Forwarded-For is believed, as addresses or networks joined by commas."
    late = "Overlays run up to so much later than scheduled, each always by the same part of it."
    alias = "Another address or name of the repository that webhooks may use. May be repeated."
    for option in (
        click.option("--tls-key", type=_FILE, metavar="FILE", help="The key of --tls-cert."),
        click.option("--tls-cert", type=_FILE, metavar="FILE", help="Serve HTTPS with this certificate (PEM)."),
        click.option("--forwarded-allow-ips", type=_NETWORKS, default="", metavar="LIST", help=proxies),
        click.option("--grace-period", type=Duration(), default=timedelta(seconds=25), show_default="25s", help=grace),
        click.option("--workers", type=click.IntRange(1, 256), default=8, show_default=True, help="Overlays at once."),
        click.option("--deadline", type=Duration(), help="End each run after this time, wherever it is."),
        click.option(
            "--poll-interval",
            type=Duration(),
            default=timedelta(seconds=5),
            show_default="5s",
            help="Time between two looks at something that is being waited for.",
        ),
        click.option("--initial-run/--no-initial-run", default=True, show_default=True, help="Run all at the start."),
        click.option("--jitter", type=Duration(), default=timedelta(minutes=1), show_default="1m", help=late),
        click.option(
            "--time-zone", type=_ZONE, default="UTC", show_default=True, metavar="ZONE", help="Of --schedule."
        ),
        click.option("--schedule", type=_CRON, metavar="CRON", help="When all run, such as '*/10 * * * *'."),
        click.option("--hook-repo", multiple=True, metavar="NAME", help=alias),
        click.option("--webhook-secret-file", type=_FILE, metavar="FILE", help="Webhook secrets, one on each line."),
        click.option("--listen", type=HostAndPort(), default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT"),
    ):
        function = option(function)
    return function


@click.command()
@click.argument("overlays", nargs=-1)
@repository_options
@world_options
@_options
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
    webhooks = _Webhooks(webhook_secret_file, hook_repo)
    webhooks.check()
    _check_folder(source.repo)
    timing = Timing(read_schedule(schedule, time_zone) if schedule else None, jitter)
    with ExitStack() as stack:
        runner = Runner(
            Dispatch(timing, overlays, clock.now(), initial_run=initial_run),
            source.opened,
            stack.enter_context(_worlds(where)),
            clock,
            Health(time.monotonic),
            LastRuns(),
            poll=poll_interval,
            deadline=deadline,
        )
        process = Process(runner, Limits(workers, grace_period.total_seconds()))
        routes = [*health_routes(runner.health), *api_routes(runner.last)]
        if webhook_secret_file is not None:
            followed = following([*_addresses(source.repo), *hook_repo], source.revision)
            routes += hook_routes(Hooks(webhooks.secrets, followed, process.pushed, clock.now))
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
