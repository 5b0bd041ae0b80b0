"""`gitops sandbox`: a landscape that stays, for kubectl and for other terminals."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

from gitops.cli.exits import Exit
from gitops.cli.options import Source, chosen_overlay, overlay_argument, source_options
from gitops.cli.sandbox import landscape_options
from gitops.desired.compose import Desired, compose
from gitops.sandbox import Faults, Landscape, ScaledClock, Server


@click.command()
@overlay_argument
@source_options
@click.option("--shoots", type=click.IntRange(min=0), default=0, help="Add so many copies of the overlay's Shoots.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen here; 0 takes a free port.")
@click.option("--time-scale", type=click.FloatRange(min=1), default=10, show_default=True, help="How fast time runs.")
@click.option("--latency", type=click.FloatRange(min=0), default=0, help="Seconds that every answer takes.")
@click.option(
    "--faults",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    metavar="FILE",
    help="What goes wrong: a YAML file (its format: `gitops sandbox --help-faults`).",
)
@click.option("--help-faults", is_flag=True, help="Explain the faults file and exit.")
@click.option(
    "--kubeconfig-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("sandbox.kubeconfig"),
    show_default=True,
    help="Where the garden's kubeconfig is written; removed at the end.",
)
def sandbox(
    overlay: str | None,
    source: Source,
    shoots: int,
    port: int,
    time_scale: float,
    latency: float,
    faults: Path | None,
    help_faults: bool,
    kubeconfig_file: Path,
) -> int:
    """Keep a landscape running that holds OVERLAY's Shoots as they were before the tool came."""
    if help_faults:
        click.echo(FAULTS_HELP)
        return Exit.OK
    with source.opened() as artifact:
        desired = compose(artifact, chosen_overlay(artifact, overlay))
    landscape = Landscape(
        [shoot.shoot for shoot in desired.shoots.values()],
        ScaledClock(time_scale),
        faults=Faults.from_yaml(faults.read_text()) if faults else None,
        options=landscape_options(desired, copies=shoots, latency=latency),
    )
    with Server(landscape, port) as server:
        kubeconfig_file.touch(mode=0o600)
        kubeconfig_file.write_bytes(server.garden_kubeconfig())
        try:
            click.echo(_instructions(desired, kubeconfig_file))
            _wait_for_the_end()
        finally:
            kubeconfig_file.unlink(missing_ok=True)
    return Exit.OK
