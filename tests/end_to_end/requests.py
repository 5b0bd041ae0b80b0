"""What the pipeline sends, counted where it leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gitops.kube.transport import Request, Response
from gitops.live.access import ClosableTransport


@dataclass
class Requests:
    """Every request of a run, from all threads, in the order of sending."""

    sent: list[Request] = field(default_factory=list)
    before: Callable[[Request], None] | None = None
    """Called before each request leaves; may raise."""
    after: Callable[[Request], None] | None = None
    """Called when each answer has come; may raise."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def through(self, transport: ClosableTransport) -> ClosableTransport:
        """A transport that counts here."""
        return _Counted(transport, self)

    def note(self, request: Request) -> None:
        """A request leaves."""
        with self._lock:
            self.sent.append(request)
        if self.before is not None:
            self.before(request)

    @property
    def writes(self) -> list[str]:
        """Method and path of each that changes something but the run's lease."""
        return [line for line in self._written() if "/leases" not in line]

    @property
    def lease_writes(self) -> list[str]:
        """Method and path of each that takes, keeps or gives back the run's lease."""
        return [line for line in self._written() if "/leases" in line]

    def _written(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.sent if request.writes]


@dataclass(frozen=True)
class _Counted:
    transport: ClosableTransport
    requests: Requests

    def __call__(self, request: Request) -> Response:
        self.requests.note(request)
        response = self.transport(request)
        if self.requests.after is not None:
            self.requests.after(request)
        return response

    def close(self) -> None:
        self.transport.close()
