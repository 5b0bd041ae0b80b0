"""Which revision of an overlay is meant: what git says, unless somebody went back from what it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gitops.control.control import Control, Hold
from gitops.control.store import load_control
from gitops.desired.compose import Desired
from gitops.errors import SourceError, Untrusted
from gitops.kube.cluster import Cluster


@dataclass(frozen=True)
class Chosen:
    """What is to be achieved, and what people have asked."""

    desired: Desired
    """At the revision that is meant."""
    control: Control
    hold: Hold | None = None
    """Why it is not the revision that git says; None where it is."""


def choose_revision(garden: Cluster, desired: Desired, compose_at: Callable[[str], Desired]) -> Chosen:
    """What a run of an overlay is to achieve, whatever starts it.

    A hold that git has moved on from is not taken away: should the same bad commit ever be pushed again, or somebody
    run another revision once, it holds as before. `gitops resume`, or the next rollback, takes it away.

    Args:
        garden: where people ask.
        desired: the overlay at the revision that git says.
        compose_at: composes it at another one.

    Raises:
        Refused: what people ask cannot be read.
        Forbidden, Unreachable: it is not known.
        SourceError: what they went back to is no longer in the repository.
        Untrusted: it does not carry the signature that is required.
        InvalidInput: it breaks rules.
    """
    control = load_control(garden, desired.overlay)
    hold = control.hold_on(desired.revision, desired.content)
    if hold is None:
        return Chosen(desired, control)
    return Chosen(compose_earlier(hold.good, compose_at, desired.overlay.name), control, hold)


def compose_earlier(revision: str, compose_at: Callable[[str], Desired], overlay: str) -> Desired:
    """An overlay at a revision that somebody goes back to.

    Raises:
        SourceError: it is no longer in the repository.
        Untrusted: it does not carry the signature that is required.
        InvalidInput: it breaks rules.
    """
    otherwise = (
        f"Choose another with `gitops rollback {overlay} --to REVISION`, or take what git says with "
        f"`gitops resume {overlay}`"
    )
    try:
        return compose_at(revision)
    except SourceError as error:
        message = f"overlay {overlay} is rolled back to revision {revision}, which cannot be read any more: {error}. "
        raise SourceError(message + otherwise) from error
    except Untrusted as error:
        # A tag is signed under its name; which one once stood for this commit, nobody remembers.
        raise Untrusted(
            f"overlay {overlay} is rolled back to revision {revision}, which is not trusted by its id: {error}. Where "
            f"signed tags are required, go back by naming the earlier tag with --revision. {otherwise}",
            rule="untrusted-rollback",
            signer=error.signer,
        ) from error
