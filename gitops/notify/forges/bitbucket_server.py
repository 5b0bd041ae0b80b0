"""Bitbucket Data Center (developer.atlassian.com/server/bitbucket/rest: builds-and-deployments, pull-requests)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, unquote

from gitops.notify.forge import (
    Comment,
    Comments,
    CommitStatus,
    Held,
    State,
    basic_or_bearer,
    entries,
    json_request,
    text_at,
)
from gitops.notify.forges.builds import WORDS, builds_held
from gitops.notify.web import Request, Response

PAGE = 100
KEY = 255


@dataclass(frozen=True)
class BitbucketServer:
    """A repository on Bitbucket Data Center."""

    address: str
    """Such as `https://bitbucket.example.com`."""
    repository: str
    """`<project key>/<slug>`; a person's own project is `~<name>`."""

    name: ClassVar[str] = "bitbucket-server"
    longest: ClassVar[int] = 32_768
    statuses_page: ClassVar[int] = PAGE
    takes_html: ClassVar[bool] = False

    def word(self, state: State) -> str:
        """Its own words."""
        return WORDS[state]

    def key(self, context: str) -> str:
        """As much of the context as it takes: overlays and waves have shorter names."""
        return context[:KEY]

    def status(self, status: CommitStatus) -> Request:
        """Made, or overwritten where the key is known; it must lead somewhere."""
        body = {
            "key": self.key(status.context),
            "name": status.context[:KEY],
            "state": self.word(status.state),
            "description": status.description,
            "url": status.target_url or f"{self.address}/{self._path}/commits/{status.revision}",
        }
        return json_request("POST", f"{self._base}/commits/{status.revision}/builds", body)

    def statuses(self, revision: str, page: int) -> Request:
        """The list of the older build-status API: the newer one answers for one key only."""
        where = f"{self.address}/rest/build-status/latest/commits/{revision}"
        return Request("GET", f"{where}?limit={PAGE}&start={(page - 1) * PAGE}")

    def held(self, body: Any) -> dict[str, Held]:
        """By key."""
        return builds_held(body)

    def has(self, status: CommitStatus, refusal: Response) -> bool:
        """A refusal is one."""
        del status, refusal
        return False

    def comments(self, pull: int, start: int | None) -> Request:
        """All that happened to the pull request: there is no list of comments alone."""
        return Request("GET", f"{self._base}/pull-requests/{pull}/activities?limit={PAGE}&start={start or 0}")

    def read_comments(self, body: Any, start: int | None) -> Comments:
        """Newest first; those of the diff are among them."""
        del start
        found = tuple(
            Comment(
                text_at(entry, "comment", "id"),
                text_at(entry, "comment", "text"),
                text_at(entry, "comment", "author", "name"),
                version=int(text_at(entry, "comment", "version") or 0),
            )
            for entry in entries(body, "values")
            if entry.get("action") == "COMMENTED" and entry.get("commentAction", "ADDED") == "ADDED"
        )
        ahead = body.get("nextPageStart") if isinstance(body, dict) and not body.get("isLastPage", True) else None
        return Comments(found, ahead if isinstance(ahead, int) else None)

    def add_comment(self, pull: int, text: str) -> Request:
        """Markdown without HTML."""
        return json_request("POST", f"{self._base}/pull-requests/{pull}/comments", {"text": text})

    def change_comment(self, pull: int, comment: Comment, text: str) -> Request:
        """Only its author may, and only the version that was read."""
        body = {"text": text, "version": comment.version}
        return json_request("PUT", f"{self._base}/pull-requests/{pull}/comments/{comment.id}", body)

    def who(self) -> Request:
        """Any request will do."""
        return Request("GET", f"{self.address}/rest/api/latest/application-properties")

    def me(self, answer: Response) -> str:
        """It names the user in a header of every answer."""
        return unquote(answer.headers.get("X-AUSERNAME", ""))

    def authorization(self, token: str) -> dict[str, str]:
        """An HTTP access token, or `user:password`."""
        return basic_or_bearer(token)

    @property
    def _base(self) -> str:
        project, _, slug = self.repository.partition("/")
        return f"{self.address}/rest/api/latest/projects/{quote(project, safe='~')}/repos/{quote(slug, safe='')}"

    @property
    def _path(self) -> str:
        project, _, slug = self.repository.partition("/")
        if project.startswith("~"):
            return f"users/{quote(project[1:], safe='')}/repos/{quote(slug, safe='')}"
        return f"projects/{quote(project, safe='')}/repos/{quote(slug, safe='')}"
