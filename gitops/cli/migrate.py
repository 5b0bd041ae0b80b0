"""`gitops migrate`: cri-resource-manager's configuration to policies."""

from __future__ import annotations

from pathlib import Path

import click

from gitops.cli.exits import Exit
from gitops.cli.terminal import stderr_style, stdout_style
from gitops.desired.documents import parse_values
from gitops.errors import InvalidInput, Refused, Violation
from gitops.nri.migration.migrate import Migration
from gitops.nri.migration.migrate import migrate as migrated
from gitops.report.migration import migration_text


@click.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write one file of policies for each FILE into this folder; without it they are printed.",
)
def migrate(files: tuple[Path, ...], folder: Path | None) -> int:
    """Turn cri-resource-manager's configuration in FILE... into NRI policies.

    Read are its ConfigMaps, its raw configuration files, and the configuration in Shoots and ControllerDeployments of
    the Gardener extension. What is a policy already is left alone, and no file that says something else is replaced.
    """
    migrations = {file: _migrated(file) for file in files}
    report = {str(file): migration for file, migration in migrations.items()}
    if folder is None:
        click.echo("---\n".join(one.text for one in migrations.values() if one.text), nl=False)
        click.echo(migration_text(report, stderr_style()), err=True)
    else:
        _write(migrations, folder)
        click.echo(migration_text(report, stdout_style()))
    if all(migration.empty for migration in migrations.values()):
        click.echo("nothing to migrate", err=True)
    return Exit.ERROR if any(migration.refusals for migration in migrations.values()) else Exit.OK


def _migrated(file: Path) -> Migration:
    try:
        return migrated(parse_values(file.read_bytes(), str(file)))
    except ValueError as error:
        raise InvalidInput([Violation(str(file), 0, "", "embedded-configuration", str(error))]) from error


def _write(migrations: dict[Path, Migration], folder: Path) -> None:
    """Write all files or none; a file that holds the same already stays untouched.

    Raises:
        Refused: a file of that name holds something else, or two files would get the same name.
    """
    texts: dict[Path, str] = {}
    for file, migration in migrations.items():
        if not migration.text:
            continue
        target = folder / f"{file.stem}.yaml"
        if target in texts:
            raise Refused(f"{target} would hold the policies of two files: migrate them into two folders")
        if target.exists() and target.read_text(encoding="utf-8") != migration.text:
            raise Refused(f"{target} exists and holds something else: remove it, or choose another folder")
        texts[target] = migration.text
    folder.mkdir(parents=True, exist_ok=True)
    for target, text in texts.items():
        if not target.exists():
            target.write_text(text, encoding="utf-8")
