"""A lease is taken away: from the holder that was meant, and so that never two runs write."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitops.errors import LeaseLost, Refused
from gitops.kube.transport import Request
from gitops.lease.unlock import held, unlock
from tests.lease.test_lease import nobody
from tests.lease.world import LeaseGarden

NO_WAIT = timedelta(0)
HOLDER = "host/1/01234567"


def take_away(garden: LeaseGarden, holder: str = HOLDER) -> None:
    unlock(garden.store, holder, run="fedcba98", leasing=garden.leasing("laptop/9"))


@pytest.mark.parametrize("ever", [False, True], ids=["never-held", "given-back"])
def test_what_nobody_holds_cannot_be_taken_away(*, ever: bool) -> None:
    garden = LeaseGarden()
    if ever:
        with garden.lease("host/1").held(NO_WAIT, nobody):
            pass

    with pytest.raises(Refused, match="nobody holds the lease of overlay dev"):
        held(garden.store)


def test_a_robbed_run_cannot_write_when_the_next_one_can() -> None:
    garden = LeaseGarden()
    robbed = garden.lease("host/1")

    def run() -> None:
        with robbed.held(NO_WAIT, nobody):
            take_away(garden)
            with garden.lease("host/2").held(NO_WAIT, nobody):
                robbed.check()

    begun = garden.time.now()
    with pytest.raises(LeaseLost, match="held by host/2"):
        run()
    assert garden.time.now() - begun >= 30, "for so long the robbed one may not have noticed"
    assert garden.stored()["spec"]["leaseTransitions"] == 2


def test_nobody_gets_the_lease_before_the_robbed_run_is_surely_through() -> None:
    garden = LeaseGarden()
    seen: list[str] = []
    with pytest.raises(SystemExit), garden.lease("host/1").held(NO_WAIT, nobody):
        raise SystemExit

    unlock(
        garden.store,
        HOLDER,
        run="fedcba98",
        leasing=garden.leasing("laptop/9"),
        waiting=lambda _: seen.append(garden.stored()["spec"]["holderIdentity"]),
    )

    assert seen == ["laptop/9/fedcba98"]
    assert garden.stored()["spec"]["holderIdentity"] == ""


def test_it_is_taken_from_no_other_holder() -> None:
    garden = LeaseGarden()

    with garden.lease("host/2").held(NO_WAIT, nobody), pytest.raises(Refused, match=r"not held by .*, but by host/2"):
        take_away(garden)


def test_a_renewal_in_between_does_not_save_the_holder() -> None:
    garden = LeaseGarden()
    with pytest.raises(SystemExit), garden.lease("host/1").held(NO_WAIT, nobody):
        raise SystemExit
    renewals = iter(range(2))

    def renew(request: Request) -> None:
        if request.method == "PATCH" and (at := next(renewals, None)) is not None:
            garden.write("PATCH", {"metadata": {"annotations": {"at": str(at)}}})

    garden.requests.before = renew
    take_away(garden)

    assert garden.stored()["spec"]["holderIdentity"] == ""
