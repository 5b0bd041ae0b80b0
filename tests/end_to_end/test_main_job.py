"""The main job: enable the extension everywhere, bring the policies, touch nothing else."""

from __future__ import annotations

from gitops.rollout.rollout import RunOutcome
from tests.end_to_end.fleet import FOREIGN, NAMES, POLICIES, RESOURCES, Fleet
from tests.end_to_end.repository import TYPE
from tests.end_to_end.requests import Requests


def test_a_run_enables_the_extension_everywhere_and_brings_the_policies(fleet: Fleet) -> None:
    requests = Requests()

    record = fleet.reconcile(requests)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    for name in NAMES:
        ours, others = fleet.extensions(name)
        assert [(entry["type"], entry.get("disabled", False)) for entry in ours] == [(TYPE, False)]
        assert others == fleet.before[name].get("extensions", [])
        assert fleet.shoot(name)["spec"].get("resources") == fleet.before[name].get("resources")
        assert set(fleet.policies(name)["default"]["status"]["nodes"]) == set(fleet.nodes(name))
    assert FOREIGN in fleet.extensions("one")[1]
    assert RESOURCES[0] in fleet.shoot("one")["spec"]["resources"]


def test_each_object_is_written_exactly_once(fleet: Fleet) -> None:
    requests = Requests()

    fleet.reconcile(requests)

    objects = [write for write in requests.writes if "/configmaps/" not in write]
    shoots = [f"PATCH {fleet.shoot_path(name)}" for name in NAMES]
    assert sorted(objects) == sorted([*shoots, *[f"PATCH {POLICIES}/default"] * len(NAMES)])


def test_a_second_run_writes_nothing_and_asks_little(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.settle()
    before = {name: fleet.versions(name) for name in NAMES}
    requests = Requests()

    record = fleet.reconcile(requests)

    asked = [f"{request.method} {request.path}" for request in requests.sent]
    shoots_read = [f"GET {fleet.shoot_path('one').removesuffix('/one')}"]
    in_the_garden = [request for request in asked if fleet.namespace in request and "kubeconfig" not in request]
    assert record.result.outcome is RunOutcome.CONVERGED
    assert requests.writes == requests.lease_writes == []
    assert {name: fleet.versions(name) for name in NAMES} == before
    # How the lease stands is read before anything else, so that whoever writes knows whether others were at work since.
    # The record and what people ask are two ConfigMaps, each read by its name: one LIST of both would need the right to
    # read every ConfigMap of the namespace.
    named = ["metadata.name=shoot-gitops-dev", "metadata.name=shoot-gitops-dev-control"]
    read = [value for request in requests.sent for key, value in request.query if key == "fieldSelector"]
    lease = f"GET /apis/coordination.k8s.io/v1/namespaces/{fleet.namespace}/leases/shoot-gitops-dev"
    assert sorted(in_the_garden) == sorted(
        [*[f"GET /api/v1/namespaces/{fleet.namespace}/configmaps"] * 2, lease, *shoots_read]
    )
    assert [value for value in read if value in named] == [named[1], named[0]]
    assert len(asked) <= 6 + 3 * len(NAMES), asked
    assert not fleet.plan().plan.pending
