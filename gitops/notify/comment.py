"""One comment per overlay on a pull request, found again by a mark that nobody sees."""

from __future__ import annotations

from enum import Enum
from urllib.parse import quote

from gitops.notify.forge import Comment, ForgeClient
from gitops.notify.web import Undelivered

PAGES = 100
"""Of comments that are looked through."""


class Published(Enum):
    """What became of a comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


def mark(overlay: str) -> str:
    """A line that no Markdown shows: a link that nobody uses (CommonMark, "Link reference definitions").

    Unlike an HTML comment it is hidden on Bitbucket too.
    """
    return f"[//]: # (shoot-gitops plan of {quote(overlay, safe='')})"


def marked(overlay: str, text: str) -> str:
    """A comment's text with its mark."""
    return f"{mark(overlay)}\n\n{text}"


def publish(client: ForgeClient, pull: int, overlay: str, text: str) -> Published:
    """Have a pull request carry one comment with this text for the overlay, made or changed as is needed.

    Args:
        client: the forge.
        pull: the pull request's number.
        overlay: whose comment.
        text: the whole text, with its mark; not longer than the forge takes.

    Raises:
        Undelivered: it could not be done.
        CredentialsError: the token cannot be read.
    """
    forge = client.forge
    found = _find(client, pull, mark(overlay), _me(client))
    if found is None:
        client.ask(forge.add_comment(pull, text))
        return Published.CREATED
    if _lines(found.text) == _lines(text):
        return Published.UNCHANGED
    client.ask(forge.change_comment(pull, found, text))
    return Published.UPDATED


def _me(client: ForgeClient) -> str:
    """Who we are; empty where the forge does not say it to a token of this kind."""
    try:
        return client.forge.me(client.ask(client.forge.who()))
    except Undelivered as error:
        if error.passing:
            raise
        return ""


def _find(client: ForgeClient, pull: int, sought: str, me: str) -> Comment | None:
    """Our comment. The mark alone proves nothing: whoever may comment can write it, and change the text later."""
    start: int | None = None
    for _ in range(PAGES):
        page = client.forge.read_comments(client.ask(client.forge.comments(pull, start)).json(), start)
        for comment in page.comments:
            ours = comment.author == me if me else comment.by_bot
            if ours and sought in _lines(comment.text):
                return comment
        if page.next is None:
            return None
        start = page.next
    return None


def _lines(text: str) -> list[str]:
    """Forges keep line ends and spaces at the end each in their own way."""
    return [line.rstrip() for line in text.strip().splitlines()]
