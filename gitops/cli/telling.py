"""Options that say who is told how a run goes, and what they stand for."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import click

from gitops.cli.forge import ForgeOptions, forge_options, open_web
from gitops.cli.options import F
from gitops.clock import Clock, SystemClock
from gitops.errors import GitopsError
from gitops.notify.announce import Announcement, Announcements, Chat, Webhook, read_url
from gitops.notify.events import ShootEvents
from gitops.notify.forge import CommitStatus
from gitops.notify.outbox import Outbox, Tell
from gitops.notify.secret import SecretFile
from gitops.notify.statuses import ForgeStatuses, StatusPost
from gitops.notify.web import Web
from gitops.observer import Observer, Observers, Run

FLUSH = 30.0
"""Seconds that the end of a command waits for what is still to be delivered."""


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
    def opened(self, repo: str, tell: Tell, clock: Clock | None = None, *, flush: float = FLUSH) -> Iterator[Told]:
        """Everybody who is to be told, for as long as runs go on; at the end all is delivered, or told to be lost.

        Args:
            repo: the repository whose commits are carried out.
            tell: told what could not be delivered, from any thread.
            clock: by which failures that go on are told again.
            flush: seconds that the end waits for what is still to be delivered.

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
            with _delivered(boxes, flush):
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
def _delivered(boxes: Sequence[Outbox[Any]], seconds: float) -> Iterator[None]:
    """Deliver at the end of the block, for so long as there is time; for none where somebody interrupts it."""
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

    def not_begun(self, overlay: str, revision: str, error: GitopsError, trigger: str) -> None:
        """Tell what keeps a run of an overlay from beginning, at the commit that it would be of, if one is known."""
        if self.statuses is not None and revision:
            self.statuses.not_begun(overlay, revision, error)
        for announcements in self.announcements:
            announcements.failed(Run(uuid4().hex, overlay, revision, trigger, self.clock.now()), error)


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
