"""A request's body, never more of it and never for longer than allowed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request


@dataclass(frozen=True)
class BodyLimits:
    """How much a webhook may send."""

    size: int = 1024 * 1024
    """Bytes of one body."""
    seconds: float = 10.0
    """For the whole of it, from its first byte to its last."""
    together: int = 64 * 1024 * 1024
    """Bytes of all bodies that are being read."""


class NotTaken(Exception):  # noqa: N818 - reads as what it is
    """A request that is refused.

    Attributes:
        status: what it is answered with.
        why: for our log.
    """

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        self.why = why
        super().__init__(why)


class BodyReader:
    """Reads bodies in one event loop, and counts what they hold together.

    Attributes:
        held: bytes of all bodies that are being read.
    """

    def __init__(self, limits: BodyLimits) -> None:
        self._limits = limits
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """The body; its announced length is judged before any of it is read.

        Raises:
            NotTaken: too large, too slow, or it ended early.
        """
        announced = request.headers.get("content-length", "0")
        if not (announced.isascii() and announced.isdigit()):
            raise NotTaken(400, "a length that is no number")
        if len(announced) > 15 or int(announced) > self._limits.size:
            raise NotTaken(413, "the announced length is over the limit")
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for chunk in request.stream():
                    self.held += len(chunk)
                    body += chunk
                    if len(body) > self._limits.size:
                        raise NotTaken(413, "the body is over the limit")
                    if self.held > self._limits.together:
                        raise NotTaken(503, "too many bodies at once")
        except TimeoutError:
            raise NotTaken(408, "the body came too slowly") from None
        except ClientDisconnect:
            raise NotTaken(400, "the body ended early") from None
        finally:
            self.held -= len(body)
        return bytes(body)
