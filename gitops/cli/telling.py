"""Options that say who is told how a run goes, and what they stand for."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from uuid import uuid4

import click

from gitops.cli.options import F
from gitops.clock import Clock, SystemClock
from gitops.errors import GitopsError, InvalidInput
from gitops.notify.announce import Announcement, Announcements, Chat, Webhook, read_url
from gitops.notify.events import ShootEvents
from gitops.notify.forge import CommitStatus, ForgeClient
from gitops.notify.forges import FORGES
from gitops.notify.outbox import Outbox, Patience, Tell
from gitops.notify.place import find_forge
from gitops.notify.secret import SecretFile
from gitops.notify.statuses import ForgeStatuses, StatusPost
from gitops.notify.web import Web
from gitops.observer import Observer, Observers, Run
from gitops.source.remote import remote_url

FLUSH = 30.0
"""Seconds that the end of a command waits for what is still to be delivered."""


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
        """Whether somebody wants the forge to be told."""
        return self.token_file is not None

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


@dataclass(frozen=True)
class Telling:
    """Who is told how runs go."""

    forge: ForgeOptions
    link: str
    """Where to read on, with `{overlay}` for the overlay's name; empty for the forge's own pages."""
    webhook: SecretFile | None
    webhook_secret: SecretFile | None
    chat: SecretFile | None
    events: bool

    @contextmanager
    def opened(self, repo: str, tell: Tell, clock: Clock | None = None) -> Iterator[Told]:
        """Everybody who is to be told, for as long as runs go on; at the end all is delivered, or told to be lost.

        Args:
            repo: the repository whose commits are carried out.
            tell: told what could not be delivered, from any thread.
            clock: by which failures that go on are told again.

        Raises:
            UsageError, Refused, CredentialsError: what was said of the forge, an address or a secret cannot be used.
        """
        clock = clock or SystemClock()
        if not (self.forge.wanted or self.webhook or self.chat):
            yield Told(None, (), tell, clock, self.events)
            return
        with closing(open_web(self.forge.ca_file)) as web:
            boxes: list[Outbox[Any]] = []
            statuses, announcements = None, []
            if self.forge.wanted:
                client = self.forge.client(repo, web)
                sent: Outbox[CommitStatus] = Outbox(client.forge.name, StatusPost(client), tell)
                boxes.append(sent)
                statuses = ForgeStatuses(lambda s: sent.put((s.revision, s.context), s), self.link)
            for receiver, deliver in self._receivers(web):
                box: Outbox[Announcement] = Outbox(receiver, deliver, tell)
                boxes.append(box)
                announcements.append(Announcements(box.put, clock, self.link))
            with _delivered(boxes):
                yield Told(statuses, tuple(announcements), tell, clock, self.events)

    def _receivers(self, web: Web) -> Iterator[tuple[str, Webhook | Chat]]:
        if self.webhook is not None:
            read_url(self.webhook)
            if self.webhook_secret is not None:
                self.webhook_secret.read()
            yield "the webhook", Webhook(web, self.webhook, self.webhook_secret)
        if self.chat is not None:
            read_url(self.chat)
            yield "the chat", Chat(web, self.chat)


@contextmanager
def _delivered(boxes: Sequence[Outbox[Any]]) -> Iterator[None]:
    """Deliver at the end of the block, for so long as there is time; for none where somebody interrupts it."""
    seconds = FLUSH
    try:
        yield
    except KeyboardInterrupt:
        seconds = 0.0
        raise
    finally:
        end = time.monotonic() + seconds
        for box in boxes:
            box.close(max(end - time.monotonic(), 0.0))


@dataclass(frozen=True)
class Told:
    """Everybody who is told, and how to tell them."""

    statuses: ForgeStatuses | None
    announcements: tuple[Announcements, ...]
    tell: Tell
    clock: Clock
    events: bool

    def observer(self, clock: Clock) -> Observer:
        """Tells everybody of runs, of any number of overlays.

        Args:
            clock: what time it is in the gardens.
        """
        events = [ShootEvents(clock, self.tell)] if self.events else []
        everybody = [self.statuses, *self.announcements, *events]
        return Observers(*(observer for observer in everybody if observer is not None))

    def refused(self, overlay: str, revision: str, error: GitopsError, trigger: str = "") -> None:
        """Tell of a commit whose overlay is refused before any run of it begins."""
        if self.statuses is not None:
            self.statuses.refused(overlay, revision, error)
        for announcements in self.announcements:
            announcements.failed(Run(uuid4().hex, overlay, revision, trigger, self.clock.now()), error)

    @contextmanager
    def of_refusal(self, overlay: str, revision: str, trigger: str) -> Iterator[None]:
        """Tell if the overlay is refused in the block, and go on raising."""
        try:
            yield
        except InvalidInput as error:
            self.refused(overlay, revision, error, trigger)
            raise


@contextmanager
def warnings_at_the_end() -> Iterator[Tell]:
    """Keep what could not be told until a display is gone."""
    held: list[str] = []
    try:
        yield held.append
    finally:
        for text in held:
            click.echo(f"warning: {text}", err=True)


_FILE = click.Path(dir_okay=False, path_type=Path)


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

    options = (
        click.option("--forge-ca-file", type=_FILE, metavar="FILE", help="CAs to trust besides the public ones."),
        click.option("--forge-token-file", type=_FILE, metavar="FILE", help="File that holds the forge's token."),
        click.option("--forge-repository", metavar="OWNER/NAME", help="On the forge; taken from the URL otherwise."),
        click.option(
            "--forge-url", metavar="URL", help="The forge's address, where the repository's URL does not say."
        ),
        click.option(
            "--forge", type=click.Choice(list(FORGES)), help="What runs there; known of github.com and the like."
        ),
    )
    return functools.reduce(lambda command, option: option(command), options, cast("F", with_forge))


def telling_options(function: F) -> F:
    """Everybody who is told how a run goes, handed over as one `telling`."""

    @functools.wraps(function)
    def with_telling(
        *,
        forge: ForgeOptions,
        link_url: str,
        notify_url_file: Path | None,
        notify_secret_file: Path | None,
        slack_url_file: Path | None,
        events: bool,
        **others: Any,
    ) -> Any:
        if notify_secret_file is not None and notify_url_file is None:
            raise click.UsageError("--notify-secret-file signs what goes to --notify-url-file, which is missing")
        telling = Telling(
            forge,
            link_url,
            _secret(notify_url_file, "the webhook's address"),
            _secret(notify_secret_file, "the webhook's secret"),
            _secret(slack_url_file, "the chat's address"),
            events,
        )
        return function(telling=telling, **others)

    options = (
        click.option("--events/--no-events", default=True, show_default=True, help="Kubernetes Events on the Shoots."),
        click.option(
            "--slack-url-file", type=_FILE, metavar="FILE", help="File with a Slack-compatible webhook's URL."
        ),
        click.option("--notify-secret-file", type=_FILE, metavar="FILE", help="File with the secret that signs these."),
        click.option(
            "--notify-url-file", type=_FILE, metavar="FILE", help="File with a URL that takes JSON summaries."
        ),
        click.option(
            "--link-url", default="", metavar="URL", help="Where all of these lead; {overlay} stands for its name."
        ),
    )
    return forge_options(functools.reduce(lambda command, option: option(command), options, cast("F", with_telling)))


def _secret(path: Path | None, what: str) -> SecretFile | None:
    return None if path is None else SecretFile(path, what)


BRIEFLY = Patience(attempts=5, total=60.0)
"""How long a command that somebody waits for tries to reach a forge."""
