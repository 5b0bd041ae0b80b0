"""`POST /hooks/<forge>`: from a request to a push, or to a refusal that says nothing to its sender."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from gitops.serve.body import BodyLimits, BodyReader, NotTaken
from gitops.trigger.following import Following
from gitops.trigger.push import Delivery, Ignored, Push, Refusal, Refused
from gitops.trigger.receiving import FORGES, receive
from gitops.trigger.replay import ReplayWindow

log = logging.getLogger(__name__)

_STATUSES = {
    Refusal.SIGNATURE: 401,
    Refusal.STALE: 401,
    Refusal.REPLAY: 409,
    Refusal.MALFORMED: 400,
    Refusal.EVENT: 400,
}


def _nobody(forge: str, outcome: str) -> None:
    del forge, outcome


@dataclass
class Hooks:
    """Takes deliveries; in one event loop."""

    secrets: Callable[[], Sequence[str]]
    """Read anew for each delivery, so that a changed file counts at once; without any, everything is refused.

    Raises OSError or ValueError where the file cannot be read."""
    following: Following
    pushed: Callable[[], bool]
    """Called for a push that concerns us; False where the process is ending, so that the forge may try again."""
    now: Callable[[], datetime]
    count: Callable[[str, str], None] = _nobody
    """Told of every delivery: forge, and `accepted`, `ignored` or `refused`."""
    reader: BodyReader = field(default_factory=lambda: BodyReader(BodyLimits()))
    seen: ReplayWindow = field(default_factory=ReplayWindow)

    async def __call__(self, request: Request) -> Response:
        """Answer 202 to what is genuine, whether it concerns us or not, and 4xx to the rest."""
        name = request.path_params["forge"]
        if name not in FORGES:
            return _answer(404)
        try:
            outcome = await self._receive(request, name)
        except NotTaken as refused:
            self.count(name, "refused")
            _log(logging.WARNING, request, name, "refused", refused.why)
            return _answer(refused.status)
        concern = outcome if isinstance(outcome, Ignored) else self.following.concern(outcome)
        if isinstance(concern, Ignored):
            self.count(name, "ignored")
            _log(logging.INFO, request, name, "ignored", concern.reason)
            return _answer(202)
        moved = ", ".join(f"{c.kind.value} {c.name!r}{' (forced)' if c.forced else ''}" for c in concern)
        taken = self.pushed()
        self.count(name, "accepted" if taken else "refused")
        outcome_words = "accepted" if taken else "refused as the process is ending"
        _log(logging.INFO, request, name, outcome_words, moved or "it does not say what moved")
        return _answer(202 if taken else 503)

    async def _receive(self, request: Request, name: str) -> Push | Ignored:
        """A genuine delivery.

        Raises:
            NotTaken: it is not genuine, or not as it should be.
        """
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise NotTaken(415, "it is not JSON")
        body = await self.reader.read(request)
        try:
            secrets = self.secrets()
        except (OSError, ValueError) as error:
            raise NotTaken(503, f"the secrets cannot be read: {type(error).__name__}") from None
        if not secrets:  # perhaps its file is just being written: no fault of the forge, which may try again
            raise NotTaken(503, "there is no secret to hold it against")
        outcome = receive(FORGES[name], Delivery(request.headers, body, self.now()), secrets, self.seen)
        if isinstance(outcome, Refused):
            raise NotTaken(_STATUSES[outcome.why], outcome.why.value)
        return outcome


def _answer(status: int) -> Response:
    """No body. After a refusal the connection is closed, as more of a body may be on its way."""
    return Response(status_code=status, headers={"Connection": "close"} if status >= 400 else None)


def _log(level: int, request: Request, forge: str, outcome: str, why: str) -> None:
    source = request.client.host if request.client else "unknown"
    fields = {"forge": forge, "outcome": outcome, "source": source}
    log.log(level, "webhook %s from %s: %s: %s", forge, source, outcome, why, extra=fields)
