"""A lease is renewed while the run goes on, and a run that cannot renew it notices."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from gitops.errors import LeaseLost, Unreachable
from gitops.kube.transport import Request
from gitops.lease.lease import Lease
from tests.lease.test_lease import nobody
from tests.lease.times import PassingTime
from tests.lease.world import LeaseGarden

NO_WAIT = timedelta(0)


@pytest.fixture
def passing() -> PassingTime:
    return PassingTime()


@pytest.fixture
def garden(passing: PassingTime) -> LeaseGarden:
    return LeaseGarden(passing)


def soon(what: Callable[[], bool]) -> None:
    """Wait for another thread; pytest's time limit ends the waiting."""
    while not what():
        time.sleep(0.002)


def lost(lease: Lease) -> bool:
    try:
        lease.check()
    except LeaseLost:
        return True
    return False


def renewals(garden: LeaseGarden) -> int:
    return sum(request.method == "PATCH" for request in garden.requests.sent)


def test_it_is_renewed_for_as_long_as_the_run_takes(garden: LeaseGarden, passing: PassingTime) -> None:
    lease = garden.lease("host/1")

    with lease.held(NO_WAIT, nobody):
        for number in range(1, 13):
            passing.pass_by(5)
            soon(lambda number=number: renewals(garden) == number)  # type: ignore[misc]  # bound at once
            soon(lambda: not lost(lease))
        spec = garden.stored()["spec"]

    assert spec["leaseTransitions"] == 0
    assert garden.stored()["spec"]["holderIdentity"] == ""


def test_a_note_that_somebody_leaves_on_it_is_no_loss(garden: LeaseGarden, passing: PassingTime) -> None:
    lease = garden.lease("host/1")

    with lease.held(NO_WAIT, nobody):
        garden.write("PATCH", {"metadata": {"annotations": {"note": "do not touch"}}})
        passing.pass_by(5)
        soon(lambda: renewals(garden) == 2)
        passing.pass_by(16)
        lease.check()

    assert garden.stored()["metadata"]["annotations"] == {"note": "do not touch"}


@pytest.mark.parametrize("holder", ["thief/1/x", ""], ids=["robbed", "unlocked"])
def test_a_robbed_run_notices_at_its_next_renewal(garden: LeaseGarden, passing: PassingTime, holder: str) -> None:
    lease = garden.lease("host/1")

    def run() -> None:
        with lease.held(NO_WAIT, nobody):
            garden.write("PATCH", {"spec": {"holderIdentity": holder}})
            lease.check()
            passing.pass_by(5)
            soon(lambda: lost(lease))
            lease.check()

    with pytest.raises(LeaseLost, match=r"somebody (else )?has taken it"):
        run()
    assert garden.stored()["spec"]["holderIdentity"] == holder, "it is not ours to give back"


def test_renewals_may_fail_until_the_deadline(garden: LeaseGarden, passing: PassingTime) -> None:
    lease = garden.lease("host/1")

    def silent(request: Request) -> None:
        raise Unreachable("no answer", request=str(request))

    def run() -> None:
        with lease.held(NO_WAIT, nobody):
            garden.requests.before = silent
            passing.pass_by(19)
            lease.check()
            garden.time.sleep(1)
            lease.check()

    with pytest.raises(LeaseLost, match=r"could not be renewed for 20 s.*Who holds it now cannot be read: .*no answer"):
        run()


def test_a_renewal_that_failed_is_tried_again_soon(garden: LeaseGarden, passing: PassingTime) -> None:
    lease = garden.lease("host/1")
    failures = iter(range(2))

    def silent(request: Request) -> None:
        if next(failures, None) is not None:
            raise Unreachable("no answer", request=str(request))

    with lease.held(NO_WAIT, nobody):
        garden.requests.before = silent
        passing.pass_by(5)
        passing.pass_by(2)
        passing.pass_by(2)
        soon(lambda: renewals(garden) == 3)
        passing.pass_by(19)
        lease.check()
