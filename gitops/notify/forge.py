"""What all forges have in common: a commit's statuses and a pull request's comments, as values and as requests."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from gitops.errors import GitopsError
from gitops.notify.secret import SecretFile
from gitops.notify.web import Request, Response, Send, Undelivered, raise_unless_taken
from gitops.report.words import printable, short_revision

DESCRIPTION = 140
"""Characters of a description; GitHub takes no more, the others as many at least."""


class State(Enum):
    """What a status says of a commit."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    """What is declared there could not be rolled out."""
    ERROR = "error"
    """The run itself could not go on."""


@dataclass(frozen=True)
class CommitStatus:
    """What one context says of one commit."""

    revision: str
    """The commit, 40 hex digits."""
    context: str
    """Such as `gitops/dev` and `gitops/dev/canary`."""
    state: State
    headline: str
    """What happened, without what changes from run to run."""
    detail: str = ""
    """What a person wants to know besides, as far as there is room."""
    target_url: str = ""
    """Where to read on; empty for the commit's page."""

    @property
    def description(self) -> str:
        """Headline and detail on one line that every forge takes."""
        text = printable(" ".join((f"{self.headline}: {self.detail}" if self.detail else self.headline).split()))
        return text if len(text) <= DESCRIPTION else f"{text[: DESCRIPTION - 1]}…"

    def __str__(self) -> str:
        return f"status {self.state.value} of {self.context} at {short_revision(self.revision)}"


@dataclass(frozen=True)
class Held:
    """What a forge holds for one context."""

    word: str
    """The state in the forge's own words."""
    description: str


@dataclass(frozen=True)
class Comment:
    """A comment on a pull request."""

    id: str
    text: str
    author: str
    """As the forge names its users; compared with who we are."""
    by_bot: bool = False
    """Whether the forge says that no person wrote it."""
    version: int = 0
    """What an update must name, where the forge asks for it."""


@dataclass(frozen=True)
class Comments:
    """One page of comments."""

    comments: tuple[Comment, ...]
    next: int | None = None
    """Where the next page begins; None on the last one."""


class Forge(Protocol):
    """One repository on one forge: what to send to it, and what its answers mean. No I/O, and no secrets."""

    name: ClassVar[str]
    """As `--forge` calls it."""
    longest: ClassVar[int]
    """Characters of a comment."""
    statuses_page: ClassVar[int]
    """Statuses of a commit in one answer."""
    takes_html: ClassVar[bool]
    """Whether comments may hold HTML, such as folded details."""

    def word(self, state: State) -> str:
        """A state as the forge calls it."""

    def key(self, context: str) -> str:
        """What the forge calls a context."""

    def status(self, status: CommitStatus) -> Request:
        """Set a status."""

    def statuses(self, revision: str, page: int) -> Request:
        """Ask what it holds for a commit; pages count from 1, and all but the last have `statuses_page` entries."""

    def held(self, body: Any) -> dict[str, Held]:
        """What it holds, by the key of the context."""

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """Whether a refusal of a status means that the forge holds it already."""

    def comments(self, pull: int, start: int | None) -> Request:
        """Ask for a page of a pull request's comments; None is the first."""

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """A page of comments in the order of their making."""

    def add_comment(self, pull: int, text: str) -> Request:
        """Make a comment."""

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """Replace a comment's text."""

    def who(self) -> Request:
        """Ask who we are."""

    def me(self, answer: Response) -> str:
        """Who we are, as authors of comments are named; empty where the forge does not say."""

    def authorization(self, token: str) -> Mapping[str, str]:
        """The headers that carry a token."""


class ForgeClient:
    """Sends a forge's requests with its token, which is read from its file each time."""

    def __init__(self, forge: Forge, send: Send, token: SecretFile) -> None:
        self.forge = forge
        self._send = send
        self._token = token

    def ask(self, request: Request) -> Response:
        """The answer to a request that was taken.

        Raises:
            Undelivered: it was refused, or not answered.
            CredentialsError: the token cannot be read.
        """
        response = self.exchange(request)
        self.require(response)
        return response

    def exchange(self, request: Request) -> Response:
        """The answer to a request, whatever its status.

        Raises:
            Undelivered: it was not answered.
            CredentialsError: the token cannot be read.
        """
        headers = {**request.headers, **self.forge.authorization(self._token.read())}
        return self._send(Request(request.method, request.url, request.body, headers))

    def require(self, response: Response) -> None:
        """Raises Undelivered unless the answer says that the request was taken."""
        try:
            raise_unless_taken(response)
        except Undelivered as error:
            message = without(self._token, str(error))
            raise Undelivered(message, passing=error.passing, retry_after=error.retry_after) from None


def without(secret: SecretFile, text: str) -> str:
    """A text of somebody who knows the secret, in which it is not repeated."""
    try:
        found = secret.read()
    except GitopsError:
        return text
    for part in {found, found.rpartition(":")[2]}:
        text = text.replace(part, "***")
    return text


def json_request(method: str, url: str, body: Mapping[str, Any]) -> Request:
    """A request whose body is JSON."""
    return Request(method, url, json.dumps(body).encode())


def quoted(path: str) -> str:
    """A path's parts, each percent-encoded."""
    return "/".join(quote(part, safe="") for part in path.split("/"))


def entries(body: Any, *keys: str) -> list[dict[str, Any]]:
    """The maps in a list that lies under keys; empty where an answer is not as documented."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return [entry for entry in body if isinstance(entry, dict)] if isinstance(body, list) else []


def text_at(body: Any, *keys: str) -> str:
    """The text under keys; empty where there is none."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return str(body) if isinstance(body, str | int) else ""


def basic_or_bearer(token: str) -> dict[str, str]:
    """`user:password` as it is, anything else as a bearer token."""
    if ":" in token:
        return {"Authorization": f"Basic {base64.b64encode(token.encode()).decode()}"}
    return {"Authorization": f"Bearer {token}"}
