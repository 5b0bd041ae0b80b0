"""No object of a later wave is written before the earlier wave has passed."""

from __future__ import annotations

from gitops.rollout.rollout import RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from tests.end_to_end.fleet import NAMES, Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests


def test_a_node_that_refuses_stops_the_rollout_and_a_fix_overtakes_it(fleet: Fleet) -> None:
    node = fleet.nodes("one")[0]
    fleet.refuse("one", node, "not enough CPUs")
    fleet.repository.policy("default", **balloons("3"))
    fleet.repository.commit("ask for more")
    before = {name: fleet.versions(name) for name in NAMES[1:]}
    requests = Requests()

    stopped = fleet.reconcile(requests)

    assert stopped.result.outcome is RunOutcome.STOPPED
    assert node in stopped.result.message
    assert "not enough CPUs" in stopped.result.message
    assert [wave.outcome for wave in stopped.result.waves] == [WaveOutcome.STOPPED, WaveOutcome.NOT_STARTED]
    assert {name: fleet.versions(name) for name in NAMES[1:]} == before
    assert not [write for write in requests.writes if write.endswith(("/shoots/two", "/shoots/three"))]

    fleet.accept("one")
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit("ask for less")
    fixed = fleet.reconcile()

    assert fixed.result.outcome is RunOutcome.CONVERGED, fixed.result.message
    assert {fleet.policies(name)["default"]["spec"]["reservedResources"]["cpu"] for name in NAMES} == {"2"}


def test_a_shoot_that_does_not_answer_is_quarantined_and_the_others_go_on(fleet: Fleet) -> None:
    with fleet.cut_off("one"):
        record = fleet.reconcile()

    outcomes = {shoot.shoot: shoot.outcome for wave in record.result.waves for shoot in wave.shoots}
    assert record.result.outcome is RunOutcome.WAITING
    assert outcomes[fleet.target("one")] is ShootOutcome.QUARANTINED
    assert outcomes[fleet.target("two")] is ShootOutcome.CONVERGED
    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED


def test_the_soak_keeps_the_next_wave_waiting(fleet: Fleet) -> None:
    fleet.repository.overlay["spec"]["waves"][0]["soak"] = "1h"
    fleet.repository.commit()

    record = fleet.reconcile(deadline=fleet.poll * 60)

    assert record.result.outcome is RunOutcome.WAITING
    assert [wave.outcome for wave in record.result.waves] == [WaveOutcome.WAITING, WaveOutcome.NOT_STARTED]
    assert fleet.policies("one")
    assert not fleet.policies("two")


def test_a_hibernated_shoot_is_deferred(fleet: Fleet) -> None:
    fleet.patch_shoot("two", {"spec": {"hibernation": {"enabled": True}}})
    fleet.settle()

    record = fleet.reconcile()

    outcomes = {shoot.shoot: shoot.outcome for wave in record.result.waves for shoot in wave.shoots}
    assert record.result.outcome is RunOutcome.WAITING
    assert outcomes == {
        fleet.target("one"): ShootOutcome.CONVERGED,
        fleet.target("two"): ShootOutcome.DEFERRED,
        fleet.target("three"): ShootOutcome.CONVERGED,
    }


def test_a_change_that_waits_for_the_maintenance_window_is_deferred_until_it_rolled(fleet: Fleet) -> None:
    confined = {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}}
    fleet.patch_shoot("three", confined)
    fleet.settle()

    waiting = fleet.reconcile()

    outcomes = {shoot.shoot: shoot for wave in waiting.result.waves for shoot in wave.shoots}
    assert outcomes[fleet.target("three")].outcome is ShootOutcome.DEFERRED
    assert "window" in outcomes[fleet.target("three")].message
    fleet.open_window("three")
    assert fleet.reconcile().result.outcome is RunOutcome.CONVERGED
