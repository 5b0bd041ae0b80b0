"""GitLab (docs.gitlab.com/api: commits, notes, users)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

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
_LINK = 255
"""Characters of a status's link (app/models/generic_commit_status.rb)."""
_WORDS = {State.PENDING: "running", State.SUCCESS: "success", State.FAILURE: "failed", State.ERROR: "failed"}


@dataclass(frozen=True)
class GitLab:
    """A project on GitLab."""

    address: str
    """Such as `https://gitlab.com`."""
    repository: str
    """`<group>/<subgroups>/<name>`."""

    name: ClassVar[str] = "gitlab"
    longest: ClassVar[int] = 1_000_000
    statuses_page: ClassVar[int] = PAGE
    takes_html: ClassVar[bool] = True

    def word(self, state: State) -> str:
        """Never `pending`: GitLab refuses the way from `running` back to it, and a rollout may wait at any time."""
        return _WORDS[state]

    def key(self, context: str) -> str:
        """As it is."""
        return context

    def status(self, status: CommitStatus) -> Request:
        """A job of an external pipeline of the commit; better without a link than refused for a long one."""
        link = status.target_url or f"{self.address}/{quoted(self.repository)}/-/commit/{status.revision}"
        body = {
            "state": self.word(status.state),
            "name": status.context,
            "description": status.description,
            **({"target_url": link} if len(link) <= _LINK else {}),
        }
        return json_request("POST", f"{self._base}/statuses/{status.revision}", body)

    def statuses(self, revision: str, page: int) -> Request:
        """The newest of each name."""
        return Request("GET", f"{self._base}/repository/commits/{revision}/statuses?per_page={PAGE}&page={page}")

    def held(self, body: Any) -> dict[str, Held]:
        """By name."""
        return {
            text_at(status, "name"): Held(text_at(status, "status"), text_at(status, "description"))
            for status in entries(body)
        }

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """It refuses a state that it holds: "Cannot transition status via :run from :running"."""
        words = f"from :{self.word(status.state)}"
        message = text_at(refusal.json(), "message")
        return refusal.status == 400 and "Cannot transition status" in message and words in message

    def comments(self, pull: int, start: int | None) -> Request:
        """Oldest first; pages count from 1."""
        query = f"per_page={PAGE}&page={start or 1}&order_by=created_at&sort=asc"
        return Request("GET", f"{self._base}/merge_requests/{pull}/notes?{query}")

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """A full page may be followed by another."""
        found = tuple(
            Comment(text_at(entry, "id"), text_at(entry, "body"), text_at(entry, "author", "username"))
            for entry in entries(body)
        )
        return Comments(found, (start or 1) + 1 if len(found) == PAGE else None)

    def add_comment(self, pull: int, text: str) -> Request:
        """A note of the merge request."""
        return json_request("POST", f"{self._base}/merge_requests/{pull}/notes", {"body": text})

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """Only its author may."""
        return json_request("PUT", f"{self._base}/merge_requests/{pull}/notes/{comment.id}", {"body": text})

    def who(self) -> Request:
        """Tokens of projects and groups have users of their own."""
        return Request("GET", f"{self.address}/api/v4/user")

    def me(self, answer: Response) -> str:
        """The user name."""
        return text_at(answer.json(), "username")

    def authorization(self, token: str) -> dict[str, str]:
        """For personal, project and group tokens."""
        return {"PRIVATE-TOKEN": token}

    @property
    def _base(self) -> str:
        """The path is one part, slashes and all."""
        return f"{self.address}/api/v4/projects/{quote(self.repository, safe='')}"
