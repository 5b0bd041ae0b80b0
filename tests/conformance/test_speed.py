"""Scale: thousands of Shoots, and a LIST of them against the real server's."""

import copy
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from gitops.sandbox import Landscape, Options, Request
from tests.conformance.stories import shoot
from tests.conformance.subjects import ControlPlane
from tests.control_plane.garden import Garden

_ALL = "/apis/core.gardener.cloud/v1beta1/shoots"
_COUNT = 200


def _declared() -> dict[str, object]:
    found = shoot({})
    found["metadata"]["namespace"] = "garden-dev"
    return found


def _per_object(ask: Callable[[], bytes]) -> float:
    """Return the seconds a LIST takes per object, the best of five."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        body = ask()
        took = time.perf_counter() - start
        best = min(best, took / len(json.loads(body)["items"]))
    return best


@pytest.mark.control_plane
def test_a_list_is_as_fast_per_object_as_the_real_one(
    real_garden: Garden, capsys: pytest.CaptureFixture[str]
) -> None:
    namespace = f"garden-{secrets.token_hex(3)}"
    real_garden.add_project(namespace)
    real = ControlPlane(real_garden.kubeconfig, namespace)
    path = _ALL.replace("/shoots", f"/namespaces/{namespace}/shoots")
    for index in range(_COUNT):
        new = copy.deepcopy(shoot({}))
        new["metadata"]["name"] = f"s{index}"
        assert real.send("POST", path, json.dumps(new).encode(), "", "").status == 201
    landscape = Landscape([_declared()], options=Options(copies=4999))
    garden = landscape.connect(landscape.garden_kubeconfig())
    ours = _per_object(lambda: garden(Request("GET", _ALL)).body)
    theirs = _per_object(lambda: real.raw(path))
    with capsys.disabled():
        sys.stdout.write(
            f"\nLIST per Shoot: sandbox {ours * 1e6:.0f} us, control plane {theirs * 1e6:.0f} us, "
            f"ratio {theirs / ours:.1f}\n"
        )
    assert ours <= theirs


_MEASURE = """
import resource, sys, time
start = time.perf_counter()
from gitops.sandbox import Landscape, Options, Server
from tests.conformance.test_speed import _declared
with Server(Landscape([_declared()], options=Options(copies=4999))):
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_five_thousand_shoots_start_in_seconds_and_fit_in_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True, timeout=100
    )
    seconds, size = done.stdout.split()
    unit = 1 if sys.platform == "darwin" else 1024
    assert float(seconds) < 10
    assert int(size) * unit < 500e6
