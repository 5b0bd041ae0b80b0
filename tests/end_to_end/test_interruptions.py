"""Killed runs and concurrent edits: the next look at the world is all that is needed to go on."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from gitops.kube.transport import Request
from gitops.rollout.rollout import RunOutcome
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.fleet import NAMES, POLICIES, Fleet
from tests.end_to_end.repository import TYPE, balloons
from tests.end_to_end.requests import Requests
from tests.waiting import PATIENCE


@pytest.mark.parametrize(
    ("number", "when"), [(1, "after"), (4, "before")], ids=["after-the-first", "before-the-fourth"]
)
def test_a_run_that_was_killed_is_resumed_by_the_next(real_fleet: ControlPlaneFleet, number: int, when: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.end_to_end.killed",
        str(real_fleet.kubeconfig),
        str(real_fleet.repository.path),
    ]
    with real_fleet.alive():
        killed = subprocess.run(
            [*command, str(number), when], check=False, capture_output=True, text=True, timeout=PATIENCE
        )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    record = real_fleet.reconcile()

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    for name in NAMES:
        assert [entry["type"] for entry in real_fleet.extensions(name)[0]] == [TYPE]
        assert set(real_fleet.policies(name)) == {"default"}


def test_a_foreign_edit_between_our_read_and_our_write_of_a_shoot_is_kept(fleet: Fleet) -> None:
    path = fleet.shoot_path("two")
    edits = iter([{"metadata": {"labels": {"somebody": "else"}}, "spec": {"purpose": "development"}}])

    def edit(request: Request) -> None:
        if request.writes and request.path == path and (change := next(edits, None)):
            fleet.client.merge_patch(path, change)

    requests = Requests(before=edit)
    record = fleet.reconcile(requests)

    shoot = fleet.shoot("two")
    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert requests.writes.count(f"PATCH {path}") >= 2, "the first patch must have met a conflict"
    assert shoot["metadata"]["labels"]["somebody"] == "else"
    assert shoot["spec"]["purpose"] == "development"
    assert [entry["type"] for entry in fleet.extensions("two")[0]] == [TYPE]


def test_a_foreign_edit_between_our_read_and_our_write_of_a_policy_is_kept(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit()
    path = f"{POLICIES}/default"
    edits = iter([{"spec": {"idleCPUClass": "somebody-elses"}}])

    def edit(request: Request) -> None:
        if request.writes and request.path == path and (change := next(edits, None)):
            fleet.shoot_client("one").merge_patch(path, change)

    requests = Requests(before=edit)
    record = fleet.reconcile(requests)

    spec = fleet.policies("one")["default"]["spec"]
    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert requests.writes.count(f"PATCH {path}") > len(NAMES), "the first apply must have met a conflict"
    assert spec["idleCPUClass"] == "somebody-elses"
    assert spec["reservedResources"] == {"cpu": "2"}
