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


class PassingTime(IdleTime):
    """Time that passes as a test says, for those too who renew their leases."""

    def __init__(self) -> None:
        super().__init__()
        self._asleep = threading.Semaphore(0)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        until = self.now() + seconds
        self._asleep.release()
        while not event.wait(0.002):
            if self.now() >= until:
                return False
        return True

    def pass_by(self, seconds: float) -> None:
        """Let time pass once somebody, again, waits to renew a lease."""
        self._asleep.acquire()
        self.sleep(seconds)
