"""Whether a run has proven what an overlay declares."""

from __future__ import annotations

from gitops.errors import Refused
from gitops.record.store import Stored
from gitops.rollout.rollout import RunOutcome


def require_proven(stored: Stored | None, overlay: str, revision: str) -> None:
    """Stop unless the last run of an overlay converged, at exactly this commit.

    Raises:
        Refused: it did not, and what it did instead.
    """
    if stored is None:
        raise Refused(f"overlay {overlay} has never been reconciled in its garden, so nothing of it is proven")
    outcome, proven = stored.last["outcome"], stored.last["revision"]
    if outcome != RunOutcome.CONVERGED.value:
        raise Refused(f"the last run of overlay {overlay} ended as {outcome}, so what it declares is not proven")
    if proven != revision:
        raise Refused(
            f"overlay {overlay} converged at {proven[:12]}, and the commit to promote is {revision[:12]}: "
            "reconcile it first, or promote with --revision what is proven"
        )
