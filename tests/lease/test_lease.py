"""Leases in a garden: taken, waited for, kept, lost and given back."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest

from gitops.errors import Absent, Forbidden, LeaseHeld, LeaseLost, Refused, Unreachable
from gitops.kube.transport import Request
from gitops.lease.lease import Lease
from tests.lease.world import PATH, LeaseGarden

NO_WAIT = timedelta(0)


def nobody(holder: str) -> None:
    raise AssertionError(f"{holder} was waited for")


def test_a_lease_is_taken_and_given_back() -> None:
    garden = LeaseGarden()
    lease = garden.lease("host/1")

    with lease.held(NO_WAIT, nobody):
        lease.check()
        meanwhile = garden.stored()["spec"]
    afterwards = garden.stored()["spec"]

    assert (meanwhile["holderIdentity"], meanwhile["leaseTransitions"]) == ("host/1/01234567", 0)
    assert (meanwhile["leaseDurationSeconds"], meanwhile["acquireTime"]) == (30, "2026-06-01T00:00:00.000000Z")
    assert afterwards["holderIdentity"] == ""
    with pytest.raises(LeaseLost, match="given back"):
        lease.check()
    with garden.lease("host/2").held(NO_WAIT, nobody):
        assert garden.stored()["spec"]["leaseTransitions"] == 1
    assert {request.path for request in garden.requests.sent} == {PATH, PATH.rpartition("/")[0]}
    assert [request.method for request in garden.requests.sent if request.path != PATH] == ["POST"], "no LIST of all"


def test_who_waits_may_change_its_mind_and_then_holds_nothing() -> None:
    garden = LeaseGarden()
    with pytest.raises(KeyboardInterrupt), garden.lease("host/1").held(NO_WAIT, nobody):
        raise KeyboardInterrupt
    told: list[str] = []
    begun = garden.time.now()

    def enough() -> None:
        if garden.time.now() - begun > 7:
            raise Refused("enough")

    with pytest.raises(Refused, match="enough"), garden.lease("host/2").held(NO_WAIT, told.append, enough):
        raise AssertionError

    assert garden.time.now() - begun == 8
    assert garden.stored()["spec"]["holderIdentity"].startswith("host/1")


def test_nothing_is_allowed_before_a_lease_is_held() -> None:
    with pytest.raises(LeaseLost, match="never took it"):
        LeaseGarden().lease("host/1").check()


@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(0), timedelta(hours=1)], ids=str)
def test_a_dead_holder_is_waited_out_whatever_its_wall_clock_said(skew: timedelta) -> None:
    garden = LeaseGarden()
    dead = garden.lease("host/1", skew=skew)
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt), dead.held(NO_WAIT, nobody):
        raise KeyboardInterrupt
    begun = garden.time.now()
    lease = garden.lease("host/2")

    with lease.held(NO_WAIT, told.append):
        waited = garden.time.now() - begun

    assert waited == pytest.approx(30)
    assert [text.partition(" ")[0] for text in told] == ["host/1/01234567"]
    assert not lease.undisturbed


def renewing(garden: LeaseGarden) -> None:
    """Somebody holds the lease and renews it whenever it is looked at."""
    garden.cluster.create(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "shoot-gitops-dev", "namespace": "garden-dev"},
            "spec": {"holderIdentity": "busy/7/abc", "leaseDurationSeconds": 30, "leaseTransitions": 3},
        }
    )

    def renew(request: Request) -> None:
        if request.method == "GET":
            garden.write("PATCH", {"metadata": {"annotations": {"at": str(garden.time.now())}}})

    garden.requests.after = renew


@pytest.mark.parametrize(("lock_timeout", "at_least", "at_most"), [(0, 1, 10), (60, 60, 65)])
def test_a_holder_that_is_alive_is_waited_for_as_long_as_asked(lock_timeout: int, at_least: int, at_most: int) -> None:
    garden = LeaseGarden()
    renewing(garden)
    begun = garden.time.now()
    told: list[str] = []

    with (
        pytest.raises(LeaseHeld, match=r"busy/7/abc holds Lease .*--lock-timeout.*unlock dev"),
        garden.lease("host/1").held(timedelta(seconds=lock_timeout), told.append),
    ):
        raise AssertionError("it was taken")

    assert at_least <= garden.time.now() - begun <= at_most
    assert told == ["busy/7/abc"]
    assert garden.stored()["spec"]["holderIdentity"] == "busy/7/abc"


def test_a_lease_that_is_given_back_meanwhile_is_taken() -> None:
    garden = LeaseGarden()
    renewing(garden)
    looks = 0

    def free(request: Request) -> None:
        nonlocal looks
        looks += request.method == "GET"
        if looks == 4 and request.method == "GET":
            garden.write("PATCH", {"spec": {"holderIdentity": ""}})

    garden.requests.before = free
    lease = garden.lease("host/1")

    with lease.held(timedelta(hours=1), lambda _: None):
        lease.check()
    assert not lease.undisturbed


@pytest.mark.parametrize(("method", "begins", "taken"), [("GET", 10, 30), ("PATCH", 30, 50)])
def test_a_garden_that_is_silent_for_a_while_ends_no_patient_waiting(method: str, begins: int, taken: int) -> None:
    garden = LeaseGarden()
    with pytest.raises(KeyboardInterrupt), garden.lease("dead/1").held(NO_WAIT, nobody):
        raise KeyboardInterrupt
    looked: list[float] = []

    def silent(request: Request) -> None:
        """From a while after the first look on, and until the fiftieth second."""
        looked.append(garden.time.now())
        if request.method == method and begins <= garden.time.now() - looked[0] < 50:
            raise Unreachable("no answer", request=str(request))

    garden.requests.before = silent
    with (
        pytest.raises(Unreachable),
        garden.lease("host/1").held(NO_WAIT, lambda _: None),
    ):
        raise AssertionError("it was taken")
    looked.clear()
    lease = garden.lease("host/2")

    with lease.held(timedelta(minutes=10), lambda _: None):
        lease.check()
        assert garden.time.now() - looked[0] >= taken, "what was read once is enough, where it can be written over"


def test_of_two_that_see_a_free_lease_the_faster_gets_it() -> None:
    garden = LeaseGarden()
    faster = garden.lease("host/2")
    faster.note()

    def race(request: Request) -> None:
        if request.method == "POST":
            garden.requests.before = None
            holding.enter_context(faster.held(NO_WAIT, nobody))

    garden.requests.before = race

    with ExitStack() as holding, pytest.raises(LeaseHeld, match="host/2"):
        holding.enter_context(garden.lease("host/1").held(NO_WAIT, lambda _: None))

    assert faster.undisturbed


@pytest.mark.parametrize("ever", [False, True], ids=["for-the-first-time", "again"])
def test_whether_anybody_held_it_since_it_was_noted_is_told_by_no_clock(*, ever: bool) -> None:
    """All this happens in one second of the server's clock."""
    garden = LeaseGarden()
    if ever:
        with garden.lease("host/1").held(NO_WAIT, nobody):
            pass
    alone, disturbed, careless = (garden.lease(f"host/{number}") for number in (2, 3, 4))

    alone.note()
    disturbed.note()
    for lease in (alone, disturbed, careless):
        with lease.held(NO_WAIT, nobody):
            pass

    assert alone.undisturbed
    assert not disturbed.undisturbed
    assert not careless.undisturbed, "it never noted anything"


def test_a_lease_that_could_not_be_read_may_have_been_anybodys() -> None:
    garden = LeaseGarden()
    lease = garden.lease("host/1")

    def silent(request: Request) -> None:
        raise Unreachable("no answer", request=str(request))

    garden.requests.before = silent
    lease.note()
    garden.requests.before = None
    with lease.held(NO_WAIT, nobody):
        lease.check()

    assert not lease.undisturbed


@pytest.mark.parametrize(
    ("patch", "now"),
    [
        ({"spec": {"holderIdentity": "thief/1/x"}}, "It is held by thief/1/x"),
        ({"spec": {"holderIdentity": ""}}, "Nobody holds it now"),
        (None, "Nobody holds it now"),
    ],
    ids=["robbed", "unlocked", "deleted"],
)
def test_a_lost_lease_ends_the_run_with_who_has_it_now(patch: object, now: str) -> None:
    garden = LeaseGarden()
    lease = garden.lease("host/1")

    def run() -> None:
        with lease.held(NO_WAIT, nobody):
            garden.write("PATCH" if patch else "DELETE", patch)
            garden.time.sleep(20)
            lease.check()

    with pytest.raises(LeaseLost, match=rf"could not be renewed for 20 s.*{now}.*`gitops reconcile dev`"):
        run()


def test_an_error_gives_the_lease_back_and_the_end_of_the_process_does_not() -> None:
    garden = LeaseGarden()

    def run(error: BaseException) -> None:
        with garden.lease("host/1").held(NO_WAIT, nobody):
            raise error

    with pytest.raises(Refused):
        run(Refused("no"))
    after_error = garden.stored()["spec"]["holderIdentity"]
    with pytest.raises(SystemExit):
        run(SystemExit())

    assert after_error == ""
    assert garden.stored()["spec"]["holderIdentity"] == "host/1/01234567"


def test_whoever_may_not_take_leases_is_told_what_to_allow() -> None:
    garden = LeaseGarden()

    def forbid(request: Request) -> None:
        raise Forbidden("User cannot get", status=403, request=str(request))

    garden.requests.before = forbid

    with (
        pytest.raises(Forbidden, match="allow get and patch of Lease garden-dev/shoot-gitops-dev, and create"),
        garden.lease("host/1").held(NO_WAIT, nobody),
    ):
        raise AssertionError("it was taken")


def test_a_garden_that_does_not_answer_when_the_lease_is_given_back_is_no_error() -> None:
    garden = LeaseGarden()

    def silent(request: Request) -> None:
        raise Unreachable("no answer", request=str(request))

    with garden.lease("host/1").held(NO_WAIT, nobody):
        garden.requests.before = silent

    garden.requests.before = None
    assert garden.stored()["spec"]["holderIdentity"] == "host/1/01234567"


def test_a_namespace_that_is_not_there_is_an_error() -> None:
    garden = LeaseGarden()
    lease = Lease(garden.cluster, "dev", "garden-nowhere", "0123456789", garden.leasing("host/1"))

    with pytest.raises(Absent, match="garden-nowhere"), lease.held(NO_WAIT, nobody):
        raise AssertionError("it was taken")
