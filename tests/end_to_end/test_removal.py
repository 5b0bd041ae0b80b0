"""What is declared no longer goes away, last, and only what is ours."""

from __future__ import annotations

import pytest

from gitops.errors import InvalidInput, Refused
from gitops.plan.changes import Action
from gitops.rollout.rollout import RunOutcome
from tests.end_to_end.fleet import NAMES, POLICIES, Fleet
from tests.end_to_end.repository import TYPE, balloons
from tests.end_to_end.requests import Requests


def test_an_extension_taken_out_of_the_overlay_is_off_and_foreign_entries_stay(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.repository.overlay["spec"]["extensions"] = []
    fleet.repository.overlay["spec"]["policies"] = []
    fleet.repository.commit()

    record = fleet.reconcile()

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    for name in NAMES:
        assert fleet.extensions(name) == ([], fleet.before[name].get("extensions", []))


def test_an_entry_that_somebody_else_holds_fields_in_is_disabled_instead(fleet: Fleet) -> None:
    fleet.reconcile()
    ours, others = fleet.extensions("two")
    ours[0]["providerConfig"] = {"somebody": "else's"}
    fleet.patch_shoot("two", {"spec": {"extensions": [*others, *ours]}})
    fleet.settle()
    fleet.repository.overlay["spec"]["extensions"] = []
    fleet.repository.overlay["spec"]["policies"] = []
    fleet.repository.commit()

    fleet.reconcile()

    left = [{"type": TYPE, "providerConfig": {"somebody": "else's"}, "disabled": True}]
    assert fleet.extensions("two") == (left, others)


def test_a_policy_taken_out_of_git_is_pruned_last_and_others_policies_stay(fleet: Fleet) -> None:
    fleet.repository.policy("group.fast", **balloons("2"))
    fleet.repository.commit()
    fleet.reconcile()
    client = fleet.shoot_client("one")
    mine = {"apiVersion": "config.nri/v1alpha1", "kind": "BalloonsPolicy", "metadata": {"name": "node.mine"}}
    client.post(POLICIES, {**mine, "spec": balloons()})
    fleet.repository.remove("policies/group.fast.yaml")
    fleet.repository.policy("default", **balloons("3"))
    fleet.repository.commit()
    requests = Requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert set(fleet.policies("one")) == {"default", "node.mine"}
    assert set(fleet.policies("two")) == {"default"}
    canary = [w for w in requests.writes if w.endswith(("/default", "/group.fast"))][:2]
    assert canary == [f"PATCH {POLICIES}/default", f"DELETE {POLICIES}/group.fast"]


def test_a_render_without_any_object_prunes_nothing(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.repository.overlay["spec"]["policies"] = []
    fleet.repository.commit()
    requests = Requests()

    plan = fleet.plan().plan
    fleet.reconcile(requests)

    assert not [change for change in plan.changes() if change.action is Action.PRUNED]
    assert not [write for write in requests.writes if write.startswith("DELETE")]
    assert all(set(fleet.policies(name)) == {"default"} for name in NAMES)


def test_a_render_that_fails_does_nothing_at_all(fleet: Fleet) -> None:
    fleet.reconcile()
    (fleet.repository.path / "policies" / "default.yaml").write_text("kind: [\n")
    fleet.repository.commit()
    requests = Requests()

    with pytest.raises(InvalidInput):
        fleet.reconcile(requests)

    assert requests.sent == []


def test_more_deletions_than_the_budget_are_refused_before_anything_is_written(fleet: Fleet) -> None:
    fleet.repository.policy("group.fast", **balloons("2"))
    fleet.repository.overlay["spec"]["prune"] = {"maxDeletions": 2}
    fleet.repository.commit()
    fleet.reconcile()
    fleet.repository.remove("policies/group.fast.yaml")
    fleet.repository.policy("default", **balloons("3"))
    fleet.repository.commit()
    requests = Requests()

    with pytest.raises(Refused, match="deletes 3 objects and the budget is 2"):
        fleet.reconcile(requests)

    assert requests.writes == []
