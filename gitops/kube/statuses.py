"""The one place where a server's answer becomes our error.

Statuses mean less than one would hope. What was seen on kube-apiserver 1.36 and gardener-apiserver 1.149, and is
undone here: a server-side apply of a field that the schema does not know is answered 500; admission refuses with the
403 of a missing permission; and a JSON patch that is invalid is answered with the whole object in the message.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gitops.errors import Absent, ApiError, Conflict, Forbidden, Rejected, Throttled, Unreachable
from gitops.kube.transport import READING_VERBS, Request, Response

Causes = tuple[tuple[str, str], ...]

LONGEST = 1000
"""Characters of the server's text that are kept."""

_VALUE = re.compile(r'(Invalid value: )"(?:[^"\\]|\\.){60,}"')
_STRICT = re.compile(r'(?:unknown|duplicate) field "((?:[^"\\]|\\.)*)"')
_TYPED_PATCH = re.compile(r"failed to create typed patch object \(.*?\): (.*)", re.DOTALL)
_TYPED_CAUSE = re.compile(r"(\.\S+): ([^,\n]+)")
_NOT_ALLOWED = re.compile(r'User "[^"]*" cannot ')


class Unserved(Absent):
    """404 for the kind itself: the server does not serve it, so nothing is said about any object."""


def raise_for_status(request: Request, response: Response) -> None:
    """Return on success, else raise what the answer means.

    Raises:
        ApiError: the subclass that fits; its message is the server's own when the body is a `kind: Status`. Any
            other body is not shown: it may come from a proxy and hold anything.
    """
    if not 200 <= response.status < 300:
        raise _error(request, response)


def _error(request: Request, response: Response) -> ApiError:
    status = _status_object(response.body)
    message = _VALUE.sub(r"\1…", str(status.get("message") or _unexplained(response)))[:LONGEST]
    if response.status == 429:
        return Throttled(message, retry_after=_retry_after(response), request=str(request))
    details = status.get("details") or {}
    kind = _kind(request, response.status, details, message)
    return kind(
        "the server does not serve this kind" if kind is Unserved else _shortened(message),
        status=response.status,
        reason=str(status.get("reason") or ""),
        request=str(request),
        causes=_causes(details, message),
    )


def _status_object(body: bytes) -> dict[str, Any]:
    """The `kind: Status` in a body, or an empty dict when it is something else."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) and parsed.get("kind") == "Status" else {}


def _kind(request: Request, code: int, details: dict[str, Any], message: str) -> type[ApiError]:
    """The class of error for every status but 2xx and 429."""
    if code == 404:
        return Absent if details.get("name") else Unserved
    if code == 403 and request.method not in READING_VERBS and "is forbidden" in message:
        return Forbidden if _NOT_ALLOWED.search(message) else Rejected
    if code == 500 and _TYPED_PATCH.match(message):
        return Rejected
    if code >= 500 or code < 400:
        return Unreachable
    return {401: Forbidden, 403: Forbidden, 409: Conflict}.get(code, Rejected)


def _shortened(message: str) -> str:
    """What is said about decoding, without what is said around it."""
    if typed := _TYPED_PATCH.match(message):
        return "; ".join(f"{path}: {why}" for path, why in _TYPED_CAUSE.findall(typed[1])) or message
    at = message.find("strict decoding error")
    return message[max(at, 0) :]


def _causes(details: dict[str, Any], message: str) -> Causes:
    """`(field, message)` pairs; decoding errors carry theirs in the message only."""
    if typed := _TYPED_PATCH.match(message):
        return tuple(_TYPED_CAUSE.findall(typed[1]))
    if "strict decoding error" in message:
        return tuple((match[1], match[0]) for match in _STRICT.finditer(message))
    return tuple(
        (str(cause.get("field") or ""), _VALUE.sub(r"\1…", str(cause.get("message") or ""))[:LONGEST])
        for cause in details.get("causes") or ()
    )


def _unexplained(response: Response) -> str:
    return f"HTTP {response.status} without a Status object ({len(response.body)} bytes, not shown)"


def _retry_after(response: Response) -> float | None:
    """Seconds; the date form, which API servers do not use, counts as not said."""
    try:
        return max(0.0, float(response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
