"""Connections that have been accepted and are not there yet: TLS handshakes, of which no protocol knows."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any


class Door(socket.socket):
    """A listening socket that lets only so many stand in it; beyond that, who has stood there for longest goes.

    Else whoever connects and says nothing takes a file descriptor for as long as a handshake may take, until there are
    none left, also for git and for the clusters.
    """

    def __init__(self, listening: socket.socket, most: int) -> None:
        """Take a listening socket over.

        Args:
            listening: is not to be used any more.
            most: how many may be on their way in.
        """
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self._most = most
        self._waiting: dict[int, socket.socket] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        """The next one, for whom others may have to go."""
        connection, address = super().accept()
        self._waiting = {number: one for number, one in self._waiting.items() if one.fileno() == number}
        while len(self._waiting) >= self._most:
            longest = self._waiting.pop(next(iter(self._waiting)))
            with suppress(OSError):  # it has gone by itself
                longest.shutdown(socket.SHUT_RDWR)  # the event loop, whose it is, closes it
        self._waiting[connection.fileno()] = connection
        return connection, address

    def came_in(self, number: int) -> None:
        """A connection is there, by its file descriptor."""
        self._waiting.pop(number, None)
