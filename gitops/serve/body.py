"""A request's body, never more of it and never for longer than allowed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request


@dataclass(frozen=True)
class BodyLimits:
    """How much a webhook may send."""

    size: int = 1024 * 1024
    """Bytes of one body."""
    seconds: float = 10.0
    """For the whole of it, from its first byte to its last."""
    together: int = 64 * 1024 * 1024
    """Bytes of all bodies that are being read; beyond that, the largest of them is given up, not who comes next."""


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


@dataclass(eq=False)
class _Reading:
    """One body, as far as it has come."""

    limit: asyncio.Timeout
    body: bytearray = field(default_factory=bytearray)


class BodyReader:
    """Reads bodies in one event loop, and bounds what they hold together.

    Attributes:
        held: bytes of all bodies that are being read.
    """

    def __init__(self, limits: BodyLimits) -> None:
        self._limits = limits
        self._readings: set[_Reading] = set()
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
        reading = _Reading(asyncio.timeout(self._limits.seconds))
        self._readings.add(reading)
        try:
            async with reading.limit:
                async for chunk in request.stream():
                    self._take(reading, chunk)
        except TimeoutError:
            if reading not in self._readings:
                raise _given_up() from None
            raise NotTaken(408, "the body came too slowly") from None
        except ClientDisconnect:
            raise NotTaken(400, "the body ended early") from None
        finally:
            self._let_go(reading)
        return bytes(reading.body)

    def _take(self, reading: _Reading, chunk: bytes) -> None:
        if reading not in self._readings:  # its end is on its way, and more of it has come before
            raise _given_up()
        reading.body += chunk
        self.held += len(chunk)
        if len(reading.body) > self._limits.size:
            raise NotTaken(413, "the body is over the limit")
        while self.held > self._limits.together:
            largest = max(self._readings, key=lambda other: len(other.body))
            self._let_go(largest)
            if not largest.limit.expired():
                largest.limit.reschedule(asyncio.get_running_loop().time())
        if reading not in self._readings:
            raise _given_up()

    def _let_go(self, reading: _Reading) -> None:
        """Count it no longer."""
        if reading in self._readings:
            self._readings.remove(reading)
            self.held -= len(reading.body)


def _given_up() -> NotTaken:
    """Pushes are told in few words, so an attack by large bodies keeps none of them out."""
    return NotTaken(503, "too many bodies at once, of which it was the largest")
