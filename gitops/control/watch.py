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
        revision: str,
        read: Callable[[], Control],
        *,
        older: timedelta,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without any knowledge; nothing is read yet.

        Args:
            revision: what the run rolls out.
            read: reads what is asked.
            older: how old knowledge may be, in real time; zero reads it before each write.
            seconds: real time, which never goes back.
        """
        self._revision, self._read = revision, read
        self._older, self._seconds = older.total_seconds(), seconds
        self._known: Control | None = None
        self._read_at = 0.0
        self._lock = threading.Lock()

    def allow(self, target: Target | None) -> None:
        """Let a write begin, to a shoot or, as None, to what belongs to none.

        Raises:
            Suspended: the overlay, or this shoot, is suspended; or what the run rolls out has been rolled back.
            Refused, ApiError: what is asked is not known.
        """
        known = self._present()
        if known.suspension is not None:
            raise Suspended(f"the overlay is suspended {known.suspension}", shoot=None)
        if hold := known.hold_on(self._revision):
            raise Suspended(str(hold), shoot=None)
        if target is not None and target in known.shoots:
            raise Suspended(f"the shoot is suspended {known.shoots[target]}", shoot=target)

    def _present(self) -> Control:
        with self._lock:
            now = self._seconds()
            if self._known is None or now - self._read_at >= self._older:
                self._known = self._read()
                self._read_at = now
            return self._known
