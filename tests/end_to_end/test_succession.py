"""An extension takes over from another: one write, nothing of others touched, the policies back in the same wave."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.errors import Refused
from gitops.rollout.rollout import RunOutcome
from tests.actors.operator import MARKS
from tests.end_to_end.fleet import FOREIGN, NAMES, POLICIES, Fleet
from tests.end_to_end.repository import SUCCESSOR, TYPE
from tests.end_to_end.requests import Requests

SELECTOR = {"worker.gardener.cloud/pool": "w1"}


def before(fleet: Fleet) -> None:
    """The old extension is on everywhere, with a configuration of its own on one shoot."""
    fleet.reconcile()
    ours, others = fleet.extensions("one")
    config = {"nodeSelector": SELECTOR, "configs": {"default": "policy: {}"}}
    fleet.patch_shoot("one", {"spec": {"extensions": [*others, {**ours[0], "providerConfig": config}]}})
    fleet.settle()


def rename(fleet: Fleet) -> None:
    rule = {"type": SUCCESSOR, "state": "Enabled", "replaces": [TYPE]}
    fleet.repository.overlay["spec"]["extensions"] = [rule]
    fleet.repository.commit("rename the extension")


def entries(fleet: Fleet, name: str) -> dict[str, Any]:
    return {entry["type"]: entry for entry in fleet.shoot(name)["spec"]["extensions"]}


def test_the_rename_is_one_write_per_shoot_and_the_policies_are_back_in_the_same_wave(fleet: Fleet) -> None:
    before(fleet)
    rename(fleet)
    requests = Requests()

    notes = {note for wave in fleet.plan().plan.waves for shoot in wave.shoots for note in shoot.notes}
    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert sorted(write for write in requests.writes if "/shoots/" in write) == sorted(
        f"PATCH {fleet.shoot_path(name)}" for name in NAMES
    )
    for name in NAMES:
        found = entries(fleet, name)
        assert found[TYPE]["disabled"] is True
        assert not found[SUCCESSOR].get("disabled")
        assert fleet.policies(name)["default"]["status"]["nodes"].keys() == set(fleet.nodes(name))
    one = entries(fleet, "one")
    assert one["shoot-dns-service"] == FOREIGN
    assert one[SUCCESSOR]["providerConfig"] == {"nodeSelector": SELECTOR}
    assert one[TYPE]["providerConfig"]["configs"], "the old entry keeps what it had"
    assert any(f"disabling {TYPE} takes along" in note for note in notes)
    assert any("providerConfig.configs" in note and "gitops migrate" in note for note in notes)
    assert not fleet.plan().plan.pending


def test_the_policy_of_a_chart_is_not_fought_over(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"metadata": MARKS})
    requests = Requests()

    with pytest.raises(
        Refused,
        match=r"BalloonsPolicy kube-system/default in shoot .*/two: managed by Gardener.*"
        r"three ways out.*group\.<group>.*providerConfig.*resources\.gardener\.cloud/ignore",
    ):
        fleet.reconcile(requests)
    assert requests.writes == []


def test_a_policy_that_the_chart_created_once_is_ours_to_write(fleet: Fleet) -> None:
    fleet.reconcile()
    marks = {**MARKS["annotations"], "resources.gardener.cloud/ignore": "true"}
    fleet.shoot_client("two").request(
        "PATCH",
        f"{POLICIES}/default",
        {"metadata": {"labels": MARKS["labels"], "annotations": marks}, "spec": {"pinCPU": False}},
        "application/merge-patch+json",
        {"fieldManager": "gardener-resource-manager"},
    )

    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED
    assert fleet.policies("two")["default"]["spec"]["pinCPU"] is True
