"""Bitbucket Cloud (developer.atlassian.com/cloud/bitbucket/rest: commit-statuses, pullrequests, users)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

from gitops.notify.forge import (
    Comment,
    Comments,
    CommitStatus,
    Held,
    State,
    basic_or_bearer,
    entries,
    json_request,
    quoted,
    text_at,
)
from gitops.notify.forges.builds import WORDS, builds_held
from gitops.notify.web import Request, Response

PAGE = 100
KEY = 40
"""Characters of a key."""


@dataclass(frozen=True)
class Bitbucket:
    """A repository on Bitbucket Cloud."""

    address: str
    """Such as `https://bitbucket.org`."""
    repository: str
    """`<workspace>/<slug>`."""

    name: ClassVar[str] = "bitbucket"
    longest: ClassVar[int] = 32_768
    statuses_page: ClassVar[int] = PAGE
    takes_html: ClassVar[bool] = False

    def word(self, state: State) -> str:
        """Its own words."""
        return WORDS[state]

    def key(self, context: str) -> str:
        """The context, or a hash of it where it is too long."""
        return context if len(context) <= KEY else hashlib.sha256(context.encode()).hexdigest()[:KEY]

    def status(self, status: CommitStatus) -> Request:
        """Made, or overwritten where the key is known; it must lead somewhere."""
        body = {
            "key": self.key(status.context),
            "name": status.context,
            "state": self.word(status.state),
            "description": status.description,
            "url": status.target_url or f"{self.address}/{quoted(self.repository)}/commits/{status.revision}",
        }
        return json_request("POST", f"{self._base}/commit/{status.revision}/statuses/build", body)

    def statuses(self, revision: str, page: int) -> Request:
        """One of each key."""
        return Request("GET", f"{self._base}/commit/{revision}/statuses?pagelen={PAGE}&page={page}")

    def held(self, body: Any) -> dict[str, Held]:
        """By key."""
        return builds_held(body)

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """A refusal is one."""
        del status, refusal
        return False

    def comments(self, pull: int, start: int | None) -> Request:
        """Pages count from 1."""
        return Request("GET", f"{self._base}/pullrequests/{pull}/comments?pagelen={PAGE}&page={start or 1}")

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """Deleted comments stay in the list."""
        found = tuple(
            Comment(
                text_at(entry, "id"),
                text_at(entry, "content", "raw"),
                text_at(entry, "user", "uuid"),
                by_bot=text_at(entry, "user", "type") not in {"", "user"},
            )
            for entry in entries(body, "values")
            if not entry.get("deleted")
        )
        return Comments(found, (start or 1) + 1 if text_at(body, "next") else None)

    def add_comment(self, pull: int, text: str) -> Request:
        """Markdown without HTML."""
        return json_request("POST", f"{self._base}/pullrequests/{pull}/comments", {"content": {"raw": text}})

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """Only its author may."""
        body = {"content": {"raw": text}}
        return json_request("PUT", f"{self._base}/pullrequests/{pull}/comments/{comment.id}", body)

    def who(self) -> Request:
        """Refused to tokens of repositories and workspaces, which are no users."""
        return Request("GET", f"{self._api}/user")

    def me(self, answer: Response) -> str:
        """The uuid: names change."""
        return text_at(answer.json(), "uuid")

    def authorization(self, token: str) -> dict[str, str]:
        """A bearer token, or `user:password` for API tokens and app passwords."""
        return basic_or_bearer(token)

    @property
    def _api(self) -> str:
        public = self.address == "https://bitbucket.org"
        return "https://api.bitbucket.org/2.0" if public else f"{self.address}/2.0"

    @property
    def _base(self) -> str:
        return f"{self._api}/repositories/{quoted(self.repository)}"
