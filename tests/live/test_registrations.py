"""One LIST per kind, and what may not be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitops.errors import Forbidden, Refused
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.live.registrations import list_registrations, observe_registrations
from gitops.manifest import GARDEN, RUNTIME, Ref, Target

CORE = "/apis/core.gardener.cloud"
EXTENSIONS = "/apis/operator.gardener.cloud/v1alpha1/extensions"


class Server:
    """Answers every LIST with one object, but for some paths."""

    def __init__(self, **statuses: int) -> None:
        self.asked: list[str] = []
        self._statuses = statuses

    def __call__(self, request: Request) -> Response:
        self.asked.append(request.path)
        status = next((code for plural, code in self._statuses.items() if request.path.endswith(plural)), 200)
        body: dict[str, Any] = {"items": [{"metadata": {"name": "nri"}}]}
        if status != 200:
            body = {"kind": "Status", "code": status, "message": "no", "reason": "No", "details": {}}
        return Response(status, {"Date": "Mon, 30 Nov 2026 12:00:00 GMT"}, json.dumps(body).encode())

    def close(self) -> None:
        """There is nothing to close."""


def cluster(server: Server, target: Target = GARDEN) -> Cluster:
    return Cluster(server, target=target)


def ref(kind: str, version: str, target: Target = GARDEN) -> Ref:
    return Ref(target, version, kind, "", "nri")


@pytest.mark.parametrize(
    ("declared", "versions"),
    [
        pytest.param([ref("ControllerRegistration", "core.gardener.cloud/v1beta1")], ["v1"], id="no deployment"),
        pytest.param([ref("ControllerDeployment", "core.gardener.cloud/v1beta1")], ["v1beta1"], id="the old version"),
        pytest.param(
            [ref("ControllerDeployment", f"core.gardener.cloud/{version}") for version in ("v1", "v1beta1")],
            ["v1", "v1beta1"],
            id="both",
        ),
    ],
)
def test_each_kind_is_listed_once_in_the_versions_that_are_declared(declared: list[Ref], versions: list[str]) -> None:
    server = Server()

    observed = observe_registrations(cluster(server), None, declared)

    assert server.asked == [
        f"{CORE}/v1beta1/controllerregistrations",
        *(f"{CORE}/{version}/controllerdeployments" for version in versions),
        f"{CORE}/v1beta1/controllerinstallations",
    ]
    assert {other.api_version.rpartition("/")[2] for other in observed.objects if "Deployment" in other.kind} == {
        *versions
    }
    assert len(observed.installations) == 1
    assert observed.server_time is not None


def test_the_runtime_cluster_is_read_before_the_garden_that_is_rendered_from_it() -> None:
    order: list[str] = []
    garden, runtime = Server(), Server()
    garden.asked = runtime.asked = order

    observed = observe_registrations(
        cluster(garden), cluster(runtime, RUNTIME), [ref("Extension", "operator.gardener.cloud/v1alpha1", RUNTIME)]
    )

    assert order[0] == EXTENSIONS
    assert any(other.target == RUNTIME for other in observed.objects)


def test_an_extension_needs_the_runtime_clusters_kubeconfig() -> None:
    server = Server()

    with pytest.raises(Refused, match=r"Extension nri .*--runtime-kubeconfig"):
        observe_registrations(cluster(server), None, [ref("Extension", "operator.gardener.cloud/v1alpha1", RUNTIME)])
    assert server.asked == []


def test_a_kind_that_is_not_served_is_told_from_one_without_objects() -> None:
    observed = observe_registrations(
        cluster(Server(controllerdeployments=404)), None, [ref("ControllerDeployment", "core.gardener.cloud/v1")]
    )

    assert observed.unserved == {(GARDEN, "core.gardener.cloud/v1", "ControllerDeployment")}


def test_what_may_not_be_read_is_no_empty_garden() -> None:
    server = Server(controllerinstallations=403)

    with pytest.raises(Forbidden):
        observe_registrations(cluster(server), None, [ref("ControllerDeployment", "core.gardener.cloud/v1")])


def test_members_of_a_project_may_not_know_what_is_registered() -> None:
    assert list_registrations(cluster(Server(controllerregistrations=403))) is None
    assert list_registrations(cluster(Server())) is not None
