"""The main job: enable the extension everywhere, bring the policies, touch nothing else."""

from __future__ import annotations

import pytest

from gitops.rollout.rollout import RunOutcome
from tests.end_to_end.fleet import FOREIGN, NAMES, RESOURCES, Fleet
from tests.end_to_end.repository import TYPE
from tests.end_to_end.requests import Requests

pytestmark = pytest.mark.control_plane


def test_a_run_enables_the_extension_everywhere_and_brings_the_policies(fleet: Fleet) -> None:
    requests = Requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    for name in NAMES:
        entries = {entry["type"]: entry for entry in fleet.shoot(name)["spec"]["extensions"]}
        assert entries[TYPE].get("disabled") is not True
        assert fleet.policies(name)["default"]["status"]["nodes"]
    one = fleet.shoot("one")["spec"]
    assert one["extensions"][0] == FOREIGN
    assert one["resources"] == RESOURCES
    shoot_writes = [write for write in requests.writes if "/shoots/" in write]
    assert len(shoot_writes) == len(set(shoot_writes)) == len(NAMES)


def test_a_second_run_writes_nothing_and_asks_little(fleet: Fleet) -> None:
    fleet.reconcile()
    before = {name: fleet.versions(name) for name in NAMES}
    requests = Requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED
    assert requests.writes == []
    assert {name: fleet.versions(name) for name in NAMES} == before
    garden_lists = [request for request in requests.sent if request.method == "GET"]
    assert len(requests.sent) <= 3 + 3 * len(NAMES), [f"{r.method} {r.path}" for r in requests.sent]
    assert garden_lists
    assert not fleet.plan().plan.pending
