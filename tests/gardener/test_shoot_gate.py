"""The Shoot gate's truth table: what a person may read in a Shoot, and what it means."""

from __future__ import annotations

import copy
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.gardener.error_codes import USER_ERRORS
from gitops.gardener.shoot_gate import shoot_gate
from gitops.manifest import Manifest, get
from gitops.verdict import Status
from tests.shapes import bent, json_values, merged

HEALTHY = """
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: local, namespace: garden-local, generation: 7, labels: {shoot.gardener.cloud/status: healthy}}
spec:
  provider: {type: local, workers: [{name: pool-a}]}
  hibernation: {enabled: false}
  maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}
status:
  observedGeneration: 7
  hibernated: false
  lastOperation:
    type: Reconcile
    state: Succeeded
    progress: 100
    description: Shoot cluster has been successfully reconciled.
    lastUpdateTime: '2026-11-30T10:00:00Z'
"""
CONDITIONS = (
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "EveryNodeReady",
    "SystemComponentsHealthy",
)
TRUE = {"status": "True", "lastUpdateTime": "2026-11-30T10:01:00Z"}


def healthy_shoot_but(*changes: Manifest) -> Manifest:
    """The healthy Shoot, merged with each change; their key `conditions` merges conditions by type."""
    shoot: Any = {**yaml.safe_load(HEALTHY), "conditions": dict.fromkeys(CONDITIONS, TRUE)}
    for change in changes:
        shoot = merged(shoot, change)
    conditions = [{"type": kind, **rest} for kind, rest in shoot.pop("conditions").items()]
    return dict(merged({"status": {"conditions": conditions}}, shoot) if "status" in shoot else shoot)


TABLE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("shoot_gate.yaml").read_text())


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in TABLE])
def test_a_shoot_is_what_its_status_proves(case: dict[str, Any]) -> None:
    confined = {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}} if "changed_at" in case else {}
    shoot = healthy_shoot_but(confined, case.get("given", {}))
    changed_at = datetime.fromisoformat(case["changed_at"]) if "changed_at" in case else None

    verdict = shoot_gate(shoot, changed_at=changed_at)

    assert verdict.status is Status(case["status"]), verdict.message
    assert re.search(case.get("message", "."), verdict.message)


@pytest.mark.parametrize("kind", CONDITIONS)
def test_every_required_condition_is_missed(kind: str) -> None:
    verdict = shoot_gate(healthy_shoot_but({"conditions": {kind: None}}), changed_at=None)

    assert verdict.status is Status.IN_PROGRESS
    assert kind in verdict.message


@pytest.mark.parametrize(
    "code",
    [
        "ERR_INFRA_UNAUTHENTICATED",
        "ERR_INFRA_UNAUTHORIZED",
        "ERR_INFRA_QUOTA_EXCEEDED",
        "ERR_INFRA_DEPENDENCIES",
        "ERR_INFRA_RESOURCES_DEPLETED",
        "ERR_CLEANUP_CLUSTER_RESOURCES",
        "ERR_CONFIGURATION_PROBLEM",
        "ERR_RETRYABLE_CONFIGURATION_PROBLEM",
        "ERR_PROBLEMATIC_WEBHOOK",
    ],
)
def test_a_user_error_fails_at_once_though_gardener_retries(code: str) -> None:
    errors = [{"description": "it went wrong", "codes": [code]}]
    shoot = healthy_shoot_but({"status": {"lastOperation": {"state": "Error"}, "lastErrors": errors}})

    verdict = shoot_gate(shoot, changed_at=None)

    assert verdict.status is Status.FAILED
    assert re.search(rf"it went wrong \[{code}\].*{USER_ERRORS[code]}", verdict.message)


ARGO_CD_HEALTHY = """
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: example
  namespace: garden-dev
  labels:
    shoot.gardener.cloud/status: healthy
spec:
  hibernation:
    enabled: false
status:
  conditions:
    - lastTransitionTime: '2025-12-17T12:15:19Z'
      lastUpdateTime: '2025-12-17T12:15:19Z'
      message: API server /healthz endpoint responded with success status code.
      reason: HealthzRequestSucceeded
      status: 'True'
      type: APIServerAvailable
    - lastTransitionTime: '2025-12-17T12:16:00Z'
      lastUpdateTime: '2025-12-17T12:16:00Z'
      message: All control plane components are healthy.
      reason: ControlPlaneRunning
      status: 'True'
      type: ControlPlaneHealthy
    - lastTransitionTime: '2025-12-17T12:15:19Z'
      lastUpdateTime: '2025-12-17T12:15:19Z'
      message: All observability components are healthy.
      reason: ObservabilityComponentsRunning
      status: 'True'
      type: ObservabilityComponentsHealthy
    - lastTransitionTime: '2025-12-17T12:15:19Z'
      lastUpdateTime: '2025-12-17T12:15:19Z'
      message: All nodes are ready.
      reason: EveryNodeReady
      status: 'True'
      type: EveryNodeReady
    - lastTransitionTime: '2025-12-17T12:15:19Z'
      lastUpdateTime: '2025-12-17T12:15:19Z'
      message: All system components are healthy.
      reason: SystemComponentsRunning
      status: 'True'
      type: SystemComponentsHealthy
  lastOperation:
    description: Shoot cluster has been successfully reconciled.
    lastUpdateTime: '2025-12-17T12:15:19Z'
    progress: 100
    state: Succeeded
    type: Reconcile
"""
"""resource_customizations/core.gardener.cloud/Shoot/testdata of argoproj/argo-cd, which has no generations."""

ARGO_CD_PROGRESSING = ARGO_CD_HEALTHY.replace("status: healthy", "status: progressing").replace(
    "status: 'True'\n      type: APIServerAvailable", "status: 'False'\n      type: APIServerAvailable"
)
GENERATIONS = {"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}


@pytest.mark.parametrize(
    ("sample", "patch", "status", "message"),
    [
        pytest.param(ARGO_CD_HEALTHY, {}, Status.UNKNOWN, "no metadata.generation", id="healthy as it is"),
        pytest.param(ARGO_CD_HEALTHY, GENERATIONS, Status.CURRENT, "every condition", id="healthy, observed"),
        pytest.param(ARGO_CD_PROGRESSING, {}, Status.UNKNOWN, "no metadata.generation", id="progressing as it is"),
        pytest.param(
            ARGO_CD_PROGRESSING,
            GENERATIONS,
            Status.IN_PROGRESS,
            r"APIServerAvailable is False \(HealthzRequestSucceeded\)",
            id="progressing, observed",
        ),
    ],
)
def test_the_samples_of_argo_cd(sample: str, patch: Manifest, status: Status, message: str) -> None:
    verdict = shoot_gate(merged(yaml.safe_load(sample), patch), changed_at=None)

    assert verdict.status is status, verdict.message
    assert re.search(message, verdict.message)


WORDS = ["True", "False", "Progressing", "Succeeded", "Processing", "Error", "Failed", "Create", "Migrate"]
TIMES = ["2026-11-30T09:00:00Z", "2026-11-30T12:00:00Z"]
JSON = json_values([*WORDS, *TIMES, *CONDITIONS, "status", "type", "workers"])
BEFORE = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
AFTER = datetime(2026, 11, 30, 11, 0, tzinfo=UTC)
ADDITIONS: list[Manifest] = [
    {"metadata": {"deletionTimestamp": "2026-11-30T09:00:00Z"}},
    {"metadata": {"annotations": {"gardener.cloud/operation": "reconcile"}}},
    {"metadata": {"annotations": {"maintenance.gardener.cloud/operation": "reconcile"}}},
    {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}},
    {"spec": {"hibernation": {"enabled": True}}},
    {"status": {"hibernated": True}},
    {"status": {"lastErrors": [{"description": "no", "codes": ["ERR_CONFIGURATION_PROBLEM"]}]}},
    {"status": {"constraints": [{"type": "ManualInPlaceWorkersUpdated", "status": "False"}]}},
]


@st.composite
def bent_shoots(draw: st.DrawFn) -> Manifest:
    """A healthy Shoot with something added, and a few values replaced by anything."""
    shoot = healthy_shoot_but(*draw(st.lists(st.sampled_from(ADDITIONS), max_size=2)))
    return dict(bent(draw, copy.deepcopy(shoot), JSON))


def proves_that_it_is_done(shoot: Manifest, changed_at: datetime | None) -> bool:
    """The evidence without which no Shoot may pass, stated without the gate."""
    conditions, operation = get(shoot, "status", "conditions"), get(shoot, "status", "lastOperation")
    if not isinstance(conditions, list) or not all(isinstance(c, dict) for c in conditions):
        return False
    required = set(CONDITIONS) - (set() if get(shoot, "spec", "provider", "workers") else {"EveryNodeReady"})
    confined = bool(get(shoot, "spec", "maintenance", "confineSpecUpdateRollout")) and changed_at is not None
    return (
        isinstance(get(shoot, "metadata", "generation"), int)
        and get(shoot, "metadata", "generation") == get(shoot, "status", "observedGeneration")
        and operation["state"] == "Succeeded"
        and operation["type"] in ("Create", "Reconcile", "Restore")
        and {c["status"] for c in conditions} == {"True"}
        and required <= {str(c.get("type")) for c in conditions}
        and not get(shoot, "metadata", "deletionTimestamp")
        and not get(shoot, "metadata", "annotations", "gardener.cloud/operation")
        and not get(shoot, "status", "lastErrors")
        and not get(shoot, "spec", "hibernation", "enabled")
        and not get(shoot, "status", "hibernated")
        and {"type": "ManualInPlaceWorkersUpdated", "status": "False"}
        not in (get(shoot, "status", "constraints") or [])
        and (not confined or datetime.fromisoformat(operation["lastUpdateTime"]) >= (changed_at or AFTER))
    )


@given(shoot=bent_shoots(), changed_at=st.sampled_from([None, BEFORE, AFTER]))
def test_no_shoot_passes_without_the_evidence(shoot: Manifest, changed_at: datetime | None) -> None:
    verdict = shoot_gate(shoot, changed_at=changed_at)

    assert verdict.message
    assert not verdict.open or proves_that_it_is_done(shoot, changed_at)


@given(spec=JSON, status=JSON, metadata=JSON, changed_at=st.sampled_from([None, AFTER]))
def test_the_gate_answers_for_whatever_json_there_is(
    spec: Any, status: Any, metadata: Any, changed_at: datetime | None
) -> None:
    shoot = {"kind": "Shoot", "metadata": metadata, "spec": spec, "status": status}

    assert not shoot_gate(shoot, changed_at=changed_at).open
