"""`gitops sandbox`: a landscape that stays, for kubectl and for other terminals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import yaml

from gitops.cli.exits import Exit
from gitops.cli.options import Source, chosen_overlay, overlay_argument, source_options
from gitops.cli.sandbox import landscape_options
from gitops.desired.compose import Desired, compose
from gitops.sandbox import Faults, Landscape, ScaledClock, Server
from gitops.sandbox.faults import read as read_faults

_INSTRUCTIONS = """\
A landscape with {shoots} Shoots is at {url}.

  export KUBECONFIG={kubeconfig}
  kubectl get shoots -A
  gitops plan {overlay}
  gitops reconcile {overlay}

Break something and look again:

  kubectl -n {namespace} patch shoot {name} --type merge -p '{patch}'
  gitops plan {overlay}

Ctrl-C ends it."""


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
    help="What goes wrong, as YAML; the format is told at the top of gitops/sandbox/faults.py.",
)
@click.option(
    "--kubeconfig-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("sandbox.kubeconfig"),
    show_default=True,
    help="Where the garden's kubeconfig is written while it runs.",
)
def sandbox(
    overlay: str | None,
    source: Source,
    shoots: int,
    port: int,
    time_scale: float,
    latency: float,
    faults: Path | None,
    kubeconfig_file: Path,
) -> int:
    """Keep a landscape running that holds OVERLAY's Shoots as they were before the tool came."""
    with source.opened() as artifact:
        desired = compose(artifact, chosen_overlay(artifact, overlay))
    landscape = Landscape(
        [shoot.shoot for shoot in desired.shoots.values()],
        ScaledClock(time_scale),
        faults=_faults(faults),
        options=landscape_options(desired, copies=shoots, latency=latency),
    )
    with Server(landscape, port) as server, _written(kubeconfig_file, server.garden_kubeconfig()):
        click.echo(_instructions(desired, kubeconfig_file, server.url, len(desired.shoots) + shoots))
        _wait_for_the_end()
    return Exit.OK


def _faults(file: Path | None) -> Faults | None:
    if file is None:
        return None
    try:
        return read_faults(yaml.safe_load(file.read_text()) or {})
    except (TypeError, AttributeError, yaml.YAMLError) as error:
        raise click.UsageError(f"{file} does not describe faults: {error}") from error


def _instructions(desired: Desired, kubeconfig: Path, url: str, shoots: int) -> str:
    namespace, _, name = next(iter(desired.shoots)).partition("/")
    return _INSTRUCTIONS.format(
        shoots=shoots,
        url=url,
        kubeconfig=kubeconfig.resolve(),
        overlay=desired.overlay.name,
        namespace=namespace,
        name=name,
        patch='{"spec":{"extensions":[{"type":"shoot-dns-service"}]}}',  # what many a how-to says, and what wipes
    )


@contextmanager
def _written(file: Path, content: bytes) -> Iterator[None]:
    """A file for its owner alone, for as long as the block runs."""
    file.touch(mode=0o600)
    file.write_bytes(content)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _wait_for_the_end() -> None:
    """Until Ctrl-C, or whatever ends a service."""
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    end.wait()
