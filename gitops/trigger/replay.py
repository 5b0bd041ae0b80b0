"""Deliveries that were accepted lately, so that none is accepted twice. Bounded in time and in number.

Where the forge signs a timestamp, the window outlasts the time in which that is accepted, so a replay is refused for
ever; elsewhere for as long as the window lasts, after which it is what any push is: a hint to look into git.

Branches go to and fro: what is remembered is what was signed, and not the move, or the second of two pushes that move
a branch alike would be lost. GitHub, Gitea and Bitbucket Data Center have times in their bodies. Bitbucket Cloud has
none, so that there the same move, made again within the window, waits for the next push or the schedule.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from datetime import datetime, timedelta

from gitops.trigger.webhook.signatures import TOLERANCE

WINDOW = 2 * TOLERANCE + timedelta(minutes=1)
"""A timestamp may lie as far ahead as behind."""
LIMIT = 10_000
"""Deliveries remembered; only who holds a secret can add to them."""


class ReplayWindow:
    """Not for several threads at once."""

    def __init__(self, window: timedelta = WINDOW, limit: int = LIMIT) -> None:
        self._window = window
        self._limit = limit
        self._seen: OrderedDict[bytes, datetime] = OrderedDict()

    def first_time(self, name: str, proven: bytes, now: datetime) -> bool:
        """Remember a delivery by its name and by what was signed; False when either was here before.

        Args:
            name: what the forge calls it; empty when it has no name. It need not be signed.
            proven: what its signature vouches for; empty where there is none.
            now: when.
        """
        while self._seen and next(iter(self._seen.values())) <= now - self._window:
            self._seen.popitem(last=False)
        parts = ((b"name:", name.encode()), (b"proven:", proven))
        keys = [hashlib.sha256(kind + part).digest() for kind, part in parts if part]
        if any(key in self._seen for key in keys):
            return False
        for key in keys:
            self._seen[key] = now
        while len(self._seen) > 2 * self._limit:
            self._seen.popitem(last=False)
        return True

    def __len__(self) -> int:
        return len(self._seen)
