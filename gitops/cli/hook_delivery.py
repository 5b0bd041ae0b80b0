"""What the post-receive hook starts in the background: a webhook to a `gitops serve`, or runs on this machine."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import tenacity
import urllib3

from gitops.errors import GitopsError
from gitops.trigger.post_receive import Update
from gitops.trigger.webhook.generic import HEADER, body_of, sign

_ATTEMPTS = 6
_TIMEOUT = urllib3.Timeout(connect=5, read=20)


class _NoAnswerError(GitopsError):
    """The other side cannot be reached, or is not up to it now."""


def deliver(url: str, secret: str, repository: tuple[str, str], update: Update) -> None:
    """Send one update as a signed generic webhook; again, with growing waits, while nobody answers.

    Args:
        url: where to.
        secret: signs it.
        repository: its address, and the branch that HEAD stands for, which is empty where it stands for none.
        update: what moved.

    Raises:
        GitopsError: it was refused, or never answered.
    """
    address, head = repository
    body = body_of([address], update.ref, update.old, update.new, head)
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(_NoAnswerError),
        wait=tenacity.wait_random_exponential(multiplier=1, max=30),
        stop=tenacity.stop_after_attempt(_ATTEMPTS),
        reraise=True,
    )
    retrying(_post, url, secret, body)


def _post(url: str, secret: str, body: bytes) -> None:
    """One attempt, signed anew: its timestamp must be that of now."""
    headers = {"Content-Type": "application/json", HEADER: sign(secret, body, datetime.now(UTC))}
    try:
        with urllib3.PoolManager() as pool:
            status = pool.request(
                "POST", url, body=body, headers=headers, timeout=_TIMEOUT, retries=False, redirect=False
            ).status
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _NoAnswerError(f"{url} does not answer: {type(error).__name__}") from None
    if status >= 500 or status == 429:
        raise _NoAnswerError(f"{url} answered {status}")
    if status == 409:  # an attempt whose answer was lost had arrived
        return
    if status >= 300:
        raise GitopsError(f"{url} refused the push with {status}: do the secrets match, and the clocks?")


def run_here(repository: Path, arguments: Sequence[str], overlays: Sequence[str]) -> int:
    """Reconcile overlays one after the other, unless a run that has yet to begin will see this push anyway.

    Args:
        repository: its git folder; at most one run goes on in it and one waits.
        arguments: of `gitops reconcile`, besides the overlay.
        overlays: none means the only one that there is.

    Returns the worst exit code.
    """
    with _turn(repository) as mine:
        if not mine:
            return 0
        commands = [[sys.executable, "-P", "-m", "gitops", "reconcile", *name, *arguments] for name in _each(overlays)]
        return max(subprocess.run(command, check=False).returncode for command in commands)  # noqa: S603 - ourselves


def _each(overlays: Sequence[str]) -> Sequence[Sequence[str]]:
    return [(name,) for name in overlays] or [()]


@contextmanager
def _turn(repository: Path) -> Iterator[bool]:
    """Wait until nobody else runs; False where somebody waits already."""
    with (repository / "shoot-gitops.next").open("w") as next_, (repository / "shoot-gitops.now").open("w") as now:
        try:
            fcntl.flock(next_, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        fcntl.flock(now, fcntl.LOCK_EX)
        fcntl.flock(next_, fcntl.LOCK_UN)
        yield True
