"""The garden wave as a machine: written once, waited for, stopped, and never in the way of an overlay without it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitops.errors import Conflict, Forbidden, GitopsError, Rejected, Unreachable
from gitops.rollout.rollout import RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from tests.rollout.toy_garden import DEPLOYMENT, REGISTRATION, garden, with_registrations


def test_registrations_come_first_each_once_and_in_an_order_that_holds() -> None:
    landscape = garden()

    result = landscape.run()

    assert result.outcome is RunOutcome.CONVERGED, result.message
    assert landscape.order[:2] == ["ControllerDeployment", "ControllerRegistration"]
    assert len([kind for kind in landscape.order if kind.startswith("Controller")]) == 2
    assert result.registrations is not None
    assert (result.registrations.outcome, result.registrations.writes) == (ShootOutcome.CONVERGED, 2)
    assert result.writes == 2 + sum(shoot.writes for wave in result.waves for shoot in wave.shoots)


def test_a_second_run_looks_once_and_writes_nothing() -> None:
    landscape = garden()
    landscape.run()
    landscape.order.clear()
    looks = landscape.looks

    assert landscape.run().outcome is RunOutcome.CONVERGED
    assert landscape.order == []
    assert landscape.looks == looks + 1


def test_a_seed_that_does_not_catch_up_stops_the_run_when_the_gate_times_out() -> None:
    landscape = garden(looks_until_well=10**9)
    begun = landscape.world.time.now()

    result = landscape.run()

    assert result.outcome is RunOutcome.STOPPED
    assert "garden: still waiting after 0:45:00: nri on seed seed: it has not caught up" in result.message
    assert landscape.world.time.now() - begun == pytest.approx(timedelta(minutes=45), abs=timedelta(minutes=1))
    assert [wave.outcome for wave in result.waves] == [WaveOutcome.NOT_STARTED] * 2
    assert not landscape.world.writes


def test_an_object_that_changed_meanwhile_is_read_again_and_written_on_top() -> None:
    conflicts = iter([Conflict("it changed"), Conflict("again")])
    landscape = garden(on_write=lambda: next(conflicts, None))

    assert landscape.run().outcome is RunOutcome.CONVERGED
    assert len([kind for kind in landscape.order if kind.startswith("Controller")]) == 2


def test_conflicts_without_end_do_not_spin() -> None:
    landscape = garden(on_write=lambda: Conflict("it changed"))

    result = landscape.run(deadline=landscape.world.time.now() + timedelta(hours=1))

    assert result.outcome is RunOutcome.WAITING
    assert landscape.looks < 1000


def test_a_shoot_that_drifts_while_the_seeds_catch_up_is_seen_by_its_wave() -> None:
    landscape = garden()
    landscape.run()
    landscape.world.desired = with_registrations(landscape.world.desired, {**DEPLOYMENT, "helm": {}}, REGISTRATION)
    shoot = landscape.world.shoots["garden-local/s0000"]

    def drift() -> None:
        shoot["spec"].pop("extensions", None)
        shoot["metadata"]["generation"] += 1

    landscape.looks_until_well = 20
    landscape.order.clear()
    landscape.world.time.after(40, drift)

    assert landscape.run().outcome is RunOutcome.CONVERGED
    assert landscape.order == ["ControllerDeployment", "garden-local/s0000"]
    assert landscape.world.shoots["garden-local/s0000"]["spec"]["extensions"]


def test_a_registration_without_its_deployment_is_not_well() -> None:
    landscape = garden()
    landscape.world.desired = with_registrations(landscape.world.desired, REGISTRATION)

    result = landscape.run()

    assert result.outcome is RunOutcome.STOPPED
    assert "there is no ControllerDeployment nri, which it names" in result.message


def test_a_refused_write_stops_the_run() -> None:
    result = garden(on_write=lambda: Rejected("spec.resources: Invalid value", status=422)).run()

    assert result.outcome is RunOutcome.STOPPED
    assert "garden: spec.resources: Invalid value" in result.message
    assert [wave.outcome for wave in result.waves] == [WaveOutcome.NOT_STARTED] * 2


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        pytest.param(Unreachable("no answer"), RunOutcome.FAILED, id="silent for too long"),
        pytest.param(Forbidden("you may not", status=403), RunOutcome.FAILED, id="forbidden"),
    ],
)
def test_not_being_able_to_look_is_not_the_extensions_fault(error: GitopsError, outcome: RunOutcome) -> None:
    result = garden(on_look=lambda: error).run()

    assert result.outcome is outcome
    assert "cannot be read" in result.message


def test_a_short_silence_is_waited_out() -> None:
    silences = iter([Unreachable("no answer")] * 5)

    assert garden(on_look=lambda: next(silences, None)).run().outcome is RunOutcome.CONVERGED


def test_an_interrupted_garden_wave_leaves_all_shoots_alone() -> None:
    landscape = garden(looks_until_well=10**9)

    result = landscape.run(deadline=landscape.world.time.now() + timedelta(minutes=1))

    assert result.outcome is RunOutcome.WAITING
    assert result.registrations is not None
    assert result.registrations.outcome is ShootOutcome.WAITING
    assert not landscape.world.writes


def test_what_the_plan_forbids_is_not_written() -> None:
    landscape = garden()
    incomplete = {**DEPLOYMENT, "helm": {"values": {}}}
    landscape.world.desired = with_registrations(landscape.world.desired, incomplete)

    result = landscape.run()

    assert result.outcome is RunOutcome.STOPPED
    assert "what is declared is too little to create it" in result.message
    assert landscape.order == []
