"""What an API server was asked, read from its audit log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.control_plane.client import USER_AGENT


@dataclass(frozen=True)
class Asked:
    """What a request was authorized as."""

    verb: str
    """As RBAC names it."""
    group: str
    """Empty for the core group."""
    resource: str
    """With its subresource, as in `shoots/adminkubeconfig`."""
    namespace: str
    name: str
    """Also of a LIST that a field selector narrows to one name; empty where there is none."""


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
    asked: Asked | None = None
    """None for what is no resource, such as discovery."""

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


def reviews(log: Path, start: int, user: str) -> list[Asked]:
    """What other servers asked about a user's rights after byte `start`, and was granted.

    Gardener's admission asks so on behalf of whoever writes a Shoot.
    """
    found = []
    with log.open("rb") as events:
        events.seek(start)
        for line in events:
            event = json.loads(line) if line.endswith(b"\n") and b"subjectaccessreviews" in line else {}
            review = event.get("responseObject") or {}
            spec = review.get("spec") or {}
            if spec.get("user") == user and review["status"]["allowed"] and "resourceAttributes" in spec:
                found.append(_asked(spec["resourceAttributes"], "group"))
    return found


def _asked(attributes: dict[str, Any], group: str) -> Asked:
    resource, subresource = attributes.get("resource", ""), attributes.get("subresource")
    return Asked(
        attributes["verb"],
        attributes.get(group, ""),
        f"{resource}/{subresource}" if subresource else resource,
        attributes.get("namespace", ""),
        attributes.get("name", ""),
    )


def _request(line: bytes) -> Request:
    event = json.loads(line)
    reference = event.get("objectRef")
    return Request(
        verb=event["verb"],
        uri=event["requestURI"],
        status=event["responseStatus"]["code"],
        user=event["user"]["username"],
        user_agent=event.get("userAgent", ""),
        asked=_asked({**reference, "verb": event["verb"]}, "apiGroup") if reference else None,
    )
