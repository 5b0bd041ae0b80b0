import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from tests.actors import crds, nodes
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.landscape import Landscape
from tests.control_plane.objects import CORE, shoot

pytestmark = pytest.mark.control_plane


def test_the_kubeconfig_is_for_its_owner_only(garden: Garden) -> None:
    assert stat.S_IMODE(garden.kubeconfig.stat().st_mode) == 0o600
    assert Client.from_kubeconfig(garden.kubeconfig).get("/version")["gitVersion"].startswith("v1.")


def test_the_garden_tells_its_identity(garden: Garden) -> None:
    stored = garden.client.get("/api/v1/namespaces/kube-system/configmaps/cluster-identity")

    assert stored["data"]["cluster-identity"] == garden.identity


def test_nothing_of_a_test_is_left_for_the_next(landscape: Landscape) -> None:
    first = Garden(landscape)
    first.create_shoot(shoot("one"))
    server = first.shoot_server("one")
    crds.install(server.client, crds.nri())
    nodes.create(server.client, "node", {})
    first.leave()

    second = Garden(landscape)
    second.create_shoot(shoot("one"))
    again = second.shoot_server("one")

    assert again is server
    assert nodes.listed(again.client) == []
    assert again.client.get(crds.COLLECTION)["items"] == []
    assert again.client.find("/apis/config.nri") is None
    assert second.client.find(first.shoot_path("one")) is None
    assert len(second.client.get(f"{CORE}/shoots")["items"]) == 1
    second.leave()


def test_requests_are_those_of_the_program_under_test(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    program = Client.from_kubeconfig(garden.kubeconfig, user_agent="program/1")
    program.get(garden.shoot_path("one"))
    program.merge_patch(garden.shoot_path("one"), {"spec": {"purpose": "testing"}})

    seen = [(request.verb, request.status, request.writes) for request in garden.requests("program")]

    assert seen == [("get", 200, False), ("patch", 200, True)]


def test_a_landscape_left_standing_acts_until_ctrl_c() -> None:
    command = [sys.executable, "-m", "tests.control_plane", "up", "--namespace", "garden-try", "--shoots", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        assert up.stderr is not None
        kubeconfig = Path(up.stdout.readline().strip())
        garden = Client.from_kubeconfig(kubeconfig)
        while "label healthy" not in up.stderr.readline():
            assert up.poll() is None
        found = garden.get(f"{CORE}/namespaces/garden-try/shoots/shoot-1")
        up.send_signal(signal.SIGINT)

    assert found["status"]["lastOperation"]["state"] == "Succeeded"
    assert up.returncode == 0
    assert not kubeconfig.parent.exists()
    with pytest.raises(urllib3.exceptions.HTTPError):
        garden.get("/readyz")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_ends_with_whoever_started_it(tmp_path: Path, end: signal.Signals) -> None:
    pid_file = tmp_path / "pid"
    server = f"import os, pathlib, time; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    starter = (
        "import pathlib, sys, time\n"
        "from tests.control_plane.process import Process\n"
        f"process = Process([sys.executable, '-c', {server!r}], pathlib.Path({str(tmp_path / 'log')!r}))\n"
        f"pid = pathlib.Path({str(pid_file)!r})\n"
        "process.wait_until(lambda: pid.exists() and pid.read_text() != '')\n"
        "print('started', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        pidfd = os.pidfd_open(int(pid_file.read_text()))
        parent.send_signal(end)

    readable, _, _ = select.select([pidfd], [], [], 10)  # readable once the server has ended
    os.close(pidfd)
    assert readable
