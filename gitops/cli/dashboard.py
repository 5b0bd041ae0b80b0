"""Who may look at the dashboard of `gitops serve`, by its options."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from gitops.cli.options import F
from gitops.cli.serve_options import NETWORKS
from gitops.serve.board.access import (
    Everybody,
    PasswordFile,
    ThisMachine,
    TokenFile,
    TrustedProxy,
    ViewAccess,
    is_loopback,
)

log = logging.getLogger("gitops.serve")

_FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class Dashboard:
    """What was said of who may look; at most one thing."""

    token_file: Path | None
    password_file: Path | None
    proxies: str
    """Addresses and networks, joined by commas; empty for none."""
    open: bool

    def __post_init__(self) -> None:
        """Refuse two answers to one question.

        Raises:
            UsageError: there are several.
        """
        if sum(map(bool, (self.token_file, self.password_file, self.proxies, self.open))) > 1:
            raise click.UsageError(
                "who may look at the dashboard? Give one of --dashboard-token-file, --dashboard-password-file, "
                "--dashboard-proxies and --dashboard-open"
            )

    def access(self, host: str) -> ViewAccess | None:
        """Who may look where the process listens at a host; None where nobody may, as nobody was named.

        Raises:
            Refused: a file or an address cannot be used.
        """
        if self.token_file is not None:
            return TokenFile(self.token_file)
        if self.password_file is not None:
            return PasswordFile(self.password_file)
        if self.proxies:
            return TrustedProxy([part.strip() for part in self.proxies.split(",") if part.strip()])
        if self.open:
            return Everybody()
        if is_loopback(host):
            return ThisMachine()
        log.warning("no dashboard, as others than this machine reach it: name one of the --dashboard-… options")
        return None


def dashboard_options(function: F) -> F:
    """Who may look, handed over as one `dashboard`."""

    @functools.wraps(function)
    def with_dashboard(
        *,
        dashboard_token_file: Path | None,
        dashboard_password_file: Path | None,
        dashboard_proxies: str,
        dashboard_open: bool,
        **others: Any,
    ) -> Any:
        who = Dashboard(dashboard_token_file, dashboard_password_file, dashboard_proxies, dashboard_open)
        return function(dashboard=who, **others)

    token = "Show the dashboard to who has a token of this file."  # noqa: S105 - a help text
    password = "Show it to the names and passwords of this file; `gitops password` prints its lines."  # noqa: S105
    proxies = "Show it to whom these proxies name in X-Forwarded-User: addresses or networks joined by commas."
    everybody = "Show it to whoever asks; without any of these, to this machine alone."
    options: tuple[Callable[[F], F], ...] = (
        click.option("--dashboard-open", is_flag=True, help=everybody),
        click.option("--dashboard-proxies", type=NETWORKS, default="", metavar="LIST", help=proxies),
        click.option("--dashboard-password-file", type=_FILE, metavar="FILE", help=password),
        click.option("--dashboard-token-file", type=_FILE, metavar="FILE", help=token),
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_dashboard))
