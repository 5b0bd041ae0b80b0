"""One summary per run, to a webhook of any kind and to a chat, when it tells news."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

from gitops.clock import Clock
from gitops.errors import CredentialsError, GitopsError
from gitops.notify.secret import SecretFile
from gitops.notify.statuses import ANOTHER_RUN
from gitops.notify.summary import failure_summary, summary, summary_text
from gitops.notify.web import Request, Send, Undelivered, raise_unless_taken
from gitops.observer import Observer, Run
from gitops.record.record import Record
from gitops.report.words import short_revision

AGAIN = timedelta(hours=1)
"""A failure that stays as it is is told again after this time, and not for every run that meets it."""
_SEPARATORS = re.compile(r"[/?&=]")


@dataclass(frozen=True)
class Announcement:
    """What is to be told of one run."""

    run: str
    summary: dict[str, Any]
    text: str

    def __str__(self) -> str:
        told = self.summary
        at = f" at {short_revision(told['revision'])}" if told["revision"] else ""
        return f"run {self.run[:8]} ({told['outcome']}: {told['overlay']}{at})"


class Announcements(Observer):
    """Tells of a run where it wrote, ended otherwise than the one before it, or failed."""

    def __init__(
        self, put: Callable[[Hashable, Announcement], None], clock: Clock, link: str = "", again: timedelta = AGAIN
    ) -> None:
        """Make the observer.

        Args:
            put: takes a key and what is to be delivered, at once.
            clock: by which a failure that goes on is told again.
            link: where to read on, with `{overlay}` for the overlay's name; empty for nowhere.
            again: how long a failure that stays the same is not told again.
        """
        self._put = put
        self._clock = clock
        self._link = link
        self._again = again
        self._news: set[str] = set()
        self._failing: dict[str, tuple[Hashable, datetime]] = {}

    def recorded(self, run: Run, record: Record) -> None:
        """It tells news, else nothing had been recorded."""
        del record
        self._news.add(run.id)

    def ended(self, run: Run, record: Record) -> None:
        """One summary, if it tells news."""
        told = summary(run, record, self._link_of(run))
        fails = told["outcome"] in {"Stopped", "Failed"}
        recovered = run.overlay in self._failing and not fails and record.looked
        news = run.id in self._news
        self._news.discard(run.id)
        state = (record.revision, told["outcome"], *(str(wave["counts"]) for wave in told["waves"]))
        due = fails and self._is_due(run, state)
        if news or due or recovered:
            took = (record.finished - record.started).total_seconds()
            self._put(run.id, Announcement(run.id, told, summary_text(told, took)))
        if not fails and record.looked:
            self._failing.pop(run.overlay, None)

    def failed(self, run: Run, error: GitopsError) -> None:
        """A failure is news, at first and from time to time."""
        self._news.discard(run.id)
        if not isinstance(error, ANOTHER_RUN) and self._is_due(run, (run.revision, str(error))):
            told = failure_summary(run, error, self._link_of(run))
            self._put(run.id, Announcement(run.id, told, summary_text(told, None)))

    def _is_due(self, run: Run, state: Hashable) -> bool:
        """Whether a failure is another one than before, or was not told for a while."""
        now = self._clock.now()
        told = self._failing.get(run.overlay)
        if told is not None and told[0] == state and now - told[1] < self._again:
            return False
        self._failing[run.overlay] = (state, now)
        return True

    def _link_of(self, run: Run) -> str:
        return self._link.replace("{overlay}", quote(run.overlay, safe=""))


@dataclass(frozen=True)
class Webhook:
    """Posts summaries as JSON, signed where there is a secret."""

    send: Send
    url: SecretFile
    secret: SecretFile | None = None

    def __call__(self, announcement: Announcement) -> None:
        """Deliver one.

        The signature is `X-Signature: sha256=<hex>`, HMAC-SHA256 of the body by the secret. A delivery that was not
        answered is made again: receivers tell by `run` whether they know it.

        Raises:
            Undelivered, CredentialsError: it could not be told.
        """
        body = json.dumps(announcement.summary, separators=(",", ":")).encode()
        headers = {}
        if self.secret is not None:
            digest = hmac.new(self.secret.read().encode(), body, hashlib.sha256).hexdigest()
            headers["X-Signature"] = f"sha256={digest}"
        _post(self.send, self.url, body, headers)


@dataclass(frozen=True)
class Chat:
    """Posts messages to an incoming webhook of Slack, or of a chat that takes the same (Mattermost, Rocket.Chat)."""

    send: Send
    url: SecretFile

    def __call__(self, announcement: Announcement) -> None:
        """Deliver one.

        Raises:
            Undelivered, CredentialsError: it could not be told.
        """
        body = {"text": announcement.text, "unfurl_links": False, "unfurl_media": False}
        _post(self.send, self.url, json.dumps(body).encode())


def _post(send: Send, file: SecretFile, body: bytes, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    """Post to an address that is itself a secret, in part or as a whole: no refusal that repeats any of it is told."""
    url = read_url(file)
    response = send(Request("POST", url, body, headers))
    try:
        raise_unless_taken(response)
    except Undelivered as error:
        parts = urlsplit(url)
        told = any(part in str(error) for part in _SEPARATORS.split(f"{parts.path}?{parts.query}") if len(part) > 3)
        message = f"HTTP {response.status}" if told else str(error)
        raise Undelivered(message, passing=error.passing, retry_after=error.retry_after) from None


def read_url(file: SecretFile) -> str:
    """The address in a file.

    Raises:
        CredentialsError: there is none; the message does not repeat what is there.
    """
    url = file.read()
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname or " " in url:
        raise CredentialsError(f"{file.path} holds no http or https address, and {file.what} is one")
    return url
