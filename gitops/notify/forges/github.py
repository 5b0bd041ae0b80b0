"""GitHub and GitHub Enterprise Server (docs.github.com/rest: commits/statuses, issues/comments, users)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gitops.notify.forge import (
    Comment,
    Comments,
    CommitStatus,
    Held,
    State,
    entries,
    json_request,
    quoted,
    text_at,
)
from gitops.notify.web import Request, Response

PAGE = 100


@dataclass(frozen=True)
class GitHub:
    """A repository on GitHub."""

    address: str
    """Such as `https://github.com`."""
    repository: str
    """`<owner>/<name>`."""

    name: ClassVar[str] = "github"
    longest: ClassVar[int] = 65_536
    statuses_page: ClassVar[int] = PAGE
    takes_html: ClassVar[bool] = True

    def word(self, state: State) -> str:
        """The same words as ours."""
        return state.value

    def key(self, context: str) -> str:
        """Contexts are compared without regard to case."""
        return context.lower()

    def status(self, status: CommitStatus) -> Request:
        """At most 1000 of one context of one commit, so that what is held already must not be set again."""
        body = {
            "state": status.state.value,
            "context": status.context,
            "description": status.description,
            "target_url": status.target_url or f"{self.address}/{quoted(self.repository)}/commit/{status.revision}",
        }
        return json_request("POST", f"{self._base}/statuses/{status.revision}", body)

    def statuses(self, revision: str, page: int) -> Request:
        """The combined status: the newest of each context."""
        return Request("GET", f"{self._base}/commits/{revision}/status?per_page={PAGE}&page={page}")

    def held(self, body: Any) -> dict[str, Held]:
        """By context."""
        found = entries(body, "statuses")
        return {
            self.key(text_at(status, "context")): Held(text_at(status, "state"), text_at(status, "description"))
            for status in found
        }

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """A refusal is one."""
        del status, refusal
        return False

    def comments(self, pull: int, start: int | None) -> Request:
        """Pages count from 1."""
        return Request("GET", f"{self._base}/issues/{pull}/comments?per_page={PAGE}&page={start or 1}")

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """A full page may be followed by another."""
        found = tuple(
            Comment(
                text_at(entry, "id"),
                text_at(entry, "body"),
                text_at(entry, "user", "login"),
                by_bot=text_at(entry, "user", "type") == "Bot",
            )
            for entry in entries(body)
        )
        return Comments(found, (start or 1) + 1 if len(found) == PAGE else None)

    def add_comment(self, pull: int, text: str) -> Request:
        """A pull request is an issue where comments are concerned."""
        return json_request("POST", f"{self._base}/issues/{pull}/comments", {"body": text})

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """By the comment's own address."""
        del pull
        return json_request("PATCH", f"{self._base}/issues/comments/{comment.id}", {"body": text})

    def who(self) -> Request:
        """Refused to tokens of apps, such as those of workflows: these are bots and no users."""
        return Request("GET", f"{self._api}/user")

    def me(self, answer: Response) -> str:
        """The login."""
        return text_at(answer.json(), "login")

    def authorization(self, token: str) -> dict[str, str]:
        """With the version of the API that this file speaks."""
        return {**_HEADERS, "Authorization": f"Bearer {token}"}

    @property
    def _api(self) -> str:
        scheme, _, host = self.address.partition("://")
        hosted = host == "github.com" or host.endswith(".ghe.com")  # the latter are of GitHub Enterprise Cloud
        return f"{scheme}://api.{host}" if hosted else f"{self.address}/api/v3"

    @property
    def _base(self) -> str:
        return f"{self._api}/repos/{quoted(self.repository)}"


_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
