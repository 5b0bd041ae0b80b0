"""Gitea and Forgejo (their API's own /swagger: repoCreateStatus, repoGetCombinedStatusByRef, issueGetComments)."""

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

PAGE = 50
"""What its setting MAX_RESPONSE_ITEMS is by default."""


@dataclass(frozen=True)
class Gitea:
    """A repository on Gitea or Forgejo."""

    address: str
    """Such as `https://codeberg.org`."""
    repository: str
    """`<owner>/<name>`."""

    name: ClassVar[str] = "gitea"
    longest: ClassVar[int] = 65_536
    """It says no limit; its databases hold as many at least."""
    statuses_page: ClassVar[int] = PAGE
    takes_html: ClassVar[bool] = True

    def word(self, state: State) -> str:
        """The same words as ours."""
        return state.value

    def key(self, context: str) -> str:
        """As it is."""
        return context

    def status(self, status: CommitStatus) -> Request:
        """Each makes a new one; the newest of a context counts."""
        body = {
            "state": status.state.value,
            "context": status.context,
            "description": status.description,
            "target_url": status.target_url or f"{self.address}/{quoted(self.repository)}/commit/{status.revision}",
        }
        return json_request("POST", f"{self._base}/statuses/{status.revision}", body)

    def statuses(self, revision: str, page: int) -> Request:
        """The combined status: the newest of each context."""
        return Request("GET", f"{self._base}/commits/{revision}/status?limit={PAGE}&page={page}")

    def held(self, body: Any) -> dict[str, Held]:
        """By context; a single status calls its state `status`."""
        return {
            text_at(status, "context"): Held(text_at(status, "status"), text_at(status, "description"))
            for status in entries(body, "statuses")
        }

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """A refusal is one."""
        del status, refusal
        return False

    def comments(self, pull: int, start: int | None) -> Request:
        """All at once: this list knows no pages."""
        del start
        return Request("GET", f"{self._base}/issues/{pull}/comments")

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """The only page."""
        del start
        return Comments(
            tuple(
                Comment(text_at(entry, "id"), text_at(entry, "body"), text_at(entry, "user", "login"))
                for entry in entries(body)
            )
        )

    def add_comment(self, pull: int, text: str) -> Request:
        """A pull request is an issue where comments are concerned."""
        return json_request("POST", f"{self._base}/issues/{pull}/comments", {"body": text})

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """By the comment's own address."""
        del pull
        return json_request("PATCH", f"{self._base}/issues/comments/{comment.id}", {"body": text})

    def who(self) -> Request:
        """Needs the scope read:user."""
        return Request("GET", f"{self.address}/api/v1/user")

    def me(self, answer: Response) -> str:
        """The login."""
        return text_at(answer.json(), "login")

    def authorization(self, token: str) -> dict[str, str]:
        """Its own word for bearers, which all its versions know."""
        return {"Authorization": f"token {token}"}

    @property
    def _base(self) -> str:
        return f"{self.address}/api/v1/repos/{quoted(self.repository)}"
