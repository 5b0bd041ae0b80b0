"""Times as others wrote them."""

from __future__ import annotations

from datetime import datetime
from typing import Any


def read_time(value: Any) -> datetime | None:
    """An RFC 3339 time; None when it is absent, unreadable, or without a zone.

    >>> read_time("2026-01-02T03:04:05Z").isoformat()
    '2026-01-02T03:04:05+00:00'
    >>> read_time("yesterday")
    """
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is not None else None
