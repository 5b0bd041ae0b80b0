from datetime import UTC, datetime

import pytest

from gitops.errors import Forbidden, Refused, Unreachable
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request
from gitops.live.garden import check_identity, observe_garden
from gitops.manifest import GARDEN
from tests.kube.in_memory import Server, answer, in_turn, listing, named, patient, refusal


def garden(server: Server) -> Cluster:
    return Cluster(server, target=GARDEN, retry=patient())


def test_a_garden_costs_one_request_per_namespace() -> None:
    server = in_turn([listing(named("b", "n1"), named("a", "n1")), listing(named("a", "n0"))])

    observed = observe_garden(garden(server), ["n1", "n0"])

    assert list(observed.shoots) == ["n0/a", "n1/a", "n1/b"]
    assert observed.shoots["n0/a"]["kind"] == "Shoot"
    assert observed.server_time == datetime(2026, 11, 30, 6, tzinfo=UTC)
    shoots = "/apis/core.gardener.cloud/v1beta1/namespaces/{}/shoots"
    assert server.asked == ["GET " + shoots.format("n1"), "GET " + shoots.format("n0")]


def test_the_moment_of_an_observation_is_that_of_its_first_answer() -> None:
    later = answer({"items": []}, Date="Mon, 30 Nov 2026 06:05:00 GMT")

    observed = observe_garden(garden(in_turn([later, listing()])), ["a", "b"])

    assert observed.server_time == datetime(2026, 11, 30, 6, tzinfo=UTC)


@pytest.mark.parametrize(("code", "error"), [(403, Forbidden), (503, Unreachable)])
def test_a_part_of_a_garden_is_no_observation(code: int, error: type[Exception]) -> None:
    server = Server(lambda r: refusal(code) if "/n2/" in r.path else listing(named("a", "n1")))

    with pytest.raises(error):
        observe_garden(garden(server), ["n1", "n2"])


def identity(name: str) -> dict[str, object]:
    return named("cluster-identity", "kube-system", data={"cluster-identity": name})


def test_the_identity_is_checked_with_one_request() -> None:
    server = in_turn([listing(identity("landscape-dev"))])

    check_identity(garden(server), "landscape-dev")

    assert server.requests == [
        Request(
            "GET",
            "/api/v1/namespaces/kube-system/configmaps",
            (("limit", "500"), ("fieldSelector", "metadata.name=cluster-identity")),
        )
    ]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([identity("landscape-prod")], "'landscape-prod'.*'landscape-dev'.*context"),
        ([], "not known to be a garden.*context.*'landscape-dev'"),
        ([named("cluster-identity", "kube-system", data={})], "not known to be a garden"),
    ],
    ids=["another garden", "no garden", "no name"],
)
def test_another_cluster_is_refused(items: list[object], message: str) -> None:
    with pytest.raises(Refused, match=message):
        check_identity(garden(in_turn([listing(*items)])), "landscape-dev")


def test_a_forbidden_identity_says_what_to_allow() -> None:
    with pytest.raises(Forbidden, match="nothing is touched: allow `list`"):
        check_identity(garden(in_turn([refusal(403, "no", "Forbidden")])), "landscape-dev")


def test_an_unreachable_garden_stays_unreachable() -> None:
    with pytest.raises(Unreachable):
        check_identity(garden(in_turn([Unreachable("x")] * 9)), "landscape-dev")
