"""Laws of a rollout, on virtual time, with faults at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.desired.compose import Desired
from gitops.desired.overlay import Concurrency, Unit
from gitops.errors import Conflict, Rejected, Throttled, Unreachable
from gitops.manifest import Target
from gitops.rollout.rollout import Rollout, RunOutcome
from gitops.rollout.step import ShootOutcome
from gitops.rollout.track import Phase
from tests.plan.fleet import core, overlay, policy, wave
from tests.rollout.runs import Run, done, fleet, gate, run, world_of
from tests.rollout.toy_world import Fault, Record, ToyWorld

_WAVES = st.tuples(
    st.integers(0, 4),
    st.builds(Concurrency, st.integers(1, 3), st.just(Unit.SHOOTS)) | st.just(Concurrency(50, Unit.PERCENT)),
    st.integers(0, 2),
    st.sampled_from([timedelta(0), timedelta(minutes=2)]),
)


def landscape(waves: list[Any]) -> Desired:
    made = [
        wave(f"w{number}", max_concurrent=limit, max_failures=failures, soak=soak)
        for number, (_, limit, failures, soak) in enumerate(waves)
    ]
    by = overlay(*made, gate=gate(minutes=10, quarantine=3))
    sizes = {made[number].name: size for number, (size, *_) in enumerate(waves)}
    return fleet(sizes, by, core("ConfigMap", "c"), policy("default"), policy("group.g"))


LANDSCAPES = (
    st.lists(_WAVES, min_size=1, max_size=3).filter(lambda waves: any(size for size, *_ in waves)).map(landscape)
)
LAWFUL = settings(max_examples=25)


@dataclass
class Weather:
    """What goes wrong, by chance, until it is over."""

    chance: Random
    rate: float
    fair: bool = False
    failing: set[Target] = field(default_factory=set)

    def fault(self, kind: str, _: str) -> Fault:
        if self.fair or self.chance.random() > self.rate:
            return ""
        if kind in {"list shoots", "look inside"}:
            return self.chance.choice([Unreachable("no answer"), Throttled("slow down", retry_after=20)])
        errors: list[Fault] = [
            "before",
            "after",
            Conflict("modified"),
            Throttled("slow down"),
            Rejected("webhook down"),
        ]
        return self.chance.choice(errors)

    def latency(self) -> float:
        return self.chance.choice([0.05, 0.1, 1, 7]) if not self.fair else 0.1

    def upset(self, world: ToyWorld) -> None:
        """Some shoots fail for the time being."""
        for name in world.desired.shoots:
            temper = world.temper(name)
            temper.takes = self.chance.choice([3, 30, 200])
            temper.answers_after = self.chance.choice([0.1, 5, 60])
            if self.chance.random() < self.rate:
                temper.refuses, temper.ends, temper.unreachable = self.chance.choice(
                    [("no CPUs", "Succeeded", ""), ("", "Failed", ""), ("", "Succeeded", "no route")]
                )

    def clear(self, world: ToyWorld) -> None:
        """Everything is repaired, and what failed has been tried again."""
        self.fair = True
        world.time.sleep(900)
        for name, temper in world.tempers.items():
            temper.refuses, temper.ends, temper.unreachable = "", "Succeeded", ""
            world._reconcile(name)  # noqa: SLF001 - Gardener tries again
            for ref, policy_ in list(world.insides.get(name, {}).items()):
                if ref.kind == "BalloonsPolicy":
                    world._answer(ref, policy_["metadata"]["generation"])  # noqa: SLF001 - the agent starts anew
        world.time.sleep(900)


def law_abiding(world: ToyWorld) -> Run:
    """A run in which every write is checked against what is well and what is in flight at that moment."""
    present: list[Rollout] = []

    def check_flight(rollout: Rollout) -> None:
        tracks = rollout.tracks.values()
        in_flight = sum(track.started and track.phase is not Phase.SETTLED for track in tracks)
        assert not tracks or in_flight <= rollout.wave.max_concurrent.of(len(tracks))

    def check_order(record: Record) -> None:
        rollout = present[0]
        result = {shoot.shoot: shoot.outcome for wave_ in rollout.result().waves for shoot in wave_.shoots}
        names = [wave_.name for wave_ in world.desired.overlay.waves]
        mine = names.index(world.desired.shoots[record.target].wave)
        for number, before in enumerate(world.desired.overlay.waves[:mine]):
            shoots = [s.target for s in world.desired.shoots.values() if s.wave == names[number]]
            unwell = [name for name in shoots if not done(world, name)]
            assert all(result[name] in {ShootOutcome.FAILED, ShootOutcome.QUARANTINED} for name in unwell), record
            assert sum(result[name] is ShootOutcome.FAILED for name in shoots) <= before.max_failures

    world.on_write = check_order
    run_ = Run(world, watch=check_flight)
    start = run_.start

    def remember() -> Rollout:
        present[:] = [start()]
        return present[0]

    run_.start = remember  # type: ignore[method-assign]
    return run_


@LAWFUL
@given(LANDSCAPES, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.1, 0.4]))
def test_whatever_goes_wrong_the_laws_hold_and_the_next_runs_converge(
    wanted: Desired, chance: Random, rate: float
) -> None:
    world, weather = world_of(wanted), Weather(chance, rate)
    weather.upset(world)
    world.faults = weather.fault
    run_ = law_abiding(world)
    run_.latency = weather.latency

    for _ in range(3):
        begun = world.time.now()
        run_.carry_out()
        assert world.time.now() - begun < timedelta(hours=len(wanted.shoots) + 2), "a run always ends"
        world.time.sleep(60)

    weather.clear(world)
    for _ in range(2):
        last = run_.carry_out()

    assert last.outcome is RunOutcome.CONVERGED, last.message
    assert all(done(world, name) for name in wanted.shoots)
    before = len(world.writes)
    assert run(world).writes == 0
    assert len(world.writes) == before


@LAWFUL
@given(LANDSCAPES, st.randoms(use_true_random=False))
def test_the_same_world_and_the_same_chance_give_the_same_run(wanted: Desired, chance: Random) -> None:
    seed = chance.randint(0, 10**6)

    def once() -> tuple[Any, list[str]]:
        world, weather = world_of(wanted), Weather(Random(seed), 0.2)  # noqa: S311 - chance, not secrecy
        weather.upset(world)
        world.faults = weather.fault
        return run(world, latency=weather.latency), [record.what for record in world.writes]

    assert once() == once()


@LAWFUL
@given(LANDSCAPES)
def test_in_fair_weather_every_object_is_written_exactly_once(wanted: Desired) -> None:
    world = world_of(wanted)

    result = law_abiding(world).carry_out()

    assert result.outcome is RunOutcome.CONVERGED
    objects = [(record.target, record.what) for record in world.writes if "shoot-gitops-dev" not in record.what]
    assert len(objects) == len(set(objects)) == 4 * len(wanted.shoots) == result.writes
