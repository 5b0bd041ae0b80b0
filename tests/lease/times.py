"""Time for leases that passes only as a test wants it to."""

from __future__ import annotations

import threading


class IdleTime:
    """Time that passes only while somebody waits for another's lease; so that nothing need ever be renewed."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._lock = threading.Lock()

    def now(self) -> float:
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds

    def wait(self, event: threading.Event, seconds: float) -> bool:
        del seconds
        return event.wait()
