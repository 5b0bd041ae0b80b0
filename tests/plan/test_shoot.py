"""The change of the Shoot object itself."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.errors import Refused
from gitops.manifest import Manifest, pointer
from gitops.ownership.field_record import RECORD_ANNOTATION
from gitops.ownership.field_set import to_fields_v1
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Cost
from gitops.plan.masking import MASK
from gitops.plan.shoot import shoot_change
from tests.plan.fleet import COMPLETE, NRI, TIME, declared, ignoring, live_shoot, policy


def change(spec: Any, live: Any, *, ignored: Any = ()) -> Change:
    """The change of a Shoot that an earlier run recorded, with this spec now."""
    shoot = declared(spec=spec, ignored=tuple(ignored))
    return shoot_change(shoot, live_shoot(shoot, spec=live), "dev")


def test_a_shoot_as_declared_is_unchanged() -> None:
    assert change(NRI, NRI) == Change(change(NRI, NRI).ref, Action.UNCHANGED)


def test_drift_is_told_with_both_values_and_who_wrote_it_and_when() -> None:
    shoot = declared(spec={**NRI, "region": "eu"})
    live = live_shoot(shoot, spec={"region": "eu", "extensions": [{"type": "nri", "disabled": True}]})
    written = to_fields_v1(frozenset({("spec", "extensions")}))
    live["metadata"]["managedFields"] = [
        {"manager": "kubectl-patch", "operation": "Update", "time": TIME, "fieldsV1": written}
    ]

    found = shoot_change(shoot, live, "dev")

    assert found.action is Action.CONFIGURED
    assert [(pointer(f.path), f.live, f.desired, f.manager, f.since) for f in found.fields] == [
        ("/spec/extensions/[type=nri]/disabled", True, False, "kubectl-patch", TIME)
    ]


def test_the_classic_patch_that_wipes_all_extensions_is_drift_of_ours_alone() -> None:
    found = change(NRI, {"region": "eu"})

    assert [pointer(f.path) for f in found.fields] == ["/spec/extensions/[type=nri]/type"]
    assert found.action is Action.CONFIGURED


def test_a_field_that_nobody_declared_is_not_reported() -> None:
    assert change(NRI, {**NRI, "region": "moved", "purpose": "production"}).fields == ()


def test_what_is_left_alone_is_told_with_the_reason_and_is_no_change() -> None:
    found = change({"kubernetes": {"version": "1.34"}}, {"kubernetes": {"version": "1.35.1"}})

    assert found.action is Action.UNCHANGED
    assert "behind the running 1.35.1" in found.fields[0].ignored


def test_what_the_overlay_ignores_is_told_and_is_no_change() -> None:
    rule = ignoring("Shoot", "spec", "hibernation")
    shoot = declared(spec={"hibernation": {"enabled": False}}, ignored=(rule,))
    created = live_shoot(declared(spec={"purpose": "x"}), spec={"hibernation": {"enabled": True}})

    found = shoot_change(shoot, created, "dev")

    assert [(f.live, f.desired, f.ignored) for f in found.fields] == [(True, False, "ignored by the overlay")]
    assert found.reason == "records what is owned here; no field changes"


@pytest.mark.parametrize(
    ("spec", "live", "cost", "reason"),
    [
        pytest.param({"region": "b"}, {"region": "a"}, Cost.NONE, "", id="nothing"),
        pytest.param(
            {"hibernation": {"enabled": False}},
            {"hibernation": {"enabled": True}},
            Cost.CONTROL_PLANE,
            "",
            id="the control plane",
        ),
        pytest.param(
            {"kubernetes": {"version": "1.36"}},
            {"kubernetes": {"version": "1.35.1"}},
            Cost.NODE_ROLL,
            "replaces the machines of every worker pool",
            id="every pool",
        ),
        pytest.param(
            {"provider": {"workers": [{"name": "a", "machine": {"type": "large"}}]}},
            {"provider": {"workers": [{"name": "a", "machine": {"type": "small"}}]}},
            Cost.NODE_ROLL,
            "replaces the machines of worker pool a",
            id="one pool",
        ),
        pytest.param(
            {"provider": {"workers": [{"name": name, "cri": {"name": "x"}} for name in "ba"]}},
            {"provider": {"workers": [{"name": name} for name in "ab"]}},
            Cost.NODE_ROLL,
            "replaces the machines of worker pools a, b",
            id="two pools",
        ),
        pytest.param(
            {"maintenance": {"confineSpecUpdateRollout": True}, "region": "b"},
            {"maintenance": {"confineSpecUpdateRollout": True}, "region": "a"},
            Cost.NONE,
            "rolls out only in the shoot's maintenance window (spec.maintenance.confineSpecUpdateRollout)",
            id="in its window",
        ),
    ],
)
def test_a_change_says_what_it_costs(spec: Any, live: Any, cost: Cost, reason: str) -> None:
    found = change(spec, live)

    assert (found.action, found.cost, found.reason) == (Action.CONFIGURED, cost, reason)


def test_another_overlay_that_wrote_before_is_named() -> None:
    shoot = declared()

    assert shoot_change(shoot, live_shoot(shoot), "prod").reason == (
        "records what is owned here; no field changes; takes over from overlay dev"
    )


def test_a_shoot_with_new_kinds_inside_is_recorded_first() -> None:
    before, now = declared(), declared(policy())

    assert shoot_change(now, live_shoot(before), "dev").action is Action.CONFIGURED


def test_a_complete_shoot_that_is_absent_is_created() -> None:
    found = shoot_change(declared(spec={**COMPLETE, "token": "x"}), None, "dev")

    assert (found.action, found.reason) == (Action.CREATED, "a new shoot is created")
    assert all(field.live is ABSENT for field in found.fields)
    assert {pointer(field.path): field.desired for field in found.fields} == {
        "/spec/cloudProfile/name": "local",
        "/spec/region": "local",
        "/spec/provider/type": "local",
        "/spec/token": MASK,
    }


def test_a_partial_shoot_that_is_absent_is_skipped_and_says_what_is_missing() -> None:
    found = shoot_change(declared(), None, "dev")

    assert found.action is Action.SKIPPED
    assert "/spec/cloudProfile/name, /spec/region, /spec/provider/type missing" in found.reason


def test_a_record_that_cannot_be_read_stops_everything() -> None:
    shoot = declared()
    live: Manifest = live_shoot(shoot)
    live["metadata"]["annotations"][RECORD_ANNOTATION] = "{"

    with pytest.raises(Refused, match=r"cannot be read"):
        shoot_change(shoot, live, "dev")


def test_secret_values_are_masked_on_both_sides() -> None:
    entries = [{"type": "x", "providerConfig": {"token": token}} for token in ("new", "old")]
    found = change({"extensions": entries[:1]}, {"extensions": entries[1:]})

    assert [(field.live, field.desired) for field in found.fields] == [(MASK, MASK)]
