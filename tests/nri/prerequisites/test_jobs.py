"""The DaemonSets that look at nodes and repair them: what they may do, where they run, and that their commands work."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitops.manifest import Manifest, get
from gitops.nri.prerequisites.jobs import Job, is_outdated, job_of, nodes_of_job, probe, repair
from gitops.nri.prerequisites.wanted import Demand, Prerequisites
from tests.nri.prerequisites.scratch_node import ScratchNode

WANTED = Prerequisites(Demand.REPAIR, Demand.REPAIR, Demand.REQUIRE, image="tools:1", pull_secret="pull")  # noqa: S106 - a name
ENTER = {
    "chroot": '#!/bin/sh\nshift\nexec "$@"\n',
    "nsenter": '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n',
}


def pod_spec(daemon_set: Manifest) -> dict[str, Any]:
    spec: dict[str, Any] = get(daemon_set, "spec", "template", "spec")
    return spec


def test_a_probe_may_read_and_nothing_else() -> None:
    spec = pod_spec(probe(WANTED, None))
    (looking,) = spec["initContainers"]

    for container in (looking, *spec["containers"]):
        security = container["securityContext"]
        assert "privileged" not in security
        assert security["capabilities"]["drop"] == ["ALL"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
    assert looking["securityContext"]["capabilities"]["add"] == ["SYS_CHROOT"]
    assert all(mount["readOnly"] for mount in looking["volumeMounts"])
    assert spec["automountServiceAccountToken"] is False
    assert "hostNetwork" not in spec


def test_nothing_runs_that_was_not_declared() -> None:
    for job in (probe(WANTED, None), repair(WANTED, "w1-0")):
        spec = pod_spec(job)
        assert {c["image"] for c in (*spec["initContainers"], *spec["containers"])} == {"tools:1"}
        assert spec["imagePullSecrets"] == [{"name": "pull"}]
    assert "imagePullSecrets" not in pod_spec(probe(Prerequisites(), None))


def test_a_repair_runs_on_one_node_and_repairs_what_is_asked_for() -> None:
    job = repair(Prerequisites(dbus=Demand.REPAIR, nri=Demand.REQUIRE), "w1-0")

    assert nodes_of_job(job) == frozenset({"w1-0"})
    assert pod_spec(job)["initContainers"][0]["args"] == ["repair", "dbus"]


def test_where_a_probe_runs() -> None:
    assert nodes_of_job(probe(WANTED, None)) is None
    assert nodes_of_job(probe(WANTED, {"b", "a"})) == frozenset({"a", "b"})


def test_a_job_is_known_again() -> None:
    job = probe(WANTED, None)

    assert job_of(job) is Job.PROBE
    assert not is_outdated(job, WANTED)
    assert is_outdated(job, Prerequisites())
    assert job_of({"metadata": {"labels": {"app": "x"}}}) is None


@pytest.mark.parametrize("kind", ["probe", "repair"])
def test_the_command_of_a_job_leaves_a_report_in_the_termination_message(tmp_path: Path, kind: str) -> None:
    """The container's own command, with stand-ins for what enters the node."""
    node = ScratchNode(tmp_path)
    for name, script in ENTER.items():
        node.tool(name, script)
    job = probe(WANTED, None) if kind == "probe" else repair(WANTED, "w1-0")
    (container,) = pod_spec(job)["initContainers"]
    log = tmp_path / "termination-log"
    command = [part.replace("/dev/termination-log", str(log)) for part in (*container["command"], *container["args"])]
    tools = str(node.state / "bin")
    environment = {"PATH": tools, "NODE_PATH": tools, "STATE": str(node.state), "NODE_ROOT": str(node.root)}

    done = subprocess.run(
        command, env={**environment, "NODE_PATIENCE": "0"}, check=True, capture_output=True, text=True
    )
    node.close()

    said = json.loads(log.read_text())
    assert (done.stdout, done.stderr) == ("", "")
    assert said["dbus"] == "socket"
    assert ("restarted containerd" in said["changed"]) is (kind == "repair")
    assert len(log.read_bytes()) < 4096, "more is cut off by the kubelet"
