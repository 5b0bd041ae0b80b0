"""Options that say which repository on which forge, and what they stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import click

from gitops.cli.options import F
from gitops.notify.forge import ForgeClient
from gitops.notify.forges import FORGES
from gitops.notify.outbox import Patience
from gitops.notify.place import find_forge
from gitops.notify.secret import SecretFile
from gitops.notify.web import Web
from gitops.source.remote import remote_url

BRIEFLY = Patience(attempts=5, total=60.0)
"""How long a command that somebody waits for tries to reach a forge."""

_FILE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class ForgeOptions:
    """Which repository on which forge, and what opens it."""

    forge: str | None
    address: str | None
    repository: str | None
    token_file: Path | None
    ca_file: Path | None

    @property
    def wanted(self) -> bool:
        """Whether somebody wants a forge to be told, and said it well or not."""
        return any((self.token_file, self.forge, self.address, self.repository))

    def client(self, repo: str, web: Web) -> ForgeClient:
        """The forge of a repository.

        Raises:
            UsageError: there is no token.
            Refused: it is not known which forge that is.
            CredentialsError: the token cannot be read.
        """
        if self.token_file is None:
            raise click.UsageError("a forge takes nothing without a token: name its file with --forge-token-file")
        token = SecretFile(self.token_file, "the forge's token")
        token.read()
        found = find_forge(remote_url(repo), forge=self.forge, address=self.address, repository=self.repository)
        return ForgeClient(found, web, token)


def open_web(ca_file: Path | None) -> Web:
    """The web, by the proxies that the environment names."""
    return Web(ca_file=ca_file, proxy=_proxy)


def _proxy(url: str) -> str | None:
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def forge_options(function: F) -> F:
    """`--forge` and what belongs to it, handed over as one `forge`."""

    @functools.wraps(function)
    def with_forge(
        *,
        forge: str | None,
        forge_url: str | None,
        forge_repository: str | None,
        forge_token_file: Path | None,
        forge_ca_file: Path | None,
        **others: Any,
    ) -> Any:
        options = ForgeOptions(forge, forge_url, forge_repository, forge_token_file, forge_ca_file)
        return function(forge=options, **others)

    options: tuple[Callable[[F], F], ...] = (
        click.option("--forge-ca-file", type=_FILE, metavar="FILE", help="CAs to trust besides the public ones."),
        click.option("--forge-token-file", type=_FILE, metavar="FILE", help="File that holds the forge's token."),
        place_options,
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_forge))


def place_options(function: F) -> F:
    """Which repository on which forge: `forge`, `forge_url` and `forge_repository`, each None where the URL says it."""
    options: tuple[Callable[[F], F], ...] = (
        click.option("--forge-repository", metavar="OWNER/NAME", help="On the forge; taken from the URL otherwise."),
        click.option(
            "--forge-url", metavar="URL", help="The forge's address, where the repository's URL does not say."
        ),
        click.option(
            "--forge", type=click.Choice(list(FORGES)), help="What runs there; known of github.com and the like."
        ),
    )
    return functools.reduce(lambda command, option: option(command), options, function)
