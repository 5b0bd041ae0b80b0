"""The options of `gitops serve`, and what is wrong with them before anything begins."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any, cast

import click

from gitops.cli.options import Duration, F
from gitops.desired.cron import read_zone
from gitops.errors import CredentialsError
from gitops.serve.dispatch import Timing
from gitops.serve.listening import Listening
from gitops.serve.logs import Form
from gitops.serve.process import Limits
from gitops.trigger.schedule import read_schedule
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
class WebhookSecrets:
    """What proves a delivery."""

    file: Path | None
    """None where no webhook is taken."""

    def read(self) -> Sequence[str]:
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
            secrets = self.read()
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
NETWORKS = _Checked("networks", _check_networks)
"""Addresses or networks, joined by commas."""


@dataclass(frozen=True)
class Options:
    """How the process lives."""

    listening: Listening
    secrets: WebhookSecrets
    hook_repo: tuple[str, ...]
    """More addresses and names of the repository that webhooks may use."""
    timing: Timing
    initial_run: bool
    poll: timedelta
    deadline: timedelta | None
    limits: Limits
    log_format: Form


def serve_options(function: F) -> F:
    """All but the repository, the world, and who is told or may look; handed over as one `options`."""

    @functools.wraps(function)
    def with_options(
        *,
        listen: tuple[str, int],
        webhook_secret_file: Path | None,
        hook_repo: tuple[str, ...],
        schedule: str | None,
        time_zone: str,
        jitter: timedelta,
        initial_run: bool,
        poll_interval: timedelta,
        deadline: timedelta | None,
        workers: int,
        grace_period: timedelta,
        forwarded_allow_ips: str,
        tls_cert: Path | None,
        tls_key: Path | None,
        log_format: str,
        **others: Any,
    ) -> Any:
        if (tls_cert is None) != (tls_key is None):
            raise click.UsageError("--tls-cert and --tls-key go together")
        options = Options(
            Listening(*listen, tls_cert, tls_key, forwarded_allow_ips),
            WebhookSecrets(webhook_secret_file),
            hook_repo,
            Timing(read_schedule(schedule, time_zone) if schedule else None, jitter),
            initial_run,
            poll_interval,
            deadline,
            Limits(workers, grace_period.total_seconds()),
            Form(log_format),
        )
        return function(options=options, **others)

    grace = "Time for runs to end before their next write, once the process is to end."
    proxies = "Proxies whose X-Forwarded-For is believed, as addresses or networks joined by commas."
    late = "Overlays run up to so much later than scheduled, each always by the same part of it."
    certificate = "Serve HTTPS with this certificate (PEM); read again once renewed."
    alias = "Another address or name of the repository that webhooks may use. May be repeated."
    options: tuple[Callable[[F], F], ...] = (
        click.option(
            "--log-format",
            type=click.Choice([form.value for form in Form]),
            default=Form.TEXT.value,
            show_default=True,
            help="One line for each thing that happened, for people or for machines.",
        ),
        click.option("--tls-key", type=_FILE, metavar="FILE", help="The key of --tls-cert."),
        click.option("--tls-cert", type=_FILE, metavar="FILE", help=certificate),
        click.option("--forwarded-allow-ips", type=NETWORKS, default="", metavar="LIST", help=proxies),
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
        click.option("--jitter", type=Duration(zero=True), default=timedelta(minutes=1), show_default="1m", help=late),
        click.option(
            "--time-zone", type=_ZONE, default="UTC", show_default=True, metavar="ZONE", help="Of --schedule."
        ),
        click.option("--schedule", type=_CRON, metavar="CRON", help="When all run, such as '*/10 * * * *'."),
        click.option("--hook-repo", multiple=True, metavar="NAME", help=alias),
        click.option("--webhook-secret-file", type=_FILE, metavar="FILE", help="Webhook secrets, one on each line."),
        click.option("--listen", type=HostAndPort(), default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT"),
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_options))
