"""Retries for the seconds in which an API server's admission has not yet seen what was just created."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.control_plane.client import HttpError
from tests.waiting import PATIENCE

_T = TypeVar("_T")


def until_accepted(request: Callable[[], _T]) -> _T:
    """Repeat a request while it is refused, for some seconds.

    Admission plugins read from informer caches that lag behind: 403 "not yet ready", 404 and 422 of references
    that do exist.

    Raises:
        HttpError: it is still refused, or refused for good (409).
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return request()
        except HttpError as error:
            if error.status not in (403, 404, 422, 500, 503) or time.monotonic() > deadline:
                raise
        time.sleep(0.05)
