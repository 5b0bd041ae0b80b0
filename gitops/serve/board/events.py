"""Server-sent events that say that something has changed, and never what: the page is asked for again, as it stands.

So there is one way from values to HTML, filters and pages hold while things move, and nothing is lost when a
connection breaks. A stream looks at the board now and then by itself: nobody who tells the board anything knows of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from gitops.serve.board.board import Board


@dataclass(frozen=True)
class Pace:
    """How streams spend their time, in seconds."""

    look: float = 0.5
    """Between two looks at the board, and so between two events."""
    heartbeat: float = 15.0
    """After so long without an event a comment is sent, so that proxies keep the connection and we see it break."""
    patience: float = 20.0
    """Whoever does not read for so long is cut off."""
    life: float = 900.0
    """After so long a stream ends; browsers come again."""


class Streams:
    """All streams of one process."""

    def __init__(self, board: Board, *, most: int = 200, pace: Pace | None = None) -> None:
        """Make none yet.

        Args:
            board: what they look at.
            most: how many there may be at once; who comes later is told to come again.
            pace: how they spend their time.
        """
        self._board = board
        self._most = most
        self._pace = pace or Pace()
        self.open = 0
        """How many there are; changed by the event loop's thread only."""

    def answer(self, request: Request) -> Response:
        """A stream about one overlay, or about all."""
        overlay = request.query_params.get("overlay") or None
        if overlay is not None and not self._board.version(overlay):
            return PlainTextResponse("no such overlay\n", 404)
        if self._board.closed or self.open >= self._most:
            why = "the process is ending" if self._board.closed else "too many streams"
            return PlainTextResponse(f"{why}\n", 503, headers={"Retry-After": "30"})
        return _Stream(self, lambda: self._board.shown_version(overlay))

    @property
    def pace(self) -> Pace:
        """How they spend their time."""
        return self._pace

    @property
    def closed(self) -> bool:
        """Whether they must end."""
        return self._board.closed


class _Stream(Response):
    """One connection, until its reader leaves, stops reading, or we shut down."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, version: Callable[[], int]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"  # nginx would keep events back
        self._streams = streams
        self._version = version

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = scope["method"] == "HEAD"
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if not head:
            self._streams.open += 1
            try:
                await self._talk(receive, send)
            except OSError:
                return  # the reader is gone
            finally:
                self._streams.open -= 1
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _talk(self, receive: Receive, send: Send) -> None:
        with anyio.move_on_after(self._streams.pace.life) as whole:
            async with anyio.create_task_group() as tasks:

                async def until_gone() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    whole.cancel()

                tasks.start_soon(until_gone)
                await self._tell(send)
                tasks.cancel_scope.cancel()

    async def _tell(self, send: Send) -> None:
        pace = self._streams.pace
        told, quiet = -1, 0.0
        text = "retry: 3000\n\n"
        while not self._streams.closed:
            version = await anyio.to_thread.run_sync(self._version)
            if version != told:
                text += f"id: {version}\nevent: version\ndata: {version}\n\n"
                told = version
            elif quiet >= pace.heartbeat:
                text += ": still here\n\n"
            if text:
                with anyio.move_on_after(pace.patience) as sending:
                    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
                if sending.cancelled_caught:
                    return
                text, quiet = "", 0.0
            await anyio.sleep(pace.look)
            quiet += pace.look
