"""What an API server was asked, read from its audit log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.control_plane.client import USER_AGENT


@dataclass(frozen=True)
class Request:
    """A request that an API server has answered."""

    verb: str
    """As RBAC names it: get, list, watch, create, update, patch, delete, deletecollection."""
    uri: str
    """Path and query."""
    status: int
    user: str
    user_agent: str

    @property
    def writes(self) -> bool:
        """Whether it changes something: minting a credential, asking for one's rights and a dry run do not."""
        url = urlsplit(self.uri)
        asks = url.path.endswith(("/adminkubeconfig", "/viewerkubeconfig", "reviews"))
        return self.verb not in ("get", "list", "watch") and not asks and "dryRun" not in parse_qs(url.query)


def requests(log: Path, start: int, user_agent: str) -> list[Request]:
    """Requests logged after byte `start`, in order of their answers.

    Args:
        log: one JSON event a line.
        start: offset in bytes.
        user_agent: only of agents that begin so; empty for all but the tests' own clients.
    """
    with log.open("rb") as events:
        events.seek(start)
        found = [_request(line) for line in events if line.endswith(b"\n")]
    return [
        request
        for request in found
        if request.user_agent.startswith(user_agent) and not request.user_agent.startswith(USER_AGENT)
    ]


def _request(line: bytes) -> Request:
    event = json.loads(line)
    return Request(
        verb=event["verb"],
        uri=event["requestURI"],
        status=event["responseStatus"]["code"],
        user=event["user"]["username"],
        user_agent=event.get("userAgent", ""),
    )
