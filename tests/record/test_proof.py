from __future__ import annotations

import pytest

from gitops.errors import Refused
from gitops.record.proof import require_proven
from gitops.record.store import Stored

REVISION = "1" * 40


def stored(outcome: str = "Converged", revision: str = REVISION) -> Stored:
    return Stored({"outcome": outcome, "revision": revision}, ())


def test_a_run_that_converged_at_the_commit_is_proof() -> None:
    require_proven(stored(), "dev", REVISION)


@pytest.mark.parametrize(
    ("last", "says"),
    [
        pytest.param(None, "never been reconciled", id="never"),
        pytest.param(stored("Stopped"), "ended as Stopped", id="stopped"),
        pytest.param(stored("Waiting"), "ended as Waiting", id="waiting"),
        pytest.param(stored(revision="2" * 40), "converged at 222222222222, and the commit", id="other-commit"),
    ],
)
def test_anything_else_is_none(last: Stored | None, says: str) -> None:
    with pytest.raises(Refused, match=says):
        require_proven(last, "dev", REVISION)
