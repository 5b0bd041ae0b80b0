import base64
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from gitops.errors import Forbidden
from gitops.kube.cluster import Access, Cluster
from gitops.kube.transport import Request, Response, Transport
from gitops.live.access import ShootAccess
from gitops.manifest import GARDEN, Manifest
from tests.kube.in_memory import DATE, Server, answer, listing, patient, refusal
from tests.waiting import PATIENCE

START = datetime(2026, 11, 30, 6, tzinfo=UTC)


class World:
    """A garden that issues kubeconfigs for ten minutes, the shoots' servers, and our clock."""

    def __init__(self, handler: Callable[[Request], Response] | None = None) -> None:
        self.now = START
        self.refused = 0  # how many of the first credentials the shoots refuse
        self.garden = Server(handler or self._issue)
        self.shoots: list[tuple[Manifest, Server]] = []

    def access(self, capacity: int = 256) -> ShootAccess:
        garden = Cluster(self.garden, target=GARDEN, retry=patient())
        return ShootAccess(garden, self._connect, clock=lambda: self.now, capacity=capacity)

    def _issue(self, request: Request) -> Response:
        config = {"issued": request.path}
        return answer(
            {
                "status": {
                    "kubeconfig": base64.b64encode(yaml.safe_dump(config).encode()).decode(),
                    "expirationTimestamp": "2026-11-30T06:10:00Z",
                }
            },
            201,
            Date=DATE,
        )

    def _connect(self, kubeconfig: Manifest) -> Server:
        refuses = len(self.shoots) < self.refused
        self.shoots.append((kubeconfig, Server(lambda _: refusal(401, "Unauthorized") if refuses else listing())))
        return self.shoots[-1][1]


def test_a_shoot_is_opened_once_with_the_shortest_lifetime() -> None:
    world = World()
    access = world.access()

    cluster = access.cluster("garden-local/one", Access.VIEWER)
    cluster.list("v1", "Node")

    assert access.cluster("garden-local/one", Access.VIEWER) is cluster
    assert cluster.target == "garden-local/one"
    path = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-local/shoots/one/viewerkubeconfig"
    assert world.garden.asked == [f"POST {path}"]
    assert b'"expirationSeconds":600' in (world.garden.requests[0].body or b"")
    ((kubeconfig, shoot),) = world.shoots
    assert kubeconfig == {"issued": path}
    assert shoot.asked == ["GET /api/v1/nodes"]


def test_viewer_and_admin_are_two_credentials() -> None:
    world = World()
    access = world.access()

    assert access.cluster("n/a", Access.VIEWER) is not access.cluster("n/a", Access.ADMIN)
    assert [request.path.rpartition("/")[2] for request in world.garden.requests] == [
        "viewerkubeconfig",
        "adminkubeconfig",
    ]


@pytest.mark.parametrize(("age", "requests"), [(0, 1), (539, 1), (540, 2), (3600, 2)], ids=lambda age: f"{age}s")
def test_a_credential_is_replaced_a_minute_before_it_expires(age: int, requests: int) -> None:
    world = World()
    access = world.access()
    access.cluster("n/a", Access.ADMIN)

    world.now += timedelta(seconds=age)
    access.cluster("n/a", Access.ADMIN)

    assert len(world.garden.requests) == requests
    assert world.shoots[0][1].closed == requests - 1


@pytest.mark.parametrize("skew", [timedelta(hours=-5), timedelta(hours=5)], ids=["behind", "ahead"])
def test_a_wrong_clock_of_ours_changes_nothing(skew: timedelta) -> None:
    world = World()
    world.now += skew
    access = world.access()
    access.cluster("n/a", Access.ADMIN)

    world.now += timedelta(seconds=539)
    access.cluster("n/a", Access.ADMIN)
    assert len(world.garden.requests) == 1

    world.now += timedelta(seconds=1)
    access.cluster("n/a", Access.ADMIN)
    assert len(world.garden.requests) == 2


def test_the_least_recently_used_doors_are_closed_first() -> None:
    world = World()
    access = world.access(capacity=2)
    for name in ("n/a", "n/b", "n/a", "n/c"):
        access.cluster(name, Access.ADMIN)

    assert [server.closed for _, server in world.shoots] == [0, 1, 0]

    access.cluster("n/a", Access.ADMIN)
    assert len(world.garden.requests) == 3


def test_closing_forgets_every_credential() -> None:
    world = World()
    access = world.access()
    access.cluster("n/a", Access.ADMIN)

    access.close()
    access.cluster("n/a", Access.ADMIN)

    assert world.shoots[0][1].closed == 1
    assert len(world.garden.requests) == 2


def test_a_credential_that_is_refused_is_asked_for_again_next_time() -> None:
    world = World(lambda _: refusal(403, "no", "Forbidden"))
    access = world.access()

    for _ in range(2):
        with pytest.raises(Forbidden):
            access.cluster("n/a", Access.ADMIN)

    assert len(world.garden.requests) == 2


def test_threads_that_want_one_shoot_share_one_credential_and_do_not_wait_for_other_shoots() -> None:
    world = World()
    slow = threading.Event()
    other_done = threading.Event()

    def issue(request: Request) -> Response:
        if "/a/" in request.path:
            slow.set()
            assert other_done.wait(PATIENCE)
        return world._issue(request)  # noqa: SLF001 - its own handler

    world.garden = Server(issue)
    access = world.access()
    clusters: list[Cluster] = []
    threads = [threading.Thread(target=lambda: clusters.append(access.cluster("n/a", Access.ADMIN))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert slow.wait(PATIENCE)
    access.cluster("n/b", Access.ADMIN)
    other_done.set()
    for thread in threads:
        thread.join()

    assert len(clusters) == 4
    assert len(set(map(id, clusters))) == 1
    assert len(world.garden.requests) == 2


def test_a_refused_credential_is_replaced_once_and_the_request_sent_again() -> None:
    world = World()
    world.refused = 1
    cluster = world.access().cluster("n/a", Access.ADMIN)

    cluster.list("v1", "Node")

    assert len(world.garden.requests) == 2
    assert [len(server.requests) for _, server in world.shoots] == [1, 1]


def test_a_shoot_that_refuses_the_new_credential_too_is_not_asked_again() -> None:
    world = World()
    world.refused = 2
    cluster = world.access().cluster("n/a", Access.ADMIN)

    with pytest.raises(Forbidden):
        cluster.list("v1", "Node")

    assert [len(server.requests) for _, server in world.shoots] == [1, 1]


def test_a_way_through_sees_every_request_as_it_is_sent_even_again_with_a_new_credential() -> None:
    world = World()
    world.refused = 1
    passing: list[str] = []

    def watched(transport: Transport) -> Transport:
        def send(request: Request) -> Response:
            passing.append(str(request))
            return transport(request)

        return send

    usual = world.access()
    access = usual.through(Cluster(world.garden, target=GARDEN, retry=patient()), watched)
    access.cluster("garden-local/one", Access.VIEWER).list("v1", "Node")
    access.close()

    assert passing == ["GET /api/v1/nodes"] * 2
    assert [server.closed for _, server in world.shoots] == [1, 1]
    assert len(world.garden.requests) == 2
