"""What a run refuses, before it has written anything."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.errors import Forbidden, Refused, Unreachable
from gitops.rollout.rollout import RunOutcome
from gitops.rollout.step import ShootOutcome
from gitops.sandbox import RequestFault
from tests.end_to_end.fleet import POLICIES, Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet


def refused(fleet: Fleet, match: str, error: type[Exception] = Refused) -> None:
    requests = Requests()
    with pytest.raises(error, match=match):
        fleet.reconcile(requests)
    assert requests.writes == []


def test_another_garden(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["garden"]["identity"] = "landscape-prod"
    fleet.repository.commit()

    refused(fleet, "the overlay is for 'landscape-prod'")


@pytest.mark.parametrize(
    ("metadata", "owner"),
    [
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}}, "Flux"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "apps:core/Shoot:ns/two"}}, "Argo CD"),
        (
            {
                "labels": {"app.kubernetes.io/managed-by": "Helm"},
                "annotations": {"meta.helm.sh/release-name": "shoots"},
            },
            "Helm",
        ),
    ],
    ids=["flux", "argo-cd", "helm"],
)
def test_a_shoot_of_another_tool_unless_the_overlay_adopts_it(
    fleet: Fleet, metadata: dict[str, Any], owner: str
) -> None:
    fleet.patch_shoot("two", {"metadata": metadata})

    refused(fleet, f"clusters/two.yaml:1: Shoot .*/two: managed by {owner}.*foreign-owner")

    fleet.repository.overlay["spec"]["adopt"] = [owner.replace(" ", "")]
    fleet.repository.commit()
    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED


def test_a_policy_of_another_tool(fleet: Fleet) -> None:
    fleet.reconcile()
    labels = {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
    fleet.shoot_client("three").merge_patch(f"{POLICIES}/default", {"metadata": {"labels": labels}})

    refused(fleet, "policies/default.yaml:1: BalloonsPolicy kube-system/default in shoot .*/three: managed by Flux")


def test_a_field_that_the_shoots_schema_does_not_know(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.repository.policy("default", **balloons(balloonTypes=[{"name": "fast", "minCpus": 2}]))
    fleet.repository.commit()

    refused(fleet, r"spec\.balloonTypes\[0\]\.minCpus: field not declared in schema.*and 2 more")


def test_a_field_that_another_tool_applies_as_well(fleet: Fleet) -> None:
    fleet.reconcile()
    manifest = {"apiVersion": "config.nri/v1alpha1", "kind": "BalloonsPolicy", "metadata": {"name": "default"}}
    spec = {"spec": balloons("7")}
    fleet.shoot_client("two").apply(f"{POLICIES}/default", {**manifest, **spec}, "their-operator", force=True)

    refused(fleet, "/spec/reservedResources/cpu was applied by field manager their-operator at 20")


def test_a_garden_that_does_not_answer(sandbox_fleet: SandboxFleet) -> None:
    sandbox_fleet.landscape.faults.requests.append(RequestFault("Reset", {"cluster": "garden"}))

    refused(sandbox_fleet, "the connection was reset", Unreachable)


def test_a_garden_that_forbids(sandbox_fleet: SandboxFleet) -> None:
    sandbox_fleet.landscape.faults.requests.append(RequestFault("Forbidden", {"resource": "shoots"}))

    refused(sandbox_fleet, "forbidden", Forbidden)


def test_a_shoot_that_forbids(sandbox_fleet: SandboxFleet) -> None:
    forbidden = RequestFault("Forbidden", {"resource": "shoots", "subresource": "viewerkubeconfig"})
    sandbox_fleet.landscape.faults.requests.append(forbidden)

    refused(sandbox_fleet, "viewerkubeconfig", Forbidden)


def test_a_kind_that_the_shoot_never_serves_fails_the_shoot_in_its_gate(fleet: Fleet) -> None:
    topology = {
        "apiVersion": "topology.example/v1",
        "kind": "Unheard",
        "metadata": {"name": "default", "namespace": "kube-system"},
        "spec": {},
    }
    fleet.repository.write("policies/unheard.yaml", topology)
    fleet.repository.overlay["spec"]["gate"]["timeout"] = f"{int(fleet.poll.total_seconds() * 40)}s"
    fleet.repository.commit()

    record = fleet.reconcile()

    one = record.result.waves[0].shoots[0]
    assert record.result.outcome is RunOutcome.STOPPED
    assert one.outcome is ShootOutcome.FAILED
    assert "Unheard" in one.message
