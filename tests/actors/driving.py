"""Drive an actor: until it has nothing left to do, or from a thread while a test runs a whole program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def settled(step: Callable[[], list[str]], limit: int) -> list[str]:
    """Call `step` until it does nothing; returns all that was done.

    Raises:
        RuntimeError: there is still something to do after `limit` steps.
    """
    history: list[str] = []
    for _ in range(limit):
        done = step()
        if not done:
            return history
        history += done
    raise RuntimeError(f"not settled after {limit} steps: {history[-5:]}")


@contextmanager
def stepping(step: Callable[[], object], interval: float) -> Iterator[None]:
    """Call `step` every `interval` seconds until the block is left.

    Raises:
        Exception: whatever `step` raised, once the block is left; an actor that died is a failing test.
    """
    stop = threading.Event()
    errors: list[Exception] = []

    def run() -> None:
        try:
            while not stop.wait(interval):
                step()
        except Exception as error:  # noqa: BLE001 - raised again in the test's own thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if errors:
        raise errors[0]
