"""Deliveries that were accepted lately, so that none is accepted twice. Bounded in time and in number.

Where the forge signs a timestamp, the window outlasts the time in which that is accepted, so a replay is refused for
ever; elsewhere for as long as the window lasts, after which it is what any push is: a hint to look into git.
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

    def first_time(self, name: str, body: bytes, now: datetime) -> bool:
        """Remember a delivery by its name and by its body; False when either was here before.

        Args:
            name: what the forge calls it; empty when it has no name. It need not be signed, so the body counts too.
            body: as received.
            now: when.
        """
        while self._seen and next(iter(self._seen.values())) <= now - self._window:
            self._seen.popitem(last=False)
        keys = [hashlib.sha256(b"body:" + body).digest()]
        if name:
            keys.append(hashlib.sha256(b"name:" + name.encode()).digest())
        if any(key in self._seen for key in keys):
            return False
        for key in keys:
            self._seen[key] = now
        while len(self._seen) > 2 * self._limit:
            self._seen.popitem(last=False)
        return True

    def __len__(self) -> int:
        return len(self._seen)
