"""How fast a LIST of Shoots is answered per object: the sandbox against the real API server."""

from __future__ import annotations

import copy
import json
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitops.sandbox import Landscape, Options, Request
from tests.conformance.stories import shoot
from tests.conformance.subjects import ControlPlane
from tests.control_plane.build import binaries
from tests.control_plane.garden import Garden
from tests.control_plane.landscape import Landscape as Servers

ALL = "/apis/core.gardener.cloud/v1beta1/shoots"
REAL, SANDBOX = 500, 5000


def declared() -> dict[str, Any]:
    """A whole Shoot for the sandbox."""
    found = copy.deepcopy(shoot({}))
    found["metadata"]["namespace"] = "garden-dev"
    return found


def per_object(ask: Callable[[], bytes]) -> float:
    """Seconds a LIST takes per object, the best of five."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        body = ask()
        took = time.perf_counter() - start
        best = min(best, took / len(json.loads(body)["items"]))
    return best


def in_the_sandbox() -> float:
    """Seconds per Shoot in the sandbox."""
    landscape = Landscape([declared()], options=Options(copies=SANDBOX - 1))
    garden = landscape.connect(landscape.garden_kubeconfig())
    return per_object(lambda: garden(Request("GET", ALL)).body)


def on_the_control_plane() -> float:
    """Seconds per Shoot on the real server."""
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(binaries(), Path(folder))
        try:
            garden = Garden(servers)
            namespace = f"garden-{secrets.token_hex(3)}"
            garden.add_project(namespace)
            real = ControlPlane(garden.kubeconfig, namespace)
            path = ALL.replace("/shoots", f"/namespaces/{namespace}/shoots")
            for index in range(REAL):
                new = copy.deepcopy(shoot({}))
                new["metadata"]["name"] = f"s{index}"
                real.send("POST", path, json.dumps(new).encode(), "", "")
            return per_object(lambda: real.raw(path))
        finally:
            servers.stop()


def main() -> None:
    """Print both figures and their ratio."""
    ours, theirs = in_the_sandbox(), on_the_control_plane()
    sys.stdout.write(
        f"LIST per Shoot: sandbox {ours * 1e6:.0f} us ({SANDBOX} Shoots), control plane {theirs * 1e6:.0f} us "
        f"({REAL} Shoots), ratio {theirs / ours:.1f}\n"
    )


if __name__ == "__main__":
    main()
