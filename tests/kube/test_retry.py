import pytest

from gitops.errors import ApiError, Conflict, Throttled, Unreachable
from gitops.kube.cluster import Cluster, Conflicts, Mode
from gitops.kube.retry import Retry
from gitops.kube.transport import NotSent, Response
from gitops.manifest import Manifest, Ref
from tests.kube.in_memory import Naps, Server, answer, in_turn, patient, refusal

NODE = Ref("t", "v1", "Node", "", "n")
MANIFEST: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}


def write(server: Server, retry: Retry, mode: Mode = Mode.WRITE) -> Manifest:
    return Cluster(server, target="t", retry=retry).apply(MANIFEST, ownership=Conflicts.REFUSE, mode=mode)


def read(server: Server, retry: Retry) -> Manifest:
    return Cluster(server, target="t", retry=retry).get(NODE)


@pytest.mark.parametrize(
    "failure",
    [Unreachable("reset"), NotSent("refused"), refusal(503), refusal(429)],
    ids=["no answer", "no connection", "unavailable", "throttled"],
)
def test_a_read_is_repeated(failure: Response | Exception) -> None:
    server = in_turn([failure, failure, answer({"ok": True})])

    assert read(server, patient()) == {"ok": True}


@pytest.mark.parametrize(
    "failure",
    [NotSent("refused"), refusal(429)],
    ids=["no connection", "throttled"],
)
def test_a_write_is_repeated_when_the_server_cannot_have_begun_it(failure: Response | Exception) -> None:
    server = in_turn([failure, answer({"ok": True})])

    assert write(server, patient()) == {"ok": True}


@pytest.mark.parametrize("failure", [Unreachable("reset"), refusal(500), refusal(504)], ids=["reset", "500", "504"])
def test_a_write_that_may_have_happened_is_never_repeated(failure: Response | Exception) -> None:
    server = in_turn([failure, answer({})])

    with pytest.raises(Unreachable):
        write(server, patient())

    assert len(server.requests) == 1


def test_a_dry_run_is_repeated_as_it_writes_nothing() -> None:
    server = in_turn([refusal(503), answer({"ok": True})])

    assert write(server, patient(), Mode.DRY_RUN) == {"ok": True}


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 422])
def test_a_definite_answer_is_final(code: int) -> None:
    server = in_turn([refusal(code), answer({})])

    with pytest.raises(ApiError):
        read(server, patient())

    assert len(server.requests) == 1


def test_waits_grow_up_to_the_longest() -> None:
    naps = Naps()

    with pytest.raises(Unreachable):
        read(in_turn([refusal(503)] * 9), patient(naps, attempts=6, first=1.0, longest=5.0))

    assert naps.seconds == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_waits_are_jittered() -> None:
    naps = Naps()
    retry = Retry(attempts=2, first=1.0, sleep=naps, uniform=lambda: 0.0)

    with pytest.raises(Unreachable):
        read(in_turn([refusal(503)] * 2), retry)

    assert naps.seconds == [0.5]


def test_the_wait_that_the_server_asks_for_is_kept_to() -> None:
    naps = Naps()
    server = in_turn([answer({}, 429, Retry_After="7"), answer({})])

    read(server, patient(naps, first=0.5))

    assert naps.seconds == [7.5]


def test_no_wait_is_begun_that_would_exceed_the_total() -> None:
    naps = Naps()
    server = in_turn([answer({}, 429, Retry_After="20")] * 9)

    with pytest.raises(Throttled):
        read(server, patient(naps, total=30.0))

    assert len(naps.seconds) == 1


def test_the_last_error_is_the_one_that_is_raised() -> None:
    with pytest.raises(Conflict):
        write(in_turn([refusal(429), refusal(409)]), patient())
