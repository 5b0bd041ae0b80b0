"""Which of the plugin's voices is heard, and what is said where none is."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.errors import Forbidden
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.live.placement import observe_scene
from gitops.manifest import Ref
from gitops.nri.placement.told import Voice
from gitops.nri.placement.verification import Scene
from gitops.plan.observed import Inside
from tests.kube.in_memory import Server, listing, named, patient, refusal

PLUGIN = named("balloons", "kube-system", spec={}, status={})
PLUGIN["metadata"]["uid"] = "plugin"
POD = named("balloons-x", "kube-system", spec={"nodeName": "w1-0", "containers": [{"name": "main"}]})
POD["metadata"]["ownerReferences"] = [{"uid": "plugin"}]
ZONES = [
    {"name": "fast[0]", "type": "balloon", "attributes": [{"name": "cpuset", "value": "0-1"}]},
    {"name": "default/a/main", "type": "allocation for container", "parent": "fast[0]"},
]
LOG = b'I: [ policy ] assigning container default/a/main to balloon fast[0]{cpus:"0-1", mems:"0"}\n'
METRICS = b'nri_policy_balloons_cores{balloon="fast[0]",containers="default/a/main",cpus="0-1"} 2\n'
POLICY = Ref("one", "config.nri/v1alpha1", "BalloonsPolicy", "kube-system", "default")
ELSEWHERE = Ref("one", "config.nri/v1alpha1", "BalloonsPolicy", "other", "default")


def observe(**answers: Response) -> tuple[Scene, Server]:
    """Answers by the last part of the path; topologies are not served unless given."""
    known = {"daemonsets": listing(PLUGIN), "pods": listing(POD), **answers}

    def handler(request: Request) -> Response:
        return known.get(request.path.rpartition("/")[2]) or Response(404, {}, b"404 page not found")

    server = Server(handler)
    inside = Inside({POLICY: {"a": 1}, ELSEWHERE: {"b": 2}}, (), frozenset())
    return observe_scene(Cluster(server, target="one", retry=patient()), inside, instance="mine"), server


def text(body: bytes) -> Response:
    return Response(200, {}, body)


def test_a_topology_that_names_containers_needs_no_log() -> None:
    scene, server = observe(noderesourcetopologies=listing(named("w1-0", zones=ZONES)), log=text(LOG))

    assert scene.told["w1-0"].voice is Voice.TOPOLOGY
    assert scene.told["w1-0"].assignments == {"default/a/main": "fast[0]"}
    assert len(server.requests) == 3
    assert dict(server.requests[0].query)["labelSelector"].endswith(",app.kubernetes.io/instance=mine")


@pytest.mark.parametrize("zones", [[], ZONES[:1]], ids=["no-zones", "balloons-only"])
def test_a_topology_without_containers_leaves_the_word_to_the_log(zones: list[dict[str, Any]]) -> None:
    scene, server = observe(noderesourcetopologies=listing(named("w1-0", zones=zones)), log=text(LOG))

    assert scene.told["w1-0"].voice is Voice.LOG
    assert str(server.requests[-1]) == "GET /api/v1/namespaces/kube-system/pods/balloons-x/log"
    assert dict(server.requests[-1].query)["container"] == "main"


def test_a_silent_log_leaves_the_word_to_the_metrics() -> None:
    scene, server = observe(log=text(b"nothing\xff\n"), metrics=text(METRICS))

    assert scene.told["w1-0"].voice is Voice.METRICS
    assert server.requests[-1].path == "/api/v1/namespaces/kube-system/pods/balloons-x%3A8891/proxy/metrics"


def test_where_nothing_is_heard_it_is_said_why() -> None:
    scene, _ = observe(log=refusal(403, "pods/log is forbidden"), metrics=text(b"up 1\n"))

    assert scene.told == {}
    assert "its log cannot be read" in scene.unheard["w1-0"]
    assert "pods/log is forbidden" in scene.unheard["w1-0"]
    assert "its metrics tell of no balloon" in scene.unheard["w1-0"]


def test_pods_that_may_not_be_read_are_an_error() -> None:
    with pytest.raises(Forbidden):
        observe(pods=refusal(403, "pods is forbidden"))


def test_only_policies_of_the_plugins_namespace_count() -> None:
    scene, _ = observe(log=text(LOG))

    assert list(scene.policies) == [{"a": 1}]
