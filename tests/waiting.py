"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 150.0
"""Seconds after which what we wait for will not come: less than a test may take, so that it can say what it saw, and
more than an API server needs that shares two cores with others (its own controllers retry for a minute)."""


def until(
    condition: Callable[[T], bool], look: Callable[[], T], said: Callable[[], object] = str, pause: float = 0.02
) -> T:
    """What is seen once a condition holds of it.

    Args:
        condition: of what is seen.
        look: sees.
        said: what else to show if it never holds.
        pause: seconds between two looks.

    Raises:
        AssertionError: it does not hold within `PATIENCE`.
    """
    end = time.monotonic() + PATIENCE
    while not condition(seen := look()):
        if time.monotonic() > end:
            raise AssertionError(f"still so after {PATIENCE:.0f} s: {str(seen)[:2000]}\n{said()}")
        time.sleep(pause)
    return seen
