"""No private key, token or password of a run is found on disk, in what it prints, or in what it records."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from gitops.kube.transport import Request
from gitops.plan.document import plan_document
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.requests import Requests

pytestmark = pytest.mark.control_plane

MARKS = (b"PRIVATE KEY", b"client-key-data", b"hunter2")


def leaks(folder: Path) -> list[str]:
    """Files with a mark: below a folder, and whatever this process has open."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for link in Path("/proc/self/fd").iterdir():
        try:
            path = link.readlink()
        except OSError:
            continue
        if path.is_file():
            files.append(path)
    return [str(path) for path in files if any(mark in path.read_bytes() for mark in MARKS)]


def test_nothing_secret_reaches_disk_plan_or_record(
    real_fleet: ControlPlaneFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    tempfile.tempdir = None
    real_fleet.repository.overlay["spec"]["extensions"][0]["providerConfig"] = {"password": "hunter2", "size": 3}
    real_fleet.repository.commit()
    found: list[str] = []

    plan = real_fleet.plan().plan
    real_fleet.reconcile(Requests(before=lambda _: found.extend(leaks(folder))))
    tempfile.tempdir = None

    text = json.dumps(plan_document(plan))
    records = real_fleet.client.get(f"/api/v1/namespaces/{real_fleet.namespace}/configmaps/shoot-gitops-dev")
    annotation = real_fleet.shoot("one")["metadata"]["annotations"]["shoot-gitops/owned"]
    assert found == []
    assert "(sensitive)" in text
    for printed in (text, json.dumps(records), annotation):
        assert "hunter2" not in printed
        assert "PRIVATE KEY" not in printed


def test_the_marks_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("-----BEGIN PRIVATE KEY-----")

    assert leaks(tmp_path) == [str(tmp_path / "file")]


def test_a_request_is_seen_before_it_leaves(real_fleet: ControlPlaneFleet) -> None:
    seen: list[Request] = []

    real_fleet.plan(Requests(before=seen.append))

    assert seen
