"""The process dies at any write: the next run converges to the same state, and no wave order is broken."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gitops.kube.transport import Request
from gitops.rollout.rollout import RunOutcome
from tests.end_to_end.fleet import NAMES
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet

WRITES = 18
"""A run over three shoots with two policies: per shoot its Shoot, the ApplySet's parent once per stage, both policies;
the record; and before and after all that the lease."""


class _DeathError(BaseException):
    """The end of the process, as far as one process can play it: nothing leaves it any more."""


class _Death:
    """Strikes before or after the n-th write."""

    def __init__(self, number: int) -> None:
        self._writes = itertools.count(1)
        self._number = number
        self._dead = False

    def before(self, request: Request) -> None:
        if self._dead or (request.writes and next(self._writes) == self._number):
            self._dead = True
            raise _DeathError

    def after(self, request: Request) -> None:
        if self._dead or (request.writes and next(self._writes) == self._number):
            self._dead = True
            raise _DeathError


def declare(fleet: SandboxFleet) -> None:
    fleet.repository.policy("group.fast", **balloons("2"))
    fleet.repository.commit()


def state(fleet: SandboxFleet) -> dict[str, Any]:
    """What the run is about, of every shoot."""
    return {
        name: (fleet.shoot(name)["spec"], {key: policy["spec"] for key, policy in fleet.policies(name).items()})
        for name in NAMES
    }


def in_order(writes: list[str]) -> bool:
    """Whether the canary's Shoot is written before the Shoots of the fleet."""
    shoots = [write.rpartition("/")[2] for write in writes if "/shoots/" in write]
    return "one" not in shoots[1:]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The state that a run without any crash leads to."""
    fleet = SandboxFleet(tmp_path_factory.mktemp("undisturbed"))
    declare(fleet)
    requests = Requests()
    fleet.reconcile(requests)
    assert len(requests.writes) + len(requests.lease_writes) == WRITES, "the cases below must cover every write"
    return state(fleet)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("number", range(1, WRITES + 1))
def test_the_next_run_goes_on(
    sandbox_fleet: SandboxFleet, undisturbed: dict[str, Any], number: int, moment: str
) -> None:
    declare(sandbox_fleet)
    death = _Death(number)
    first = Requests(**{moment: getattr(death, moment)})
    with pytest.raises(_DeathError):
        sandbox_fleet.reconcile(first)
    second = Requests()

    record = sandbox_fleet.reconcile(second)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert state(sandbox_fleet) == undisturbed
    assert in_order(first.writes)
    assert in_order(second.writes)
    third = Requests()
    sandbox_fleet.reconcile(third)
    assert third.writes == []
