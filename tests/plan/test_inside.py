"""The changes of objects inside one shoot, and what forbids them."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.desired.compose import DesiredShoot
from gitops.desired.overlay import Overlay
from gitops.errors import Absent, Conflict, Forbidden, Rejected
from gitops.manifest import Manifest, pointer
from gitops.ownership.applyset import PART_OF, applyset_id, member_labels
from gitops.ownership.merge import ABSENT
from gitops.ownership.owners import Tool
from gitops.plan.changes import Action, Change
from gitops.plan.inside import InsidePlan, plan_inside, suspects, to_apply, writing_order
from gitops.plan.masking import MASK
from gitops.plan.observed import Inside
from tests.plan.apply_model import applied, updated
from tests.plan.fleet import (
    TARGET,
    TIME,
    core,
    declared,
    dry_run,
    ignoring,
    inside,
    live_objects,
    overlay,
    policy,
    ref,
)

OVERLAY = overlay()
POLICIES = ("config.nri/v1alpha1", "BalloonsPolicy")


def looked_at(shoot: DesiredShoot, live: list[Manifest], by: Overlay = OVERLAY, **more: Any) -> InsidePlan:
    """The plan after a dry run of everything that may differ."""
    first = inside(live, **more)
    outcomes = {r: dry_run(first.objects.get(r), m) for r, m in suspects(shoot, by, first).items()}
    return plan_inside(shoot, by, inside(live, dry_runs=outcomes, **more))


def told(change: Change) -> list[tuple[Any, ...]]:
    return [(pointer(field.path), field.live, field.desired, field.manager) for field in change.fields]


def test_objects_as_applied_are_unchanged_and_need_no_dry_run() -> None:
    shoot = declared(policy(), core("ConfigMap", "c", data={"a": "b"}))
    live = live_objects(*shoot.objects.values())

    assert suspects(shoot, OVERLAY, inside(live)) == {}
    assert [change.action for change in plan_inside(shoot, OVERLAY, inside(live)).changes] == [Action.UNCHANGED] * 2


def test_a_new_object_is_created_with_its_fields() -> None:
    (change,) = looked_at(declared(policy(pinCPU=True)), [], nodes=2).changes

    assert change.action is Action.CREATED
    assert told(change) == [("/spec", ABSENT, {"pinCPU": True}, "")]
    assert change.reason == "2 nodes will use it"


def test_an_object_of_an_unknown_kind_is_created_once_it_is_served() -> None:
    shoot = declared(policy())

    (change,) = plan_inside(shoot, OVERLAY, inside(unserved=[POLICIES])).changes

    assert suspects(shoot, OVERLAY, inside(unserved=[POLICIES])) == {}
    assert change.action is Action.CREATED
    assert change.reason == "0 nodes will use it; once the shoot serves it: BalloonsPolicy is unknown there"


def test_an_object_whose_namespace_is_yet_to_come_is_created_once_it_is_there() -> None:
    shoot = declared(core("ConfigMap", "c", data={"a": "b"}))
    missing = Absent('namespaces "x" not found', status=404)

    plan = plan_inside(shoot, OVERLAY, inside(dry_runs={ref(core("ConfigMap", "c")): missing}))

    assert plan.problems == ()
    assert plan.changes[0].action is Action.CREATED
    assert 'once the shoot serves it: namespaces "x" not found' in plan.changes[0].reason


def test_an_edit_with_kubectl_is_drift_with_values_and_manager() -> None:
    shoot = declared(policy(pinCPU=True))
    (live,) = live_objects(policy(pinCPU=True))
    edited = updated(live, {**live, "spec": {"pinCPU": False}}, "kubectl-edit", TIME)

    plan = looked_at(shoot, [edited], nodes=1)

    assert plan.problems == ()
    assert plan.changes[0].action is Action.CONFIGURED
    assert told(plan.changes[0]) == [("/spec/pinCPU", False, True, "kubectl-edit")]
    assert plan.changes[0].fields[0].since == TIME
    assert plan.changes[0].reason == "1 node will use it"


def test_a_field_that_somebody_added_is_neither_reported_nor_written() -> None:
    shoot = declared(policy(pinCPU=True))
    (live,) = live_objects(policy(pinCPU=True))
    edited = updated(live, {**live, "spec": {"pinCPU": True, "pinMemory": True}}, "kubectl-edit", TIME)

    assert [change.action for change in looked_at(shoot, [edited]).changes] == [Action.UNCHANGED]


def test_a_field_that_is_declared_no_longer_goes_away() -> None:
    plan = looked_at(declared(policy(pinCPU=True)), live_objects(policy(pinCPU=True, pinMemory=True)))

    assert told(plan.changes[0]) == [("/spec/pinMemory", True, ABSENT, "shoot-gitops")]


def test_an_object_with_the_same_values_is_taken_over() -> None:
    plan = looked_at(declared(policy(pinCPU=True)), live_objects(policy(pinCPU=True), by="kubectl", labels={}))

    assert plan.changes[0].action is Action.CONFIGURED
    assert [pointer(field.path) for field in plan.changes[0].fields] == [
        "/metadata/labels/applyset.kubernetes.io~1part-of"
    ]


def test_ownership_alone_is_a_change_that_says_so() -> None:
    live = live_objects(policy(pinCPU=True), by="kubectl-client-side-apply", labels=member_labels("dev"))

    plan = looked_at(declared(policy(pinCPU=True)), live)

    assert plan.changes[0].action is Action.CONFIGURED
    assert plan.changes[0].reason == "takes ownership; no field changes"


def test_an_object_that_the_server_rewrites_is_unchanged_when_applying_it_changes_nothing() -> None:
    """A quantity where nobody expects one: `1024Mi` is stored as `1Gi`, on each apply again."""
    ours = core("ConfigMap", "c", spec={"sizeLimit": "1024Mi"})
    (stored,) = live_objects(core("ConfigMap", "c", spec={"sizeLimit": "1Gi"}))
    shoot = declared(ours)

    assert suspects(shoot, OVERLAY, inside([stored])).keys() == {ref(ours)}
    plan = plan_inside(shoot, OVERLAY, inside([stored], dry_runs={ref(ours): stored}))

    assert [change.action for change in plan.changes] == [Action.UNCHANGED]


def test_an_ignored_field_is_applied_first_and_left_alone_from_then_on() -> None:
    rule = ignoring("BalloonsPolicy", "spec", "idleCPUClass")
    shoot = declared(policy(pinCPU=True, idleCPUClass="a"), ignored=(rule,))

    (created,) = to_apply(shoot, OVERLAY, {}).values()
    assert created["spec"] == {"pinCPU": True, "idleCPUClass": "a"}

    (live,) = live_objects(policy(pinCPU=True, idleCPUClass="a"))
    edited = updated(live, {**live, "spec": {"pinCPU": True, "idleCPUClass": "b"}}, "tuner", TIME)
    after = dry_run(edited, to_apply(shoot, OVERLAY, {ref(live): edited})[ref(live)])
    assert after["spec"] == {"pinCPU": True, "idleCPUClass": "b"}
    assert [change.action for change in looked_at(shoot, [after]).changes] == [Action.UNCHANGED]


FLUX = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


def test_an_object_of_another_tool_is_skipped_and_forbids_the_run() -> None:
    shoot = declared(policy())

    plan = looked_at(shoot, live_objects(policy(), labels=FLUX))

    assert plan.changes[0].action is Action.SKIPPED
    assert [(p.file, p.line, p.rule) for p in plan.problems] == [("policies/all.yaml", 1, "foreign-owner")]
    assert "Flux" in plan.problems[0].message
    assert plan.problems[0].object == f"BalloonsPolicy kube-system/default in shoot {TARGET}"


def test_an_object_of_a_tool_that_the_overlay_adopts_from_is_taken_over() -> None:
    plan = looked_at(
        declared(policy()), live_objects(policy(), labels=FLUX, by="flux"), overlay(adopt=frozenset({Tool.FLUX}))
    )

    assert plan.problems == ()
    assert plan.changes[0].action is Action.CONFIGURED


def test_a_member_of_another_overlay_is_refused() -> None:
    plan = looked_at(declared(policy()), live_objects(policy(), labels=member_labels("prod")))

    assert [problem.rule for problem in plan.problems] == ["foreign-owner"]


def test_a_field_that_another_manager_applies_is_a_conflict_that_names_it() -> None:
    shoot = declared(policy(pinCPU=True))
    (live,) = live_objects(policy(pinCPU=False), by="argocd-controller", labels=member_labels("dev"))

    plan = looked_at(shoot, [live])

    assert [problem.rule for problem in plan.problems] == ["field-conflict"]
    assert f"/spec/pinCPU was applied by field manager argocd-controller at {TIME}" in plan.problems[0].message
    assert plan.changes[0].action is Action.SKIPPED


@pytest.mark.parametrize("person", ["kubectl", "kubectl-edit", "kubectl-client-side-apply"])
def test_what_a_person_applied_is_drift_and_no_conflict(person: str) -> None:
    (live,) = live_objects(policy(pinCPU=False), by=person, labels=member_labels("dev"))

    plan = looked_at(declared(policy(pinCPU=True)), [live])

    assert plan.problems == ()
    assert plan.changes[0].action is Action.CONFIGURED


def test_a_field_that_another_manager_applied_alike_is_no_conflict() -> None:
    shoot = declared(policy(pinCPU=True))
    (live,) = live_objects(policy(pinCPU=True))
    shared = applied(live, {**live, "metadata": {**live["metadata"], "managedFields": None}}, "argocd-controller", TIME)

    assert looked_at(shoot, [shared]).problems == ()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(
            Rejected("invalid", causes=(("spec.pinCPU", "must be boolean"), ("", "and more"))),
            "refuses it: spec.pinCPU: must be boolean; and more",
            id="with causes",
        ),
        pytest.param(Forbidden("not allowed"), "refuses it: not allowed", id="forbidden"),
        pytest.param(Conflict("owned"), "refuses it: owned", id="a conflict"),
    ],
)
def test_what_the_shoot_refuses_forbids_the_run(error: Any, message: str) -> None:
    plan = plan_inside(declared(policy()), OVERLAY, inside(dry_runs={ref(policy()): error}))

    assert [problem.rule for problem in plan.problems] == ["refused-by-the-shoot"]
    assert message in plan.problems[0].message
    assert plan.changes[0].action is Action.SKIPPED


def test_ours_that_is_declared_no_longer_is_pruned_last_policies_first() -> None:
    old = [core("ConfigMap", "old"), policy("default"), policy("node.n"), policy("group.g"), core("Namespace", "n")]

    plan = looked_at(declared(core("ConfigMap", "new")), live_objects(*old))

    assert [(change.action, change.ref.name) for change in plan.changes] == [
        (Action.CREATED, "new"),
        (Action.PRUNED, "node.n"),
        (Action.PRUNED, "group.g"),
        (Action.PRUNED, "default"),
        (Action.PRUNED, "old"),
        (Action.PRUNED, "n"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"labels": {}}, id="no label at all"),
        pytest.param({"labels": {PART_OF: applyset_id("prod")}}, id="another overlay's label"),
        pytest.param({"deletionTimestamp": TIME}, id="being deleted already"),
    ],
)
def test_this_is_not_pruned(change: Any) -> None:
    (live,) = live_objects(policy("old"))
    live["metadata"] |= change

    assert plan_inside(declared(), OVERLAY, inside([live])).changes == ()


def test_an_object_in_another_version_is_the_same_object() -> None:
    (live,) = live_objects(policy())
    other = {**policy(), "apiVersion": "config.nri/v1beta1"}

    plan = plan_inside(declared(other), OVERLAY, inside([live], unserved=[("config.nri/v1beta1", "BalloonsPolicy")]))

    assert [change.action for change in plan.changes] == [Action.CREATED]


def test_objects_are_written_in_the_order_others_need_them() -> None:
    objects = [
        policy("node.n"),
        policy("group.g"),
        policy("default"),
        core("Pod", "p"),
        core("Secret", "s"),
        core("ConfigMap", "c"),
        core("Namespace", "n"),
    ]

    ordered = sorted((ref(manifest) for manifest in objects), key=writing_order)

    assert [r.name for r in ordered] == ["n", "c", "s", "p", "default", "group.g", "node.n"]


def test_data_of_a_secret_is_masked() -> None:
    shoot = declared(core("Secret", "s", data={"a": "bmV3"}))

    plan = looked_at(shoot, live_objects(core("Secret", "s", data={"a": "b2xk"})))
    new = looked_at(shoot, [])

    assert [(field.live, field.desired) for field in plan.changes[0].fields] == [(MASK, MASK)]
    assert [(field.live, field.desired) for field in new.changes[0].fields] == [(ABSENT, MASK)]


def test_only_a_policy_tells_how_many_nodes_use_it() -> None:
    changes = looked_at(declared(core("ConfigMap", "c", data={"a": "b"}), policy("group.x")), [], nodes=3).changes

    assert [change.reason for change in changes] == ["", "0 nodes will use it"]


def test_plain_observations_are_enough_to_plan() -> None:
    assert plan_inside(declared(), OVERLAY, Inside({}, (), frozenset())) == InsidePlan((), ())
