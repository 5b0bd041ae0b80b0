"""A plan as JSON, by contract with scripts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gitops.manifest import GARDEN, Element, Ref
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, Cost, FieldChange, Plan, ShootPlan, WavePlan
from gitops.plan.document import digest, plan_document
from tests.plan.fleet import REVISION, TARGET, TIME

SHOOT = Ref(GARDEN, "core.gardener.cloud/v1beta1", "Shoot", "garden-local", "one")
FIELD = FieldChange(
    ("spec", "extensions", Element("type", "x"), "disabled"),
    live=True,
    desired=False,
    manager="kubectl-patch",
    since=TIME,
)
CHANGE = Change(SHOOT, Action.CONFIGURED, (FIELD,), Cost.NODE_ROLL, "because")
PLAN = Plan("dev", REVISION, (WavePlan("canary", (ShootPlan(TARGET, (CHANGE,), ("a note",)),)), WavePlan("fleet", ())))


def test_the_document_has_the_keys_that_scripts_rely_on() -> None:
    document = json.loads(json.dumps(plan_document(PLAN)))

    assert document["digest"].startswith("sha256:")
    assert len(document["digest"]) == len("sha256:") + 64
    assert document == {
        "apiVersion": "shoot-gitops/v1alpha1",
        "kind": "Plan",
        "overlay": "dev",
        "revision": REVISION,
        "digest": digest(PLAN),
        "summary": {"created": 0, "configured": 1, "pruned": 0, "unchanged": 0, "deferred": 0, "skipped": 0},
        "warnings": [],
        "waves": [
            {
                "name": "canary",
                "shoots": [
                    {
                        "shoot": TARGET,
                        "notes": ["a note"],
                        "changes": [
                            {
                                "target": "garden",
                                "apiVersion": "core.gardener.cloud/v1beta1",
                                "kind": "Shoot",
                                "namespace": "garden-local",
                                "name": "one",
                                "action": "configured",
                                "cost": "node roll",
                                "reason": "because",
                                "fields": [
                                    {
                                        "path": "/spec/extensions/[type=x]/disabled",
                                        "live": True,
                                        "desired": False,
                                        "manager": "kubectl-patch",
                                        "since": TIME,
                                    }
                                ],
                            }
                        ],
                    }
                ],
            },
            {"name": "fleet", "shoots": []},
        ],
    }


def test_an_absent_value_is_null() -> None:
    field = FieldChange(("a",), ABSENT, ABSENT, "", ignored="left alone")
    (wave, *_) = plan_document(with_change(replace(CHANGE, fields=(field,))))["waves"]

    assert wave["shoots"][0]["changes"][0]["fields"] == [
        {"path": "/a", "live": None, "desired": None, "manager": "", "ignored": "left alone"}
    ]


def with_change(change: Change) -> Plan:
    return replace(PLAN, waves=(WavePlan("canary", (ShootPlan(TARGET, (change,)),)),))


def test_the_same_plan_has_the_same_digest() -> None:
    assert digest(replace(PLAN)) == digest(PLAN)
    assert json.dumps(plan_document(PLAN)) == json.dumps(plan_document(replace(PLAN)))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(PLAN, revision="2" * 40), id="revision"),
        pytest.param(replace(PLAN, overlay="prod"), id="overlay"),
        pytest.param(replace(PLAN, warnings=("careful",)), id="warning"),
        pytest.param(replace(PLAN, waves=PLAN.waves[::-1]), id="order of waves"),
        pytest.param(with_change(replace(CHANGE, action=Action.PRUNED)), id="action"),
        pytest.param(with_change(replace(CHANGE, fields=())), id="fields"),
        pytest.param(with_change(replace(CHANGE, fields=(replace(FIELD, desired=None),))), id="a desired value"),
        pytest.param(with_change(replace(CHANGE, ref=replace(SHOOT, target=TARGET))), id="target"),
    ],
)
def test_another_plan_has_another_digest(other: Any) -> None:
    assert digest(other) != digest(PLAN)
