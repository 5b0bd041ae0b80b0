"""What stands before every page: who may look, and headers that leave no room for what we did not write."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gitops.serve.board.access import Asked, Granted, ViewAccess

log = logging.getLogger(__name__)

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

PEER = "gitops.peer"
"""Key of an ASGI scope: the address at the other end of the connection, for whoever puts another one into `client`,
as uvicorn does behind a proxy that it trusts."""
_ASKED_AT_ONCE = 8
"""Requests whose sender is looked at in the same moment, so that whoever guesses passwords holds up no other work."""

Refusal = Callable[[Request, int, str], Response]
"""The page for those who may not look, by its status and, where that alone would mislead, why."""


class Guard:
    """Lets a request through to one route, or not."""

    def __init__(self, app: ASGIApp, access: ViewAccess, refusal: Refusal) -> None:
        self._app = app
        self._access = access
        self._refusal = refusal
        self._turns = anyio.CapacityLimiter(_ASKED_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        peer = scope.get(PEER) or (scope.get("client") or ("",))[0]
        asked = Asked(Headers(scope=scope), peer)
        found = await anyio.to_thread.run_sync(self._access, asked, limiter=self._turns)
        if isinstance(found, Granted):
            scope.setdefault("state", {})["viewer"] = found.viewer
            await self._app(scope, receive, send_guarded)
            return
        if "authorization" in asked.headers:  # without, a browser only asks how to sign in
            source = (scope.get("client") or ("unknown",))[0]
            log.warning("dashboard: refused a sign-in from %s", source)
        response = self._refusal(Request(scope), found.status, found.why)
        for challenge in found.challenges:
            response.headers.append("WWW-Authenticate", challenge)
        await response(scope, receive, send_guarded)


def guarded(routes: Iterable[Route], access: ViewAccess) -> list[Route]:
    """Routes for scripts, for those only who may look at the dashboard; others are refused in JSON.

    Args:
        routes: each answers JSON; they are taken anew, so that those given stay open.
        access: who may look.
    """
    guard = [Middleware(Guard, access=access, refusal=_refused)]
    return [
        Route(route.path, route.endpoint, methods=route.methods, name=route.name, middleware=guard) for route in routes
    ]


def _refused(request: Request, status: int, why: str) -> Response:
    del request, why
    return JSONResponse({"error": HTTPStatus(status).phrase.lower()}, status)
