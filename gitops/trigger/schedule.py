"""The schedule of runs, and a spread that keeps many overlays from running at once."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from gitops.desired.cron import Cron, read_cron, read_zone

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
"""As crontab(5) has them."""


def read_schedule(cron: str, zone: str) -> Cron:
    """When runs are due, from what a person wrote.

    Raises:
        ValueError: it is no cron expression, or no time zone; the message says why.
    """
    return read_cron(_MACROS.get(cron.strip(), cron), read_zone(zone))


def spread(overlay: str, longest: timedelta) -> timedelta:
    """How much later than the schedule an overlay runs: always the same, and evenly spread over many overlays."""
    drawn = int.from_bytes(hashlib.sha256(overlay.encode()).digest()[:8], "big")
    return longest * (drawn / 2**64)
