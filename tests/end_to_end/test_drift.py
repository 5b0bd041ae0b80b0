"""What somebody else changed: ours is put back, everything else is left alone."""

from __future__ import annotations

from typing import Any

from gitops.manifest import pointer
from gitops.plan.changes import Action, Plan
from tests.end_to_end.fleet import NAMES, POLICIES, Fleet
from tests.end_to_end.repository import TYPE, balloons
from tests.end_to_end.requests import Requests


def pending_fields(plan: Plan) -> list[tuple[str, str, Any, Any, str]]:
    """Object, path, live, desired and manager of every field that a run would write."""
    return [
        (str(change.ref), pointer(field.path), field.live, field.desired, field.manager)
        for change in plan.changes()
        for field in change.fields
        if not field.ignored
    ]


def test_the_classic_patch_that_wipes_the_extensions_is_seen_and_mended(fleet: Fleet) -> None:
    fleet.reconcile()
    path = fleet.shoot_path("two")
    somebody_elses = [{"type": "shoot-dns-service", "disabled": False}]
    fleet.client.request(
        "PATCH",
        path,
        {"spec": {"extensions": somebody_elses}},
        "application/strategic-merge-patch+json",
        {"fieldManager": "kubectl-patch"},
    )
    fleet.settle()

    plan = fleet.plan().plan

    at = f"/spec/extensions/[type={TYPE}]"
    fields = {field[1]: field[4] for field in pending_fields(plan) if field[0].startswith("Shoot")}
    assert fields
    assert set(fields) <= {f"{at}/type", f"{at}/disabled"}
    assert set(fields.values()) == {"kubectl-patch"}
    requests = Requests()
    fleet.reconcile(requests)
    assert [write for write in requests.writes if "/shoots/" in write] == [f"PATCH {path}"]
    ours, others = fleet.extensions("two")
    assert [entry["type"] for entry in ours] == [TYPE]
    assert others == [{"type": "shoot-dns-service", "disabled": False}]
    assert set(fleet.policies("two")) == {"default"}, "disabling took the policies along"


def test_an_edited_policy_shows_exactly_the_edited_field_and_is_put_back(fleet: Fleet) -> None:
    fleet.repository.policy("default", **balloons(balloonTypes=[{"name": "fast", "minCPUs": 1}]))
    fleet.repository.commit()
    fleet.reconcile()
    edited = fleet.policies("three")["default"]["spec"]["balloonTypes"]
    edited[0]["minCPUs"] = 3
    fleet.shoot_client("three").request(
        "PATCH",
        f"{POLICIES}/default",
        {"spec": {"balloonTypes": edited}},
        "application/merge-patch+json",
        {"fieldManager": "kubectl-edit"},
    )

    plan = fleet.plan().plan

    assert pending_fields(plan) == [
        ("BalloonsPolicy kube-system/default", "/spec/balloonTypes/[name=fast]/minCPUs", 3, 1, "kubectl-edit")
    ]
    fleet.reconcile()
    assert fleet.policies("three")["default"]["spec"]["balloonTypes"][0]["minCPUs"] == 1
    assert not fleet.plan().plan.pending


def test_a_field_that_nobody_declared_is_neither_reported_nor_written(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.patch_shoot("two", {"spec": {"purpose": "development"}})
    fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"spec": {"idleCPUClass": "somebody-elses"}})
    fleet.settle()
    requests = Requests()

    plan = fleet.plan().plan
    fleet.reconcile(requests)

    assert pending_fields(plan) == []
    assert all(change.action is Action.UNCHANGED for change in plan.changes())
    assert requests.writes == []
    assert fleet.shoot("two")["spec"]["purpose"] == "development"
    assert fleet.policies("two")["default"]["spec"]["idleCPUClass"] == "somebody-elses"


def test_an_ignored_field_is_left_as_it_is(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["ignore"] = [
        {"kind": "BalloonsPolicy", "paths": ["/spec/pinCPU"]},
        {"kind": "Shoot", "paths": ["/metadata/labels/wave"]},
    ]
    fleet.repository.commit()
    fleet.reconcile()
    fleet.shoot_client("two").merge_patch(f"{POLICIES}/default", {"spec": {"pinCPU": False}})
    fleet.patch_shoot("two", {"metadata": {"labels": {"wave": "mine"}}})

    plan = fleet.plan().plan
    fleet.reconcile()

    assert not [field for field in pending_fields(plan) if field[0].startswith("Shoot")]
    assert fleet.policies("two")["default"]["spec"]["pinCPU"] is False
    assert fleet.shoot("two")["metadata"]["labels"]["wave"] == "mine"
    assert all(set(fleet.policies(name)) == {"default"} for name in NAMES)
