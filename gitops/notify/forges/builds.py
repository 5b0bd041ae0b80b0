"""What Bitbucket Cloud and Data Center have in common: a commit's statuses are builds, and each has a key."""

from __future__ import annotations

from typing import Any

from gitops.notify.forge import Held, State, entries, text_at

WORDS = {State.PENDING: "INPROGRESS", State.SUCCESS: "SUCCESSFUL", State.FAILURE: "FAILED", State.ERROR: "FAILED"}


def builds_held(body: Any) -> dict[str, Held]:
    """The builds of a list, by key."""
    return {
        text_at(status, "key"): Held(text_at(status, "state"), text_at(status, "description"))
        for status in entries(body, "values")
    }
