import itertools

import pytest

from gitops.sandbox import Deletion, Landscape, Request, RequestFault, UnreachableError
from gitops.sandbox.faults import read
from tests.sandbox.driving import MERGE_PATCH, SHOOTS, Client, RefusedError, declared, garden, minted, shoot


def _statuses(client: Client, count: int, path: str = SHOOTS) -> list[int]:
    found = []
    for _ in range(count):
        try:
            client.get(path)
            found.append(200)
        except RefusedError as refused:
            found.append(refused.status)
    return found


@pytest.mark.parametrize(
    ("effect", "status"),
    [("TooManyRequests", 429), ("InternalError", 500), ("Unavailable", 503), ("Forbidden", 403)],
)
def test_requests_are_refused_so_often_and_no_more(effect: str, status: int) -> None:
    landscape = Landscape([declared("one")])
    client = garden(landscape)
    landscape.faults.requests.append(RequestFault(effect, after=1, times=2))  # type: ignore[arg-type]  # a table
    assert _statuses(client, 5) == [200, status, status, 200, 200]


def test_a_busy_server_says_when_to_come_back() -> None:
    landscape = Landscape([declared("one")])
    landscape.faults.requests.append(RequestFault("TooManyRequests", retry_after=7))
    with pytest.raises(RefusedError) as refused:
        garden(landscape).get(SHOOTS)
    assert refused.value.headers["Retry-After"] == "7"
    assert refused.value.body["details"]["retryAfterSeconds"] == 7


def test_faults_match_what_they_name() -> None:
    landscape = Landscape([declared("one"), declared("two")])
    match = {"cluster": "garden", "verb": "patch", "resource": "shoots", "name": "o*"}
    landscape.faults.requests.append(RequestFault("Conflict", match))
    client = garden(landscape)
    patch = {"metadata": {"annotations": {"a": "b"}}}
    client.get(f"{SHOOTS}/one")
    client.call("PATCH", f"{SHOOTS}/two", patch, MERGE_PATCH)
    with pytest.raises(RefusedError) as refused:
        client.call("PATCH", f"{SHOOTS}/one", patch, MERGE_PATCH)
    assert refused.value.body["reason"] == "Conflict"


def test_a_black_hole_costs_its_time_and_a_reset_none() -> None:
    landscape = Landscape([declared("one")])
    client, start = garden(landscape), landscape.clock.now()
    landscape.faults.requests += [
        RequestFault("BlackHole", seconds=30, times=1),
        RequestFault("Reset", times=1),
    ]
    with pytest.raises(TimeoutError):
        client.get(SHOOTS)
    assert (landscape.clock.now() - start).total_seconds() == 30
    with pytest.raises(UnreachableError):
        client.get(SHOOTS)
    assert client.get(SHOOTS)["items"]


def test_a_slow_answer_is_a_late_answer() -> None:
    landscape = Landscape([declared("one")])
    client, start = garden(landscape), landscape.clock.now()
    landscape.faults.requests.append(RequestFault("Slow", seconds=5, times=1))
    assert client.get(SHOOTS)["items"]
    assert (landscape.clock.now() - start).total_seconds() == 5


def test_credentials_expire_early() -> None:
    landscape = Landscape([declared("one")])
    client = Client(landscape.connect(minted(landscape, "one")))
    landscape.faults.requests.append(RequestFault("Unauthorized", {"cluster": "garden-dev/one"}, times=1))
    assert _statuses(client, 3, "/api/v1/nodes") == [401, 401, 401]
    assert Client(landscape.connect(minted(landscape, "one"))).get("/api/v1/nodes")["items"]


def test_a_shoot_goes_away_in_the_middle() -> None:
    landscape = Landscape([declared("one")])
    landscape.faults.deletions.append(Deletion("garden-dev/one", after=3))
    client = garden(landscape)
    assert _statuses(client, 5, f"{SHOOTS}/one") == [200, 200, 200, 404, 404]
    with pytest.raises(UnreachableError):
        shoot(landscape, "one").handler(Request("GET", "/api/v1/nodes"))


def test_chances_depend_on_the_seed_alone() -> None:
    def run(seed: int) -> list[int]:
        document = {"requests": [{"effect": "InternalError", "probability": 0.5}]}
        landscape = Landscape([declared("one")], faults=read(document, seed))
        return _statuses(garden(landscape), 30)

    runs = [run(seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert set(itertools.chain(*runs)) == {200, 500}


def test_a_file_names_every_kind_of_fault() -> None:
    faults = read(
        {
            "requests": [{"match": {"verb": "patch"}, "effect": "TooManyRequests", "retryAfter": 3, "times": 2}],
            "operations": [{"shoot": "a/b", "state": "Failed", "codes": ["ERR_X"]}],
            "nodes": [{"shoot": "a/b", "node": "*-w1-*", "message": "no"}],
            "deletions": [{"shoot": "a/b", "after": 5}],
        }
    )
    assert faults.requests == [RequestFault("TooManyRequests", {"verb": "patch"}, retry_after=3, times=2)]
    assert faults.operations[0].codes == ("ERR_X",)
    assert faults.nodes[0].message == "no"
    assert faults.deletions == [Deletion("a/b", 5)]


def test_a_file_with_an_unknown_key_is_refused() -> None:
    with pytest.raises(TypeError, match="tims"):
        read({"requests": [{"effect": "Reset", "tims": 2}]})
