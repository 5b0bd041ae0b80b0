"""`python -m tests.control_plane toolchain|build|up`: see the package's docstring."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from pathlib import Path

import urllib3

from tests.actors import crds
from tests.actors.cast import Cast
from tests.actors.gardenlet import Gardenlet
from tests.control_plane import objects
from tests.control_plane.build import binaries
from tests.control_plane.client import HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.landscape import Landscape
from tests.control_plane.pool import LIMIT
from tests.control_plane.toolchain import BuildError, find_go

_INTERVAL = 0.2
_NRI_EXTENSIONS = ("cri-resmgr-extension", "nri-resource-policy")


def main() -> None:
    arguments = _parser().parse_args()
    # Leave by SystemExit, so that what we started is stopped and our folder is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if arguments.command == "toolchain":
            sys.stdout.write(f"{find_go().version}\n")
            return
        servers = binaries()
    except BuildError as error:
        sys.exit(str(error))
    if arguments.command == "build":
        return
    shoots = [shoot for file in arguments.manifests for shoot in objects.shoots_in(Path(file))]
    shoots += [objects.shoot(f"shoot-{number}") for number in range(1, arguments.shoots + 1)]
    with (
        tempfile.TemporaryDirectory(prefix="shoot-gitops-landscape-") as folder,
        contextlib.suppress(KeyboardInterrupt),
    ):
        landscape = Landscape(servers, Path(folder))
        try:
            _play(Garden(landscape, arguments.namespace), shoots)
        finally:
            landscape.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.control_plane")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("toolchain", help="tell which Go the build would use; fails where there is none")
    commands.add_parser("build", help="build the servers into the cache")
    up = commands.add_parser("up", help="run a landscape until Ctrl-C; prints the path of the garden's kubeconfig")
    up.add_argument("--namespace", default="garden-dev", help="namespace of the Project (default: %(default)s)")
    up.add_argument(
        "--shoots",
        type=int,
        default=0,
        choices=range(LIMIT + 1),
        metavar="N",
        help="create the Shoots shoot-1 to shoot-N",
    )
    up.add_argument("manifests", nargs="*", metavar="FILE", help="create the Shoots in these YAML files or folders")
    return parser


def _play(garden: Garden, shoots: list[objects.Manifest]) -> None:
    """Create the Shoots, print the path of the kubeconfig, and let the actors act for ever."""
    namespaces = {garden.namespace}
    for shoot in shoots:
        namespace = shoot["metadata"].get("namespace", garden.namespace)
        if namespace not in namespaces:
            garden.add_project(namespace)
            namespaces.add(namespace)
        garden.create_shoot(shoot)
    definitions = dict.fromkeys(_NRI_EXTENSIONS, crds.nri())
    gardenlets = [
        Gardenlet(garden.client, namespace, shoot_client=garden.shoot_client, crds=definitions)
        for namespace in sorted(namespaces)
    ]
    cast = Cast(gardenlets, garden.shoot_clients)
    sys.stdout.write(f"{garden.kubeconfig}\n")
    sys.stdout.flush()
    while True:
        try:
            for line in cast.step():
                sys.stderr.write(f"{line}\n")
        except (HttpError, urllib3.exceptions.HTTPError) as error:  # somebody tries things out
            sys.stderr.write(f"{error}\n")
        time.sleep(_INTERVAL)


if __name__ == "__main__":
    main()
