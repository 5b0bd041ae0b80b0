"""What is said when people went back to something that cannot be used any more."""

from __future__ import annotations

import pytest

from gitops.control.revision import compose_earlier
from gitops.desired.compose import Desired
from gitops.errors import GitopsError, SourceError, Untrusted


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SourceError("it is gone"), "cannot be read any more: it is gone"),
        (Untrusted("it is unsigned", rule="unsigned"), r"it is unsigned \[unsigned\].*earlier tag with --revision"),
    ],
    ids=["vanished", "not-trusted"],
)
def test_a_rollback_that_cannot_be_followed_says_how_to_go_on(error: GitopsError, said: str) -> None:
    def compose_at(revision: str) -> Desired:
        del revision
        raise error

    with pytest.raises(type(error), match=rf"{said}.*`gitops rollback dev --to REVISION`.*`gitops resume dev`"):
        compose_earlier("1" * 40, compose_at, "dev")
