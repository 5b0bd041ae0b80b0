"""Several runs at once: one writes, the others wait for it or say who it is, and none writes that has lost its turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitops.control.control import Control, Hold, Suspension
from gitops.control.store import change_control
from gitops.desired.whole import compose_whole
from gitops.errors import GitopsError, LeaseHeld, LeaseLost, Refused, Untrusted
from gitops.kube.transport import Request, Response, Transport
from gitops.lease.leasing import Leasing
from gitops.lease.timing import Timing
from gitops.observer import Observer, Run
from gitops.pipeline import reconcile
from gitops.plan.outlook import Outlook
from gitops.plan.planning import Planned
from gitops.record.record import Record
from gitops.rollout.rollout import RunOutcome
from gitops.world import Pace
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.fleet import NAMES, NOW, POLICIES, Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import SandboxFleet
from tests.end_to_end.stopped import SkewedClock
from tests.waiting import PATIENCE

LIVELY = Leasing(Timing(duration=20, deadline=12, interval=0.2, retry=0.05))
"""So that nobody has to wait long to see that a holder is alive."""


PROMPT = Pace()
PATIENT = Pace(lock_timeout=timedelta(minutes=1))
THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)


class Told(Observer):
    """Remembers what a run told."""

    def __init__(self) -> None:
        self.plans: list[Planned] = []
        self.waited_for: list[str] = []
        self.errors: list[GitopsError] = []

    def planned(self, run: Run, planned: Planned, outlook: Outlook) -> None:
        del run, outlook
        self.plans.append(planned)

    def waiting(self, run: Run, holder: str) -> None:
        del run
        self.waited_for.append(holder)

    def failed(self, run: Run, error: GitopsError) -> None:
        del run
        self.errors.append(error)


@pytest.fixture
def lively(fleet: Fleet) -> Iterator[Fleet]:
    """The fleet, with everybody acting."""
    fleet.leasing = LIVELY
    with fleet.alive():
        yield fleet


def go(
    fleet: Fleet,
    requests: Requests | None = None,
    told: Observer | None = None,
    *,
    pace: Pace = PROMPT,
    skew: timedelta | None = None,
) -> Record:
    """One run, as any process would make it."""
    with fleet.world(requests or Requests()) as usual, fleet.artifact() as artifact:
        world = usual
        if skew is not None:
            clock = SkewedClock(skew)
            world = replace(usual, clock=clock, leasing=replace(usual.leasing, wall=clock.now))
        desired = compose_whole(artifact, "dev", NOW)
        return reconcile(world, desired, trigger="command", pace=replace(pace, poll=fleet.poll), observer=told)


def lease_path(fleet: Fleet) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{fleet.namespace}/leases/shoot-gitops-dev"


def test_two_crons_a_webhook_and_a_person_at_once_write_as_one(lively: Fleet) -> None:
    requests = [Requests() for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        records = list(pool.map(lambda r: go(lively, r, pace=PATIENT), requests))

    assert {record.result.outcome for record in records} == {RunOutcome.CONVERGED}
    shoots = [f"PATCH {lively.shoot_path(name)}" for name in NAMES]
    record = f"PATCH /api/v1/namespaces/{lively.namespace}/configmaps/shoot-gitops-dev"
    policies = [f"PATCH {POLICIES}/default"] * len(NAMES)
    written = [write for each in requests for write in each.writes if "kube-system/configmaps" not in write]
    assert sorted(written) == sorted([*shoots, *policies, record])
    assert sum(bool(each.writes) for each in requests) == 1


@pytest.mark.parametrize("skew", [None, timedelta(hours=1), timedelta(hours=-1)], ids=["in-time", "ahead", "behind"])
def test_who_does_not_wait_is_told_who_is_at_work(lively: Fleet, skew: timedelta | None) -> None:
    told = Told()
    others = Requests()
    refused: list[str] = []

    def come_along(request: Request) -> None:
        if request.path == lively.shoot_path("one") and request.writes and not refused:
            refused.append("")
            with pytest.raises(LeaseHeld) as caught:
                go(lively, others, told, skew=skew)
            refused.append(str(caught.value))

    record = go(lively, Requests(before=come_along))

    assert record.result.outcome is RunOutcome.CONVERGED
    assert LIVELY.process in refused[1]
    assert [holder.partition(" ")[0].rpartition("/")[0] for holder in told.waited_for] == [LIVELY.process]
    assert others.writes == others.lease_writes == []
    assert [type(error) for error in told.errors] == [LeaseHeld]


def test_a_run_looks_again_when_another_one_was_at_work_since_it_looked(lively: Fleet) -> None:
    told = Told()
    other: list[Record] = []

    requests = Requests(before=InBetween(lively, lambda: other.append(go(lively))))
    record = go(lively, requests, told)

    assert [r.result.outcome for r in (*other, record)] == [RunOutcome.CONVERGED] * 2
    assert [planned.plan.pending for planned in told.plans] == [True, False]
    assert requests.writes == []


class InBetween:
    """Something that happens once a run has looked, and wants the lease for the first time."""

    def __init__(self, fleet: Fleet, happens: Callable[[], object]) -> None:
        self._path = lease_path(fleet)
        self._requests = 0
        self._happens = happens

    def __call__(self, request: Request) -> None:
        if request.path == self._path:
            self._requests += 1
            if self._requests == 2:  # the first notes how the lease stands, before the look
                self._happens()


def ask(fleet: Fleet, change: Callable[[Control], Control]) -> None:
    with fleet.world(Requests()) as world:
        change_control(world.garden, fleet.composed().overlay, change)


def ahead(transport: Transport) -> Transport:
    """Gardener's API server, whose clock is far ahead of that which keeps leases."""

    def send(request: Request) -> Response:
        answer = transport(request)
        if "/core.gardener.cloud/" not in request.path:
            return answer
        return replace(answer, headers={**answer.headers, "Date": "Fri, 01 Jan 2100 00:00:00 GMT"})

    return send


def test_servers_whose_clocks_differ_hide_no_other_run(lively: Fleet) -> None:
    told = Told()
    requests = Requests(before=InBetween(lively, lambda: go(lively)))

    with lively.world(requests) as usual:
        world = replace(usual, garden=usual.garden.through(ahead))
        reconcile(world, lively.composed(), trigger="command", pace=Pace(lively.poll), observer=told)

    assert [planned.plan.pending for planned in told.plans] == [True, False]
    assert requests.writes == []


@pytest.mark.parametrize("idle", [False, True], ids=["with-something-to-write", "with-a-record-to-write"])
def test_a_run_that_was_not_alone_hears_of_a_suspension_before_it_does_anything(lively: Fleet, *, idle: bool) -> None:
    if idle:
        go(lively)
        lively.repository.commit("nothing that matters")
    told = Told()

    def come_in_between() -> None:
        if idle:
            lively.repository.commit("nothing that matters either")
        go(lively)
        ask(lively, lambda control: control.suspended(Suspension("jane", THEN), None))

    requests = Requests(before=InBetween(lively, come_in_between))
    record = go(lively, requests, told)

    assert record.result.outcome is RunOutcome.WAITING
    assert "suspended by jane" in record.result.message
    assert requests.writes == []
    assert len(told.plans) == 1
    assert lively.client.get(lease_path(lively))["spec"]["holderIdentity"] == ""


def test_a_run_that_was_not_alone_hears_of_a_rollback_before_it_does_anything(lively: Fleet) -> None:
    present = lively.composed().revision

    def come_in_between() -> None:
        go(lively)
        ask(lively, lambda control: control.held(Hold(present, "1" * 40, "jane", THEN)))

    requests = Requests(before=InBetween(lively, come_in_between))
    with pytest.raises(Refused, match="which jane rolled back"):
        go(lively, requests)

    assert requests.writes == []
    assert lively.client.get(lease_path(lively))["spec"]["holderIdentity"] == ""


def test_a_run_with_nothing_but_a_record_to_write_does_not_tell_what_is_no_longer_so(lively: Fleet) -> None:
    """Between its look and its turn, another run rolled out something else."""
    go(lively)
    lively.repository.commit("nothing that matters")
    told = Told()

    def come_in_between() -> None:
        lively.repository.policy("default", **balloons("2"))
        lively.repository.commit("something that does")
        go(lively)

    go(lively, Requests(before=InBetween(lively, come_in_between)), told)

    assert [planned.plan.pending for planned in told.plans] == [False, True]


def test_a_run_that_was_overtaken_while_it_waited_undoes_nothing(lively: Fleet) -> None:
    def come_in_between() -> None:
        lively.repository.policy("default", **balloons("2"))
        lively.repository.commit("newer")
        go(lively)

    requests = Requests(before=InBetween(lively, come_in_between))
    record = go(lively, requests, pace=Pace(overtaken=lambda: "git has moved on"))

    assert (record.result.outcome, record.result.message) == (RunOutcome.WAITING, "git has moved on")
    assert requests.writes == []
    assert lively.policies("two")["default"]["spec"]["reservedResources"] == {"cpu": "2"}


@pytest.mark.parametrize("newer", [True, False], ids=["a newer commit", "the same commit"])
def test_only_what_is_wrong_with_its_own_commit_fails_a_run_that_waited(lively: Fleet, *, newer: bool) -> None:
    error = Untrusted("carries no signature", rule="unsigned")
    error.revision = "1" * 40 if newer else lively.composed().revision

    def overtaken() -> str:
        raise error

    requests = Requests(before=InBetween(lively, lambda: go(lively)))
    if newer:
        record = go(lively, requests, pace=Pace(overtaken=overtaken))
        assert record.result.outcome is RunOutcome.WAITING
        assert record.result.message.endswith("and cannot be carried out: carries no signature [unsigned]")
    else:
        with pytest.raises(Untrusted):
            go(lively, requests, pace=Pace(overtaken=overtaken))
    assert requests.writes == []


def test_a_run_that_read_git_before_a_newer_one_came_and_went_undoes_nothing(lively: Fleet) -> None:
    """Nobody was at work any more when it looked at the garden for the first time."""
    go(lively)
    older = lively.composed()
    lively.repository.policy("default", **balloons("2"))
    newer = lively.repository.commit("newer")
    go(lively)
    asked: list[str] = []

    def overtaken() -> str:
        asked.append(lively.client.get(lease_path(lively))["spec"]["holderIdentity"])
        return "git has moved on"

    requests = Requests()
    with lively.world(requests) as world:
        pace = Pace(lively.poll, overtaken=overtaken)
        record = reconcile(world, older, trigger="schedule", pace=pace)
        again = reconcile(world, lively.composed(), trigger="schedule", pace=pace)

    assert (record.result.outcome, record.result.message) == (RunOutcome.WAITING, "git has moved on")
    assert requests.writes == []
    assert len(asked) == 1, "git is asked where another commit was recorded last"
    assert asked[0].startswith(LIVELY.process), "and by whoever holds the lease"
    assert (again.revision, again.result.outcome) == (newer, RunOutcome.CONVERGED)


def test_a_run_that_waits_for_a_dead_one_ends_when_it_is_asked_to(lively: Fleet) -> None:
    spec = {"holderIdentity": "dead/1/x", "leaseDurationSeconds": 3600}
    go(lively)
    lively.client.merge_patch(lease_path(lively), {"spec": spec})
    lively.repository.policy("default", **balloons("2"))
    lively.repository.commit()
    told = Told()
    requests = Requests()

    record = go(lively, requests, told, pace=Pace(stopping=lambda: "shutting down" if told.waited_for else ""))

    assert (record.result.outcome, record.result.message) == (RunOutcome.WAITING, "shutting down")
    assert [holder.partition(" ")[0] for holder in told.waited_for] == ["dead/1/x"]
    assert requests.writes == requests.lease_writes == []
    assert told.errors == []


def test_a_deadline_ends_the_waiting_for_another_run_too(sandbox_fleet: SandboxFleet) -> None:
    with sandbox_fleet.alive():
        sandbox_fleet.leasing = LIVELY
        go(sandbox_fleet)
        spec = {"holderIdentity": "dead/1/x", "leaseDurationSeconds": 3600}
        sandbox_fleet.client.merge_patch(lease_path(sandbox_fleet), {"spec": spec})
        sandbox_fleet.repository.policy("default", **balloons("2"))
        sandbox_fleet.repository.commit()

        class Late(Observer):
            """Time passes as soon as the run waits."""

            def waiting(self, run: Run, holder: str) -> None:
                del run, holder
                sandbox_fleet.clock.sleep(61)

        record = go(sandbox_fleet, told=Late(), pace=Pace(deadline=timedelta(minutes=1)))

    assert record.result.outcome is RunOutcome.WAITING
    assert "deadline" in record.result.message


def test_a_run_that_was_alone_looks_once(fleet: Fleet) -> None:
    told = Told()

    with fleet.alive():
        go(fleet, told=told)

    assert len(told.plans) == 1


def test_a_record_alone_is_written_under_the_lease_too(fleet: Fleet) -> None:
    fleet.reconcile()
    fleet.settle()
    fleet.repository.commit("nothing that matters")
    requests = Requests()

    fleet.reconcile(requests)

    assert requests.writes == [f"PATCH /api/v1/namespaces/{fleet.namespace}/configmaps/shoot-gitops-dev"]
    assert len(requests.lease_writes) == 2


@pytest.mark.parametrize("number", [1, 2])
def test_a_robbed_run_ends_without_another_write_and_without_a_record(lively: Fleet, number: int) -> None:
    told = Told()
    requests = Requests()

    def rob(request: Request) -> None:
        if request.writes and "/leases" not in request.path and len(requests.writes) == number:
            lively.client.merge_patch(lease_path(lively), {"spec": {"holderIdentity": "thief/1/x"}})
            for thread in threading.enumerate():
                if thread.name == "lease":
                    thread.join()  # it ends when it has seen who holds the lease

    requests.before = rob
    with pytest.raises(LeaseLost, match="held by thief/1/x"):
        go(lively, requests, told)

    assert len(requests.writes) == number
    assert [type(error) for error in told.errors] == [LeaseLost]
    assert lively.client.find(f"/api/v1/namespaces/{lively.namespace}/configmaps/shoot-gitops-dev") is None
    assert lively.client.get(lease_path(lively))["spec"]["holderIdentity"] == "thief/1/x"


@pytest.mark.control_plane
@pytest.mark.parametrize(("number", "skew"), [(1, 0), (4, 3600), (4, -3600)], ids=["in-time", "ahead", "behind"])
def test_a_run_that_stood_still_past_its_time_wakes_up_and_writes_nothing(
    real_fleet: ControlPlaneFleet, number: int, skew: int
) -> None:
    real_fleet.repository.policy("default", **balloons("2"))
    real_fleet.repository.commit()
    arguments = [str(real_fleet.kubeconfig), str(real_fleet.repository.path), str(number), str(skew)]
    command = [sys.executable, "-m", "tests.end_to_end.stopped", *arguments]
    with (
        real_fleet.alive(),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as stopped,
    ):
        _, status = os.waitpid(stopped.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), stopped.communicate()
        told = Told()
        ended: list[str] = []
        one_thread = threading.Lock()

        def wake(request: Request) -> None:
            """When we are about to write for the first time, in however many threads."""
            if not request.writes or "/leases" in request.path:
                return
            with one_thread:
                if not ended:
                    before = real_fleet.written()
                    stopped.send_signal(signal.SIGCONT)
                    ended.append(stopped.communicate(timeout=PATIENCE)[1])
                    assert real_fleet.written() == before

        record = go(real_fleet, Requests(before=wake), told)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    assert f"/{stopped.pid}/" in told.waited_for[0]
    assert stopped.returncode == 1, ended
    assert f"held by {real_fleet.leasing.process}" in ended[0]
    assert "Traceback" not in ended[0]
    shoots = [write for write in real_fleet.written() if "/shoots/" in write]
    assert sorted(write.partition("?")[0] for write in shoots) == [
        f"patch {real_fleet.shoot_path(n)}" for n in sorted(NAMES)
    ]
