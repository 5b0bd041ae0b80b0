"""Commands about policies that need neither a cluster nor a repository."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from gitops.cli.exits import Exit
from gitops.cli.options import output_option
from gitops.cli.terminal import stdout_style
from gitops.desired.documents import Document, parse
from gitops.errors import InvalidInput, Violation
from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.machine import Machine, parse_machine
from gitops.nri.acceptance.warnings import warnings
from gitops.nri.resolution import POLICY_GROUP, is_policy
from gitops.nri.schema.objections import objections
from gitops.report.policy_check import Checked, check_annotations, check_document, check_sarif, check_text


class MachineShape(click.ParamType[tuple[str, Machine]]):
    """`PxNxCxT[:MEM]`, kept as it was written."""

    name = "machine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Machine]:
        """Read it, or fail as a usage error."""
        if isinstance(value, tuple):
            return value
        try:
            return value, parse_machine(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.group()
def policy() -> None:
    """NRI resource policies."""


@policy.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--machine",
    "machines",
    multiple=True,
    type=MachineShape(),
    metavar="PxNxCxT[:MEM]",
    help="Packages, NUMA nodes per package, cores per node, threads per core; may be given several times.",
)
@output_option("text", "json", "sarif", "github")
def check(files: tuple[Path, ...], machines: tuple[tuple[str, Machine], ...], output: str) -> int:
    """Say whether the nodes would accept the policies in FILE...; without --machine, as far as any machine would.

    Documents that are no policies are passed over, and files that do not name their API group are not even parsed,
    so that a hook may hand over whatever was changed.
    """
    answers = Answers()
    asked: Sequence[tuple[str, Machine | None]] = machines or (("", None),)
    checked = [_checked(document, asked, answers) for document in _policies(files)]
    if not checked:
        click.echo("no policy among the files", err=True)
    click.echo(_checked_as(output, checked), nl=bool(checked) or output in {"json", "sarif"})
    return Exit.OK if all(one.sound for one in checked) else Exit.ERROR


def _policies(files: Sequence[Path]) -> list[Document]:
    found: list[Document] = []
    violations: list[Violation] = []
    for file in files:
        try:
            data = _read(file)
            documents = parse(data, str(file)) if POLICY_GROUP.encode() in data else ()
            found += [document for document in documents if is_policy(document.manifest)]
        except InvalidInput as error:
            violations += error.violations
    if violations:
        raise InvalidInput(violations)
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise click.UsageError(f"cannot read {file}: {error.strerror}") from error


def _checked(document: Document, machines: Sequence[tuple[str, Machine | None]], answers: Answers) -> Checked:
    manifest = document.manifest
    verdicts = tuple((text, answers.check(manifest, machine)) for text, machine in machines)
    return Checked(document, verdicts, objections(manifest), warnings(manifest))


def _checked_as(output: str, checked: Sequence[Checked]) -> str:
    match output:
        case "json":
            return json.dumps(check_document(checked))
        case "sarif":
            return json.dumps(check_sarif(checked, version("shoot-gitops")))
        case "github":
            return check_annotations(checked)
    return check_text(checked, stdout_style())
