"""The HTTP server: uvicorn in a thread of its own, with what it lacks against slow and many connections."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from gitops.serve.board.guard import PEER
from gitops.serve.certificate import Renewable
from gitops.serve.handshakes import Door

log = logging.getLogger(__name__)

_GOODBYE = 3
"""Seconds that answers under way get when the server ends."""
_AT_ONCE = 128
"""Connections that are accepted in one go, before any of them is judged."""


@dataclass(frozen=True)
class Listening:
    """Where and how to listen."""

    host: str
    port: int
    """0 takes a free one."""
    certificate: Path | None = None
    """PEM; None for plain HTTP. Read again when it was renewed."""
    key: Path | None = None
    proxies: str = ""
    """Addresses or networks whose `X-Forwarded-For` is believed, joined by commas; empty for none."""
    head_seconds: float = 10.0
    """A connection has so long for a TLS handshake, and again for a request's head; uvicorn closes a kept one earlier,
    if nothing comes."""
    drain_seconds: float = 30.0
    """A client that stops reading in the midst of an answer gets so long to go on."""
    connections: int = 500
    """Beyond that, who has sent an unfinished request for longest makes room, or the newcomer goes. Half as many
    more may be in TLS handshakes."""


class GuardedProtocol(H11Protocol):
    """HTTP/1.1 with limits that uvicorn lacks or answers with 503: for heads, for unread answers, of connections."""

    listening: Listening
    """Set by a subclass for each server, as uvicorn makes the protocols and hands on nothing of ours."""
    door: Door | None
    """Where it came in, where TLS is spoken; set likewise."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, and begin to wait."""
        if self.door is not None:
            self.door.came_in(transport.get_extra_info("socket").fileno())
        if len(self.connections) >= self.listening.connections:
            self._make_room(transport)
        super().connection_made(transport)
        self._limit = self._head_limit()
        self._unread: asyncio.TimerHandle | None = None

    def on_response_complete(self) -> None:
        """Wait again: for the rest of this request, if the answer came before its end, or for another's head."""
        self._limit.cancel()
        self._limit = self._head_limit()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._limit.cancel()
        self._read_on()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read as fast as we answer: begin to wait for it."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.listening.drain_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read on."""
        self._read_on()
        super().resume_writing()

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, without saying more; whoever is being answered already is cut off."""
        del msg
        log.warning("HTTP from %s: refused: it is malformed", self.client[0] if self.client else "unknown")
        if self.waits_for_head or not self.cycle.response_started:
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.transport.close()
        else:
            self.transport.abort()

    def _head_limit(self) -> asyncio.TimerHandle:
        self.waiting_since = self.loop.time()
        return self.loop.call_later(self.listening.head_seconds, self._too_late)

    @property
    def waits_for_head(self) -> bool:
        """Whether no request is being answered."""
        cycle: object = self.cycle  # uvicorn declares it to be there always
        return cycle is None or self.cycle.response_complete

    def _too_late(self) -> None:
        if self.waits_for_head:
            self.transport.abort()

    def _make_room(self, newcomer: asyncio.Transport) -> None:
        known = (connection for connection in self.connections if isinstance(connection, GuardedProtocol))
        unfinished = [connection for connection in known if connection.waits_for_head or connection.cycle.more_body]
        if unfinished:
            longest = min(unfinished, key=lambda connection: connection.waiting_since)
            self.connections.discard(longest)
            longest.transport.abort()
        else:
            newcomer.abort()


class PeerNoted:
    """Notes who is at the other end of a connection, before a proxy's word about its client takes that place."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on the request, with `guard.PEER` in its scope."""
        client = scope.get("client")
        await self._app({**scope, PEER: client[0] if client else ""}, receive, send)


class OneLength:
    """Refuses requests that give two lengths, which two servers behind one another may read as different requests.

    RFC 9112, 6.1 and 6.3. What follows such a request on its connection is not read as another one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on the request, or answer 400 and close the connection."""
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            client = scope.get("client")
            log.warning("HTTP from %s: refused: it gives two lengths", client[0] if client else "unknown")
            await Response(status_code=400, headers={"Connection": "close"})(scope, receive, send)
            return
        await self._app(scope, receive, send)


class HttpServer:
    """Listens from the moment it is made, answers from `start` on."""

    def __init__(self, app: ASGIApp, listening: Listening) -> None:
        """Take the port.

        Raises:
            OSError: the address or the port cannot be had, or the certificate cannot be read.
        """
        family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
        listener = socket.create_server((listening.host, listening.port), family=family)
        door = Door(listener, listening.connections // 2) if listening.certificate else None
        self._socket = door or listener
        scheme = "https" if listening.certificate else "http"
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        self.url = f"{scheme}://{host}:{self._socket.getsockname()[1]}"
        app = OneLength(app)
        if listening.proxies:
            app = ProxyHeadersMiddleware(app, trusted_hosts=listening.proxies)  # type: ignore[arg-type, assignment]
        config = uvicorn.Config(
            PeerNoted(app),
            http=type("Guarded", (GuardedProtocol,), {"listening": listening, "door": door}),
            ws="none",
            lifespan="off",
            loop="asyncio",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,  # uvicorn would put that around PeerNoted
            timeout_graceful_shutdown=_GOODBYE,
            backlog=_AT_ONCE,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.key,
            ssl_context_factory=_context(listening),
            h11_max_incomplete_event_size=64 * 1024,
        )
        try:
            config.load()
        except BaseException:
            self._socket.close()
            raise
        self._listening = listening
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Answer requests from a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections, let answers under way end for a moment, and end."""
        self._server.should_exit = True
        self._thread.join(_GOODBYE + 2)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: _Loop(self._listening.head_seconds)) as runner:
            runner.run(self._server.serve(sockets=[self._socket]))


def _context(listening: Listening) -> Callable[[uvicorn.Config, Callable[[], ssl.SSLContext]], ssl.SSLContext] | None:
    """How uvicorn comes to its certificate; None for plain HTTP."""
    if listening.certificate is None:
        return None
    renewable = Renewable(listening.certificate, listening.key)
    return lambda _, make: renewable.context(make)


class _Loop(asyncio.SelectorEventLoop):
    """Bounds handshakes of TLS, for which uvicorn leaves a minute: no protocol knows of a connection before."""

    def __init__(self, handshake_seconds: float) -> None:
        super().__init__()
        self._handshake_seconds = handshake_seconds

    async def create_server(self, *arguments: Any, **options: Any) -> asyncio.Server:
        """As the parent does."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", self._handshake_seconds)
        return await super().create_server(*arguments, **options)
