"""A run listens, between two writes, to what is asked meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from gitops.control.control import Control, Hold
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
        content: str = "",
        under: Hold | None = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without any knowledge; nothing is read yet.

        Args:
            revision: what the run rolls out.
            read: reads what is asked.
            older: how old knowledge may be, in real time; zero reads it before each write.
            content: what that declares, as `Desired.content` has it; empty where that is not known.
            under: what held when the run began; None where nothing did.
            seconds: real time, which never goes back.
        """
        self._revision, self._content, self._read = revision, content, read
        self._under = under if under is not None and under.good == revision else None
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
        if hold := known.hold_on(self._revision, self._content) or self._taken_further(known.hold):
            raise Suspended(str(hold), shoot=None)
        if target is not None and target in known.shoots:
            raise Suspended(f"the shoot is suspended {known.shoots[target]}", shoot=target)

    def _taken_further(self, hold: Hold | None) -> Hold | None:
        """What holds instead of the hold that this run was begun for: what that went back to was no good either."""
        further = hold is not None and self._under is not None and hold.good != self._revision
        return hold if further else None

    def _present(self) -> Control:
        with self._lock:
            now = self._seconds()
            if self._known is None or now - self._read_at >= self._older:
                self._known = self._read()
                self._read_at = now
            return self._known
