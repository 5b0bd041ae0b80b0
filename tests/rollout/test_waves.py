"""Waves: their order, how many shoots are in flight, when they stop, soak."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitops.desired.overlay import Unit
from gitops.manifest import Target
from gitops.rollout.rollout import Result, Rollout, RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase
from tests.plan.fleet import overlay, policy, wave
from tests.rollout.runs import at_once, done, fleet, gate, run, target, world_of, written
from tests.rollout.toy_world import Record, ToyWorld


def outcomes(result: Result) -> list[ShootOutcome]:
    return [shoot.outcome for wave in result.waves for shoot in wave.shoots]


def waves(result: Result) -> list[WaveOutcome]:
    return [wave.outcome for wave in result.waves]


def test_a_shoot_is_written_before_what_is_inside_it_and_each_once() -> None:
    world = world_of(fleet({"all": 1}, None, policy("default"), policy("group.g"), policy("node.n")))

    result = run(world)

    assert result.outcome is RunOutcome.CONVERGED
    assert written(world) == [
        "patch Shoot garden-local/s0000",
        "apply BalloonsPolicy kube-system/default",
        "apply BalloonsPolicy kube-system/group.g",
        "apply BalloonsPolicy kube-system/node.n",
    ]
    assert result.writes == 4


def test_nothing_is_written_when_everything_is_in_sync() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 3}))
    run(world)
    before, requests = len(world.writes), world.requests.total()

    again = run(world)

    assert (again.outcome, again.writes, len(world.writes)) == (RunOutcome.CONVERGED, 0, before)
    assert world.requests.total() - requests == 4, "a look inside each shoot, and that is all"


def test_an_empty_wave_is_passed() -> None:
    by = overlay(wave("nobody"), wave("fleet"))

    assert waves(run(world_of(fleet({"fleet": 1}, by)))) == [WaveOutcome.PASSED, WaveOutcome.PASSED]


def test_no_shoot_of_a_later_wave_is_written_before_the_earlier_ones_are_well() -> None:
    world = world_of(fleet({"canary": 2, "early": 2, "late": 2}))
    order = list(world.desired.shoots)

    def check(record: Record) -> None:
        earlier = order[: order.index(record.target) // 2 * 2]
        assert all(done(world, name) for name in earlier), record

    world.on_write = check

    assert run(world).outcome is RunOutcome.CONVERGED


@pytest.mark.parametrize(
    ("size", "limit", "most"),
    [
        pytest.param(6, at_once(1), 1, id="one"),
        pytest.param(6, at_once(4), 4, id="a number"),
        pytest.param(8, at_once(25, Unit.PERCENT), 2, id="a share"),
        pytest.param(3, at_once(25, Unit.PERCENT), 1, id="a share of few is one"),
        pytest.param(3, at_once(100), 3, id="more than there are"),
    ],
)
def test_so_many_shoots_are_in_flight(size: int, limit: Any, most: int) -> None:
    world = world_of(fleet({"all": size}, overlay(wave("all", max_concurrent=limit))))
    seen = []

    def watch(rollout: Rollout) -> None:
        seen.append(in_flight(rollout))
        begun = {record.target for record in world.writes}
        assert sum(not done(world, name) for name in begun) <= most

    assert run(world, watch=watch).outcome is RunOutcome.CONVERGED
    assert max(seen) == most


def in_flight(rollout: Rollout) -> int:
    return sum(track.started and track.phase is not Phase.SETTLED for track in rollout.tracks.values())


def refusing(world: ToyWorld, *shoots: int) -> None:
    for number in shoots:
        world.temper(target(number)).refuses = "not enough CPUs for balloon gold"


def test_a_failing_node_stops_the_rollout_with_its_own_words() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 2}))
    refusing(world, 0)

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert waves(result) == [WaveOutcome.STOPPED, WaveOutcome.NOT_STARTED]
    assert outcomes(result) == [ShootOutcome.FAILED, ShootOutcome.NOT_STARTED, ShootOutcome.NOT_STARTED]
    assert "not enough CPUs for balloon gold" in result.message
    assert {record.target for record in world.writes} == {target(0)}


def test_a_wave_goes_on_while_it_has_no_more_failures_than_it_allows() -> None:
    world = world_of(fleet({"canary": 4, "fleet": 1}, overlay(wave("canary", max_failures=1), wave("fleet"))))
    refusing(world, 1)

    result = run(world)

    assert waves(result) == [WaveOutcome.PASSED, WaveOutcome.PASSED]
    assert outcomes(result).count(ShootOutcome.FAILED) == 1
    assert result.outcome is RunOutcome.STOPPED, "a failure that is allowed is still told"
    assert "not enough CPUs" in result.message


def test_one_failure_too_many_stops_and_lets_what_is_under_way_be() -> None:
    limits = wave("canary", max_failures=1, max_concurrent=at_once(2))
    world = world_of(fleet({"canary": 6, "fleet": 1}, overlay(limits, wave("fleet"))))
    refusing(world, 0, 1)

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert outcomes(result)[:2] == [ShootOutcome.FAILED, ShootOutcome.FAILED]
    assert {record.target for record in world.writes} <= {target(0), target(1), target(2), target(3)}
    assert not any(record.target == target(6) for record in world.writes)


def test_a_failed_operation_stops_at_once_with_gardeners_words() -> None:
    world = world_of(fleet({"canary": 1}))
    world.temper(target(0)).ends = "Failed"

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "quota exceeded" in result.message
    assert elapsed(world) < timedelta(minutes=2)


def elapsed(world: ToyWorld) -> timedelta:
    return world.time.now() - ToyWorld(world.desired).time.now()


def test_a_gate_that_does_not_open_in_time_is_a_failure() -> None:
    world = world_of(fleet({"canary": 1}, overlay(wave("canary"), gate=gate(minutes=10))))
    world.temper(target(0)).answers_after = -1

    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert "still waiting after 0:10:00" in result.message
    assert "n1" in result.message
    assert timedelta(minutes=10) < elapsed(world) < timedelta(minutes=12)


@pytest.mark.parametrize("latency", [2.0, 2.9, 3.6, 4.0])
def test_a_gate_that_times_out_while_the_garden_is_read_ends_nothing_else(latency: float) -> None:
    """The answer to that read must not come when the next wave is already the present one."""
    limits = wave("canary", max_failures=1)
    world = world_of(fleet({"canary": 1, "fleet": 1}, overlay(limits, wave("fleet"), gate=gate(minutes=1))))
    world.temper(target(0)).takes = 3600

    result = run(world, latency=lambda: latency)

    assert waves(result) == [WaveOutcome.PASSED, WaveOutcome.PASSED]
    assert outcomes(result) == [ShootOutcome.FAILED, ShootOutcome.CONVERGED]


def test_a_newer_desired_state_overtakes_a_stuck_wave() -> None:
    stuck = world_of(fleet({"canary": 1, "fleet": 1}))
    refusing(stuck, 0)
    run(stuck)

    stuck.desired = fleet({"canary": 1, "fleet": 1}, None, policy(pinCPU=False))
    stuck.temper(target(0)).refuses = ""
    result = run(stuck)

    assert result.outcome is RunOutcome.CONVERGED
    assert all(done(stuck, name) for name in stuck.desired.shoots)


SOAK = timedelta(minutes=10)


def soaking(canaries: int = 1) -> ToyWorld:
    return world_of(fleet({"canary": canaries, "fleet": 1}, overlay(wave("canary", soak=SOAK), wave("fleet"))))


def test_a_wave_soaks_before_the_next_one_begins() -> None:
    world = soaking()
    well: list[Any] = []

    def watch(_: Rollout) -> None:
        if done(world, target(0)) and not well:
            well.append(world.time.now())

    def check(record: Record) -> None:
        if record.target == target(1):
            assert world.time.now() - well[0] >= SOAK

    world.on_write = check

    assert run(world, watch=watch).outcome is RunOutcome.CONVERGED


def test_a_shoot_that_turns_bad_while_it_soaks_stops_the_rollout() -> None:
    world = soaking()

    def turn() -> None:
        refusing(world, 0)
        ref, live = next((r, m) for r, m in world.insides[target(0)].items() if r.kind == "BalloonsPolicy")
        world.edit_inside(ref, {**live, "spec": {"pinCPU": False}})

    world.time.after(300, turn)
    result = run(world)

    assert result.outcome is RunOutcome.STOPPED
    assert not any(record.target == target(1) for record in world.writes)


def test_drift_that_comes_while_a_wave_soaks_is_put_back_first() -> None:
    world = soaking()

    def turn() -> None:
        ref, live = next((r, m) for r, m in world.insides[target(0)].items() if r.kind == "BalloonsPolicy")
        world.edit_inside(ref, {**live, "spec": {"pinCPU": False}})

    world.time.after(300, turn)

    assert run(world).outcome is RunOutcome.CONVERGED
    assert written(world).count("apply BalloonsPolicy kube-system/default") == 3
    assert all(done(world, name) for name in world.desired.shoots)


def test_a_soak_is_resumed_by_the_next_run_from_what_the_servers_remember() -> None:
    world = soaking()
    first = run(world, deadline=timedelta(minutes=5))
    assert (first.outcome, waves(first)) == (RunOutcome.WAITING, [WaveOutcome.WAITING, WaveOutcome.NOT_STARTED])
    world.time.sleep(120)

    before = world.time.now()
    second = run(world)

    assert second.outcome is RunOutcome.CONVERGED
    assert world.time.now() - before < SOAK - timedelta(minutes=3)


def test_a_soak_that_has_passed_is_not_waited_for_again() -> None:
    world = soaking()
    run(world, deadline=timedelta(minutes=5))
    world.time.sleep(3600)

    before = world.time.now()

    assert run(world).outcome is RunOutcome.CONVERGED
    assert world.time.now() - before < timedelta(minutes=2)


def test_nothing_soaks_when_no_later_wave_has_anything_to_do() -> None:
    world = world_of(fleet({"canary": 1}, overlay(wave("canary", soak=SOAK), wave("fleet"))))

    assert run(world).outcome is RunOutcome.CONVERGED
    assert elapsed(world) < SOAK


def test_a_failed_shoot_that_is_allowed_does_not_hold_up_the_soak() -> None:
    limits = wave("canary", soak=SOAK, max_failures=1)
    world = world_of(fleet({"canary": 1, "fleet": 1}, overlay(limits, wave("fleet"))))
    refusing(world, 0)

    result = run(world)

    assert outcomes(result) == [ShootOutcome.FAILED, ShootOutcome.CONVERGED]


def test_a_later_wave_is_looked_at_again_before_it_is_written() -> None:
    world = world_of(fleet({"canary": 1, "fleet": 1}))

    def edit() -> None:
        name: Target = target(1)
        live = world.shoots[name]
        world.replace_shoot(name, {**live, "spec": {**live["spec"], "purpose": "theirs"}})

    world.time.after(20, edit)

    assert run(world).outcome is RunOutcome.CONVERGED
    assert world.shoots[target(1)]["spec"]["purpose"] == "theirs"
