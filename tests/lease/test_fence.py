"""Nothing that writes passes the fence without the lease: no retry, and nothing that had to wait."""

from __future__ import annotations

import pytest

from gitops.errors import LeaseLost, Throttled
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.lease.fence import Fenced
from tests.kube.in_memory import Naps, Server, answer, in_turn, patient, refusal

READS = [
    Request("GET", "/api/v1/nodes"),
    Request("PATCH", "/api/v1/nodes/a", (("dryRun", "All"),)),
    Request("POST", "/apis/core.gardener.cloud/v1beta1/namespaces/n/shoots/s/adminkubeconfig"),
]
WRITES = [Request(method, "/api/v1/nodes/a") for method in ("POST", "PUT", "PATCH", "DELETE")]


class Gate:
    """Lets so many pass."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self) -> None:
        if self.left == 0:
            raise LeaseLost("gone")
        self.left -= 1


@pytest.mark.parametrize("request_", READS, ids=["get", "dry-run", "kubeconfig"])
def test_what_writes_nothing_passes_without_a_lease(request_: Request) -> None:
    server = in_turn([answer({})])

    Fenced(server, Gate(0))(request_)

    assert server.requests == [request_]


@pytest.mark.parametrize("request_", WRITES, ids=[request.method for request in WRITES])
def test_what_writes_is_stopped_before_it_leaves(request_: Request) -> None:
    server = in_turn([answer({}), answer({})])
    fenced = Fenced(server, Gate(1))

    fenced(request_)
    with pytest.raises(LeaseLost):
        fenced(request_)

    assert server.requests == [request_]


def test_the_last_to_touch_a_request_can_ask_again() -> None:
    def slow(request: Request) -> Response:
        assert request.permit is not None
        request.permit()
        raise AssertionError("it must not have been sent")

    with pytest.raises(LeaseLost):
        Fenced(slow, Gate(1))(WRITES[0])


def test_a_retry_is_stopped_like_any_other_attempt() -> None:
    busy = Server(lambda _: refusal(429, "busy"))
    gate = Gate(2)
    cluster = Cluster(busy, target="t", retry=patient(Naps())).through(lambda transport: Fenced(transport, gate))

    with pytest.raises(LeaseLost):
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}})

    assert len(busy.requests) == 2


def test_a_way_through_a_cluster_keeps_its_patience() -> None:
    busy = Server(lambda _: refusal(429, "busy"))
    naps = Naps()
    cluster = Cluster(busy, target="t", retry=patient(naps, attempts=3)).through(lambda transport: transport)

    with pytest.raises(Throttled):
        cluster.list("v1", "Node")

    assert (len(busy.requests), len(naps.seconds), cluster.target) == (3, 2, "t")
