"""Commands for image vectors: check, set."""

from __future__ import annotations

import json

import click

from gitops.cli.editing import carry_out_edits, check_option
from gitops.cli.exits import Exit
from gitops.cli.options import Source, chosen_overlay, output_option, overlay_argument, source_options
from gitops.cli.terminal import stderr_style, stdout_style
from gitops.clock import SystemClock
from gitops.desired.compose import compose
from gitops.desired.edits import Edited
from gitops.desired.image_vectors import read_image_vectors
from gitops.desired.overlay_file import read_overlay
from gitops.desired.vector_set import Wanted, set_image
from gitops.gardener.image_vector.reference import parse_reference
from gitops.report.image_vectors import image_vectors_document, image_vectors_text
from gitops.report.violations import Severity, violations_text
from gitops.source.worktree import open_worktree


@click.group("image-vector")
def image_vector() -> None:
    """Check and change the images of extensions."""


@image_vector.command()
@overlay_argument
@source_options
@output_option("text", "json")
def check(overlay: str | None, source: Source, output: str) -> int:
    """Prove what every image of OVERLAY resolves to, on every machine that its Shoots declare."""
    with source.opened() as artifact:
        desired = compose(artifact, chosen_overlay(artifact, overlay))
        found = read_image_vectors(artifact, desired, SystemClock().now())
    click.echo(violations_text(found.warnings, stderr_style(), Severity.WARNING), err=True, nl=False)
    name = desired.overlay.name
    if output == "json":
        click.echo(json.dumps(image_vectors_document(name, found.vectors), indent=2))
    else:
        click.echo(image_vectors_text(name, found.vectors, stdout_style()), nl=False)
    return Exit.OK


@image_vector.command("set")
@click.argument("overlay")
@click.argument("image")
@click.argument("ref")
@click.option("--repo", default=".", show_default=True, metavar="PATH", help="The work tree to edit.")
@click.option("--extension", metavar="NAME", help="Whose image it is, where several extensions have one of the name.")
@click.option("--target-version", metavar="TEXT", help="The entry for this target version, as the entry writes it.")
@click.option("--architecture", metavar="NAME", help="The entry for this architecture.")
@check_option
def set_(
    overlay: str,
    image: str,
    ref: str,
    repo: str,
    extension: str | None,
    target_version: str | None,
    architecture: str | None,
    *,
    check: bool,
) -> int:
    """Set IMAGE of OVERLAY to REF, in the work tree.

    REF is an image with a tag, a digest or both, or only `:tag` and `@sha256:…` for another version of the same
    image. An image that is not overwritten yet gets an entry that replaces the extension's own.
    """
    artifact = open_worktree(repo)
    read = read_overlay(artifact, overlay, {})
    try:
        wanted = Wanted(image, parse_reference(ref), extension, target_version, architecture)
        edit = set_image(artifact, read, wanted)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    edited = Edited(artifact, [edit])
    read_image_vectors(edited, compose(edited, overlay), SystemClock().now())
    return carry_out_edits(repo, [edit], check=check)
