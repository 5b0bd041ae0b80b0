"""A run listens, between two writes, to what is asked meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from gitops.control.control import Control
from gitops.errors import Suspended
from gitops.manifest import Target


class Watch:
    """What is asked now, as it was at most so long ago. Any number of threads may ask.

    While one of them looks again the others wait: nobody begins a write on older knowledge.
    """

    def __init__(
        self,
        known: Control,
        read: Callable[[], Control],
        *,
        older: timedelta,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with what is known; nothing is read yet.

        Args:
            known: what has just been read.
            read: reads it again.
            older: how old knowledge may be, in real time; zero reads it before each write.
            seconds: real time, which never goes back.
        """
        self._known, self._read = known, read
        self._older, self._seconds = older.total_seconds(), seconds
        self._read_at = seconds()
        self._lock = threading.Lock()

    def allow(self, target: Target | None) -> None:
        """Let a write begin, to a shoot or, as None, to what belongs to none.

        Raises:
            Suspended: the overlay, or this shoot, is suspended.
            Refused, ApiError: what is asked is not known.
        """
        with self._lock:
            now = self._seconds()
            if now - self._read_at >= self._older:
                self._known = self._read()
                self._read_at = now
            known = self._known
        if known.suspension is not None:
            raise Suspended(f"the overlay is suspended {known.suspension}", shoot=None)
        if target is not None and target in known.shoots:
            raise Suspended(f"the shoot is suspended {known.shoots[target]}", shoot=target)
