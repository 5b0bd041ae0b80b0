"""When a request is sent again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import tenacity

from gitops.errors import Throttled, Unreachable
from gitops.kube.transport import NotSent, Request, Response


@dataclass(frozen=True)
class Retry:
    """Repeats what is safe to repeat, with jittered exponential back-off.

    Safe are requests that write nothing, and writes that the server cannot have begun: throttled ones, and those
    that found no connection. Any other failed write is for the caller, who must look again first.
    """

    attempts: int = 4
    """How often a request is sent at most."""
    first: float = 0.2
    """Upper bound of the first wait in seconds; each further bound is twice the one before."""
    longest: float = 5.0
    """Upper bound of every wait in seconds, unless the server asks for more."""
    total: float = 30.0
    """Seconds of waiting within one request; a wait that would exceed it is not begun."""
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[], float] = random.random
    """A number between 0 and 1."""

    def __call__(self, send: Callable[[], Response], request: Request) -> Response:
        """Call `send`, which raises our errors, until it answers or must not be repeated.

        Raises:
            ApiError: the last attempt's.
        """
        retrying = tenacity.Retrying(
            sleep=self.sleep,
            retry=tenacity.retry_if_exception(lambda error: _repeatable(request, error)),
            wait=self._wait,
            stop=self._stop,
            reraise=True,
        )
        return retrying(send)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Full jitter over the upper half, so that thousands of clients do not come back together."""
        bound = min(self.longest, self.first * 2.0 ** (state.attempt_number - 1))
        wait = bound * (0.5 + self.uniform() / 2)
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Throttled) and error.retry_after is not None:
            return error.retry_after + wait
        return wait

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        return state.attempt_number >= self.attempts or state.idle_for + state.upcoming_sleep > self.total


def _repeatable(request: Request, error: BaseException) -> bool:
    if isinstance(error, Throttled | NotSent):
        return True
    return isinstance(error, Unreachable) and not request.writes
