"""The fence: nothing that writes leaves this process without the lease."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gitops.kube.transport import Request, Response, Transport

Check = Callable[[], None]
"""Returns where writing is allowed at this moment, and raises LeaseLost where it is not."""


@dataclass(frozen=True)
class Fenced:
    """A transport that lets writes pass only while they are allowed.

    The check is made for every attempt, again when the credential is at hand, and once more when the connection stands,
    so that neither a retry nor a request that waited for something slips through. What remains is the way to the
    server, for which a lease lasts longer than its holder uses it.
    """

    transport: Transport
    check: Check

    def __call__(self, request: Request) -> Response:
        """Carry a request, if it may pass.

        Raises:
            LeaseLost: it writes, and must not; nothing that a server acts on was sent.
        """
        if not request.writes:
            return self.transport(request)
        self.check()
        return self.transport(replace(request, permit=self.check))
