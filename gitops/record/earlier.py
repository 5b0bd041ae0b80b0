"""Which earlier revision a rollback goes to, by the history of the overlay's runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gitops.errors import Refused
from gitops.rollout.rollout import RunOutcome


def good_revision(
    history: Iterable[Mapping[str, Any]], avoid: Iterable[str], differs: Callable[[str], bool] = lambda _: True
) -> str:
    """The newest revision that converged.

    Args:
        history: the last runs in brief, newest first.
        avoid: revisions that it must not be: the present one, and what was gone back from or to already.
        differs: whether a revision declares something else than those; asked of the newest first.

    Raises:
        Refused: there is none.
    """
    avoided = set(avoid)
    for run in history:
        revision = str(run["revision"])
        if run["outcome"] != RunOutcome.CONVERGED.value or revision in avoided:
            continue
        if differs(revision):
            return revision
        avoided.add(revision)
    raise Refused("no other revision converged in the runs that are remembered: choose one of them with --to REVISION")


def remembered_revision(history: Iterable[Mapping[str, Any]], to: str) -> str:
    """A revision of the history by the beginning of its name.

    Raises:
        Refused: none, or several, begin so.
    """
    known = list(dict.fromkeys(str(run["revision"]) for run in history))
    matching = [revision for revision in known if to and revision.startswith(to)]
    if len(matching) == 1:
        return matching[0]
    problem = "several revisions" if matching else "no revision"
    listed = ", ".join(revision[:12] for revision in matching or known) or "none"
    raise Refused(f"{problem} of the runs that are remembered begin with {to!r}: they are {listed}")
