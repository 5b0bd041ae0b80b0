"""One git process that ends in time, leaves nothing running behind it, and gets only the environment it is given."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from gitops.errors import SourceError


@dataclass(frozen=True)
class Done:
    """A process that has ended."""

    code: int
    output: bytes
    errors: str


_AFTER_THE_REASON = (
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
)
"""What git adds to ssh's own words."""


class GitFailed(Exception):  # noqa: N818 - reads as what it is; never leaves this package
    """Git said no.

    Attributes:
        errors: everything it wrote to standard error.
        reason: the last thing it said, which is the one that matters.
        far: whether it was the other side that did not answer, or did not let us in.
    """

    def __init__(self, errors: str) -> None:
        self.errors = errors
        said = (line.strip() for line in errors.splitlines())
        lines = [line for line in said if line and line not in _AFTER_THE_REASON]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))]
        self.reason = (fatal or lines or ["git said nothing"])[-1]
        self.far = any(sign in errors for sign in ("unable to access", "Could not read from remote", "Username for"))
        super().__init__(self.reason)


class TooSlow(SourceError):  # noqa: N818 - reads as what it is
    """A program was ended before it had done its work."""


def run(command: Sequence[str], *, environment: Mapping[str, str], patience: timedelta, given: bytes = b"") -> Done:
    """Run a program to its end.

    Args:
        command: the program, found in PATH, and its arguments; never holds a secret.
        environment: all that it sees.
        patience: how long it may take; then it is killed, with everything that it has started.
        given: its standard input.

    Raises:
        SourceError: the program is not installed.
        TooSlow: it took too long.
    """
    program = found(command[0])
    with (
        subprocess.Popen(  # noqa: S603 - programs by name, arguments of our own
            [program, *command[1:]],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A session of its own: git's helpers (ssh, git-remote-https) end with it, and none can ask the terminal.
            start_new_session=True,
        ) as process
    ):
        try:
            output, errors = process.communicate(given, timeout=patience.total_seconds())
        except subprocess.TimeoutExpired:
            raise TooSlow(f"{command[0]} was ended: it took longer than {patience.total_seconds():g} s") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
    return Done(process.returncode, output, errors.decode(errors="replace"))


def git(arguments: Sequence[str], *, environment: Mapping[str, str], patience: timedelta, given: bytes = b"") -> bytes:
    """What git prints.

    Raises:
        GitFailed: it ended with an error.
        SourceError: it is not installed.
        TooSlow: it took too long.
    """
    done = run(["git", *arguments], environment=environment, patience=patience, given=given)
    if done.code:
        raise GitFailed(done.errors)
    return done.output


def found(program: str) -> str:
    """Where a program is, by PATH.

    Raises:
        SourceError: it is nowhere; the message says which package brings it.
    """
    path = shutil.which(program)
    if path is None:
        package = {"gpg": "GnuPG", "ssh-keygen": "the OpenSSH client", "ssh": "the OpenSSH client"}.get(
            program, program
        )
        raise SourceError(f"{program} is not installed, or not in PATH: install {package}")
    return path
