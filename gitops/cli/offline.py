"""Commands that need no cluster: validate, render, schema."""

from __future__ import annotations

import json

import click

from gitops.cli.exits import Exit
from gitops.cli.options import Source, chosen_overlay, output_option, overlay_argument, source_options
from gitops.cli.terminal import stdout_style
from gitops.clock import SystemClock
from gitops.desired.artifact import Artifact
from gitops.desired.compose import Desired
from gitops.desired.overlay_file import overlay_names
from gitops.desired.render import render_registrations, render_shoot
from gitops.desired.schema import OVERLAY_SCHEMA
from gitops.desired.whole import compose_whole
from gitops.errors import InvalidInput, Violation
from gitops.report.violations import Severity, violations_document, violations_text


@click.command()
@overlay_argument
@source_options
@output_option("text", "json")
def validate(overlay: str | None, source: Source, output: str) -> int:
    """Compose and check OVERLAY, or all overlays; every violation with file, line and rule."""
    found: dict[str, tuple[list[Violation], list[Violation]]] = {}
    with source.opened() as artifact:
        for name in [overlay] if overlay else overlay_names(artifact) or [chosen_overlay(artifact, None)]:
            found[name] = _violations(artifact, name)
    for name, (problems, warnings) in found.items():
        click.echo(_validation_as(output, name, problems, warnings))
    return Exit.ERROR if any(problems for problems, _ in found.values()) else Exit.OK


def _validation_as(output: str, overlay: str, problems: list[Violation], warnings: list[Violation]) -> str:
    if output == "json":
        return json.dumps(violations_document(overlay, problems, warnings))
    style = stdout_style()
    texts = (violations_text(problems, style), violations_text(warnings, style, Severity.WARNING))
    return "\n".join(filter(None, (*texts, "" if problems else f"{overlay}: valid")))


def _violations(artifact: Artifact, overlay: str) -> tuple[list[Violation], list[Violation]]:
    try:
        return [], list(compose_whole(artifact, overlay, SystemClock().now()).warnings)
    except InvalidInput as error:
        return error.violations, []


@click.command()
@click.argument("overlay", required=False)
@click.argument("shoot", required=False)
@source_options
def render(overlay: str | None, shoot: str | None, source: Source) -> int:
    """Print the final manifests of OVERLAY, or of one SHOOT of it, as YAML."""
    with source.opened() as artifact:
        desired = compose_whole(artifact, chosen_overlay(artifact, overlay), SystemClock().now())
    if desired.registrations and not shoot:
        click.echo(render_registrations(desired), nl=False)
    for target in [_target(desired, shoot)] if shoot else desired.shoots:
        click.echo(render_shoot(desired.shoots[target]), nl=False)
    return Exit.OK


def _target(desired: Desired, shoot: str) -> str:
    """A shoot by `<namespace>/<name>`, or by its name where that is enough."""
    matching = [target for target in desired.shoots if shoot in {target, target.partition("/")[2]}]
    if len(matching) == 1:
        return matching[0]
    known = ", ".join(matching or desired.shoots)
    raise click.UsageError(f"{'more than one' if matching else 'no'} shoot {shoot!r} in the overlay: {known}")


@click.command()
def schema() -> int:
    """Print the JSON Schema of overlay.yaml, for editors."""
    click.echo(json.dumps(OVERLAY_SCHEMA, indent=2))
    return Exit.OK
