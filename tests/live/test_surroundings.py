"""What decides the fate of a policy is read where it may be read; the rest is named."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.errors import Absent, Forbidden, Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.live.cloud_profiles import CloudProfiles
from gitops.live.surroundings import observe_surroundings
from gitops.manifest import GARDEN, Ref
from gitops.plan.observed import Surroundings
from tests.kube.in_memory import Server, answer, in_turn, listing, named, patient, refusal

TARGET = "garden-local/one"
POLICIES = ("config.nri/v1alpha1", "BalloonsPolicy")
CRD = "balloonspolicies.config.nri"
POLICY = Ref(TARGET, *POLICIES, "kube-system", "default")
SERVED = {
    "/apis/apiextensions.k8s.io/v1": ("CustomResourceDefinition", "customresourcedefinitions", False),
    "/apis/topology.node.k8s.io/v1alpha2": ("NodeResourceTopology", "noderesourcetopologies", False),
    "/apis/apps/v1": ("DaemonSet", "daemonsets", True),
    "/apis/core.gardener.cloud/v1beta1": ("CloudProfile", "cloudprofiles", False),
}


def shoot(**answers: Response) -> Server:
    """Answers by the last part of the path, discovery included; anything else is not served."""

    def handler(request: Request) -> Response:
        last = request.path.rpartition("/")[2].replace(".", "_")
        if last not in answers and request.path in SERVED:
            kind, plural, namespaced = SERVED[request.path]
            return answer({"resources": [{"name": plural, "kind": kind, "namespaced": namespaced, "verbs": ["get"]}]})
        return answers.get(last, Response(404, {}, b"404 page not found"))

    return Server(handler)


def surroundings(server: Server, profile: Any = None) -> Surroundings:
    return observe_surroundings(Cluster(server, target=TARGET, retry=patient()), [POLICY, POLICY], profile)


def test_definition_topologies_and_agents_are_read_once_each() -> None:
    server = shoot(
        balloonspolicies_config_nri=answer(named(CRD)),
        noderesourcetopologies=listing(named("n1")),
        daemonsets=listing(named("plugin", "kube-system")),
    )

    found = surroundings(server, named("profile"))

    assert found.definitions == {POLICIES: named(CRD)}
    assert [one["metadata"]["name"] for one in found.topologies] == ["n1"]
    assert [one["metadata"]["name"] for one in found.daemon_sets] == ["plugin"]
    assert (found.cloud_profile, found.unread) == (named("profile"), ())
    assert len([request for request in server.requests if request.path not in SERVED]) == 3


def test_what_is_absent_is_simply_not_there() -> None:
    assert surroundings(shoot()) == Surroundings()


def test_what_may_not_be_read_is_named() -> None:
    forbidden = refusal(403, 'User "x" cannot get')
    server = shoot(balloonspolicies_config_nri=forbidden, noderesourcetopologies=forbidden, daemonsets=forbidden)

    found = surroundings(server, Absent("cloudprofiles p not found"))

    assert (found.definitions, found.topologies, found.daemon_sets, found.cloud_profile) == ({}, (), (), None)
    assert [text.partition(" (")[0] for text in found.unread] == [
        "how many CPUs a machine has that no node shows yet, as the CloudProfile cannot be read",
        "which fields the CRD knows",
        "what is pinned to CPUs now",
        "where agents run",
    ]


def test_a_server_that_does_not_answer_is_no_observation() -> None:
    with pytest.raises(Unreachable):
        surroundings(in_turn([refusal(503)] * 50))


def profiled(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "one", "namespace": "garden-local"}, "spec": spec}


@pytest.mark.parametrize(
    "spec", [{"cloudProfile": {"name": "p"}}, {"cloudProfileName": "p"}], ids=["reference", "older name"]
)
def test_a_cloud_profile_is_read_once_for_all_shoots(spec: dict[str, Any]) -> None:
    server = shoot(p=answer(named("p")))
    profiles = CloudProfiles(Cluster(server, target=GARDEN, retry=patient()))

    assert [profiles.of(profiled(**spec)) for _ in range(3)] == [named("p")] * 3
    assert len([request for request in server.requests if request.path.endswith("/p")]) == 1


def test_a_cloud_profile_that_may_not_be_read_is_remembered_as_such() -> None:
    server = shoot(p=refusal(403, 'User "x" cannot get'))
    profiles = CloudProfiles(Cluster(server, target=GARDEN, retry=patient()))

    assert isinstance(profiles.of(profiled(cloudProfileName="p")), Forbidden)
    assert isinstance(profiles.of(profiled(cloudProfileName="p")), Forbidden)
    assert len([request for request in server.requests if request.path.endswith("/p")]) == 1
    assert profiles.of(profiled()) is None
