"""Exit codes, and the one place where errors become them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

import click

from gitops.errors import GitopsError


class Exit(IntEnum):
    """What scripts may rely on."""

    OK = 0
    """In sync, converged, valid."""
    ERROR = 1
    """Invalid input, refused, garden unreachable. For `diff`: differences."""
    PENDING = 2
    """`plan --detailed-exitcode`: changes are pending. For `diff`: an error."""
    WAITING = 3
    """`reconcile`: not converged yet, and nothing is wrong."""
    STOPPED = 4
    """`reconcile`: a gate failed."""
    USAGE = 64
    """The command line is wrong."""
    INTERRUPTED = 130
    """Somebody pressed Ctrl-C."""


def run(command: Callable[[], int | None], error_code: Exit) -> NoReturn:
    """Run a command line to its exit code; messages go to standard error.

    Args:
        command: a click command in non-standalone mode; returns an exit code, or None for 0.
        error_code: what an error exits with.
    """
    try:
        code = command() or Exit.OK
    except click.UsageError as error:
        error.show()
        code = Exit.USAGE
    except click.ClickException as error:
        error.show()
        code = error_code
    except GitopsError as error:
        click.echo(f"error: {error}", err=True)
        code = error_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        leave_at_once(Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader has had enough, as `head` does; Python must not complain about it at exit.
        sys.stderr.close()
        code = Exit.OK
    sys.exit(code)


def leave_at_once(code: Exit) -> NoReturn:
    """End without waiting for threads whose requests may hang; the interpreter would join them."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(RuntimeError, OSError):  # a signal may have come in the midst of a write
            stream.flush()
    os._exit(code)
