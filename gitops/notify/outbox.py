"""Messages on their way to one receiver: kept in order, sent again for a while, and overtaken by newer ones.

One thread delivers, so that a receiver never sees two messages of one key in the wrong order. What a newer message of
the same key makes stale is dropped, also in the midst of its attempts.
"""

from __future__ import annotations

import random
import threading
import time
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import tenacity

from gitops.errors import CredentialsError, GitopsError
from gitops.notify.web import Undelivered

M = TypeVar("M")

Tell = Callable[[str], None]
"""Hears in a sentence what could not be delivered, from any thread."""


@dataclass(frozen=True)
class Patience:
    """How long an outbox tries to deliver one message."""

    attempts: int = 30
    """With the waits below, a receiver may be away for ten minutes, as for an upgrade."""
    first: float = 1.0
    """Upper bound of the first wait in seconds; each further bound is twice the one before."""
    longest: float = 60.0
    """Upper bound of every wait in seconds, unless the receiver asks for more."""
    total: float = 4500.0
    """Seconds of waiting for one message; a wait that would exceed it is not begun. GitHub may ask for an hour."""
    uniform: Callable[[], float] = random.random
    """A number between 0 and 1."""
    sleep: Callable[[float], None] | None = None
    """How to wait; None waits in real time, for an outbox until it gives up at the latest."""

    def retrying(self, sleep: Callable[[float], None], is_over: Callable[[], bool]) -> tenacity.Retrying:
        """Repeats what fails for a reason that may pass.

        Args:
            sleep: how to wait where nothing else is said.
            is_over: whether no other attempt is to be made.
        """

        def stop(state: tenacity.RetryCallState) -> bool:
            waited = state.idle_for + state.upcoming_sleep
            return is_over() or state.attempt_number >= self.attempts or waited > self.total

        return tenacity.Retrying(
            sleep=self.sleep or sleep,
            retry=tenacity.retry_if_exception(_is_passing),
            wait=self._wait,
            stop=stop,
            reraise=True,
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        bound = min(self.longest, self.first * 2.0 ** (state.attempt_number - 1))
        wait = bound * (0.5 + self.uniform() / 2)
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, Undelivered) else None
        return wait if asked is None else asked + wait


class _Overtaken(Exception):  # noqa: N818 - nothing went wrong
    """A newer message of the same key is there, or nobody waits for this one any more."""


class Outbox(Generic[M]):
    """Delivers messages to one receiver, from a thread of its own that begins with the first one."""

    def __init__(
        self,
        receiver: str,
        deliver: Callable[[M], None],
        tell: Tell,
        *,
        patience: Patience | None = None,
        limit: int = 1000,
    ) -> None:
        """Make an empty outbox.

        Args:
            receiver: who is to hear, as messages call it.
            deliver: delivers one message; raises Undelivered, or CredentialsError where a secret cannot be read.
            tell: told what was not delivered.
            patience: how long to try.
            limit: messages that may wait; beyond it the oldest is given up.
        """
        self._receiver = receiver
        self._deliver = deliver
        self._tell = tell
        self._patience = patience or Patience()
        self._limit = limit
        self._queue: dict[Hashable, M] = {}
        self._under_way: M | None = None
        self._reason = ""
        self._closing = False
        self._changed = threading.Condition()
        self._giving_up = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, key: Hashable, message: M) -> None:
        """Have a message delivered; it takes the place of an earlier one of the same key that still waits."""
        lost: M | None = None
        with self._changed:
            if self._closing:
                lost = message
            else:
                self._queue[key] = message
                if len(self._queue) > self._limit:
                    lost = self._queue.pop(next(iter(self._queue)))
                self._begin()
                self._changed.notify_all()
        if lost is not None:
            self._tell_lost(lost, "nothing more is sent" if self._closing else "too many messages wait")

    def flush(self, seconds: float) -> bool:
        """Wait until nothing is on its way any more, at most so long in real time; whether it came to that."""
        end = time.monotonic() + seconds
        with self._changed:
            while self._queue or self._under_way is not None:
                if (left := end - time.monotonic()) <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self, seconds: float) -> None:
        """Deliver what waits, for at most so long; what is left then is told and given up."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self.flush(seconds)
        with self._changed:
            self._giving_up.set()  # an attempt that is under way is not waited for
            reason = f"no time was left to try again after: {self._reason}" if self._reason else "no time was left"
            left = [*([] if self._under_way is None else [self._under_way]), *self._queue.values()]
            self._queue.clear()
            self._changed.notify_all()
        for message in left:
            self._tell_lost(message, reason)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"notify {self._receiver}", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    if self._closing:
                        return
                    self._changed.wait()
                key = next(iter(self._queue))
                message = self._under_way = self._queue.pop(key)
                self._reason = ""
            try:
                self._try(key, message)
            finally:
                with self._changed:
                    self._under_way = None
                    self._changed.notify_all()

    def _try(self, key: Hashable, message: M) -> None:
        def once() -> None:
            with self._changed:
                if key in self._queue or self._giving_up.is_set():
                    raise _Overtaken
            try:
                self._deliver(message)
            except GitopsError as error:
                self._reason = str(error)
                raise

        retrying = self._patience.retrying(self._nap, self._giving_up.is_set)
        try:
            retrying(once)
        except _Overtaken:
            return
        except GitopsError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - a bug in telling must not end the thread that tells of failures
            place = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__} at {place.name}:{place.lineno}; this is a bug"
        else:
            return
        if not self._giving_up.is_set():  # else closing has told it
            self._tell_lost(message, why)

    def _nap(self, seconds: float) -> None:
        self._giving_up.wait(seconds)

    def _tell_lost(self, message: M, why: str) -> None:
        self._tell(f"{self._receiver} was not told of {message}: {why}")


def _is_passing(error: BaseException) -> bool:
    """A file that is being replaced can be read again in a moment."""
    return isinstance(error, CredentialsError) or (isinstance(error, Undelivered) and error.passing)
