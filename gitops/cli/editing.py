"""Commands that edit the work tree: what changes is shown, and written unless only a look is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitops.cli.exits import Exit
from gitops.cli.terminal import stdout_style
from gitops.desired.edits import FileEdit
from gitops.report.edits import edits_diff
from gitops.report.words import counted
from gitops.source.edits import write_edits

check_option = click.option("--check", is_flag=True, help="Show what would change, and write nothing.")


def carry_out_edits(repo: str, edits: Sequence[FileEdit], *, check: bool) -> int:
    """Print the edits as a diff, and write them.

    Raises:
        SourceError: a file could not be written.
        Refused: a file must not be written.
    """
    changing = [edit for edit in edits if edit.before != edit.after]
    click.echo(edits_diff(changing, stdout_style()), nl=False)
    if not changing:
        click.echo("nothing to change", err=True)
    elif check:
        click.echo(f"{counted(len(changing), 'file')} would change", err=True)
    else:
        write_edits(repo, changing)
        click.echo(f"{counted(len(changing), 'file')} changed", err=True)
    return Exit.OK
