"""Whole runs over the toy world."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from gitops.desired.compose import Desired, DesiredShoot
from gitops.desired.overlay import Concurrency, Gate, Overlay, Unit
from gitops.manifest import Manifest, Target, get, ref_of
from gitops.plan.observed import Observed
from gitops.plan.planning import Prune
from gitops.rollout.executor import carry_out
from gitops.rollout.rollout import Result, Rollout
from gitops.rollout.step import ShootOutcome
from gitops.rollout.wave import Rules
from tests.plan.fleet import declared, desired, overlay, policy, wave
from tests.rollout.toy_world import CONDITIONS, ToyWorld
from tests.rollout.virtual_time import VirtualCrew

POLL = timedelta(seconds=5)
BARE = {"region": "local", "provider": {"type": "local"}}


def at_once(amount: int, unit: Unit = Unit.SHOOTS) -> Concurrency:
    return Concurrency(amount, unit)


def names(count: int, first: int = 0) -> list[str]:
    return [f"s{number:04}" for number in range(first, first + count)]


def fleet(sizes: dict[str, int], by: Overlay | None = None, *objects: Manifest, **more: Any) -> Desired:
    """Waves with so many shoots each, all with the extension and a policy."""
    by = by or overlay(*(wave(name) for name in sizes))
    waves = [name for name, size in sizes.items() for _ in range(size)]
    content = objects or (policy(),)
    shoots = [
        declared(*content, name=name, in_wave=in_wave, **more)
        for name, in_wave in zip(names(len(waves)), waves, strict=True)
    ]
    return desired(*shoots, by=by)


def target(number: int) -> Target:
    return f"garden-local/s{number:04}"


def old_shoot(shoot: DesiredShoot, spec: Any = None) -> Manifest:
    """A Shoot as it was before anybody declared anything, and well."""
    before = "2026-11-29T12:00:00Z"
    return {
        **{key: shoot.shoot[key] for key in ("apiVersion", "kind")},
        "metadata": {**shoot.shoot["metadata"], "uid": "u", "generation": 1, "resourceVersion": "1"},
        "spec": copy.deepcopy(BARE if spec is None else spec),
        "status": {
            "observedGeneration": 1,
            "lastOperation": {"type": "Reconcile", "state": "Succeeded", "lastUpdateTime": before},
            "conditions": [{"type": kind, "status": "True", "lastUpdateTime": before} for kind in CONDITIONS],
        },
    }


def world_of(wanted: Desired) -> ToyWorld:
    """The world before the first run: every Shoot is there and bare."""
    world = ToyWorld(wanted)
    world.shoots = {name: old_shoot(shoot) for name, shoot in wanted.shoots.items()}
    return world


@dataclass
class Run:
    """One run to come, and how."""

    world: ToyWorld
    prune: Prune = Prune.ALLOWED
    deadline: timedelta | None = None
    poll: timedelta = POLL
    seen: Mapping[Target, Observed] | None = None
    """An older look at the world to begin with; None looks now."""
    latency: Callable[[], float] = lambda: 0.1
    watch: Callable[[Rollout], None] = lambda _: None
    """Sees the rollout after every event."""

    def start(self) -> Rollout:
        rules = Rules(self.world.desired.overlay, self.prune, self.poll)
        return Rollout(
            self.world.desired, self.world.observe() if self.seen is None else self.seen, rules, self.world.time.now()
        )

    def carry_out(self) -> Result:
        rollout = self.start()
        crew = VirtualCrew(self.world.perform, self.world.time, self.latency)
        until: datetime | None = self.world.time.now() + self.deadline if self.deadline is not None else None
        return carry_out(rollout, crew, self.world.time, deadline=until, on_change=self.watch)


def run(world: ToyWorld, **how: Any) -> Result:
    return Run(world, **how).carry_out()


def one(*objects: Manifest, by: Overlay | None = None, **more: Any) -> ToyWorld:
    """The world of one bare shoot."""
    return world_of(fleet({"all": 1}, by, *objects, **more))


def outcome(result: Result, number: int = 0) -> tuple[ShootOutcome, str]:
    """What became of one shoot, by its place in the fleet, and why."""
    shoots = [shoot for wave in result.waves for shoot in wave.shoots]
    return shoots[number].outcome, shoots[number].message


def written(world: ToyWorld) -> list[str]:
    """What was written, in its order, parents of the ApplySet left out."""
    return [record.what for record in world.writes if "shoot-gitops-dev" not in record.what]


def done(world: ToyWorld, name: Target) -> bool:
    """Whether a shoot is as declared and well, judged by the world alone."""
    shoot, wanted = world.shoots.get(name), world.desired.shoots[name]
    if shoot is None:
        return False
    status = shoot.get("status") or {}
    on = {entry["type"] for entry in get(shoot, "spec", "extensions") or [] if not entry.get("disabled")}
    wanted_on = {e["type"] for e in get(wanted.shoot, "spec", "extensions") or [] if not e.get("disabled")}
    well = (
        wanted_on <= on
        and status.get("observedGeneration") == shoot["metadata"]["generation"]
        and get(status, "lastOperation", "state") == "Succeeded"
        and all(condition["status"] == "True" for condition in status.get("conditions", []))
    )
    return well and all(_accepted(world, name, manifest) for manifest in wanted.objects.values())


def _accepted(world: ToyWorld, name: Target, manifest: Manifest) -> bool:
    ref = ref_of(name, manifest)
    live = world.insides.get(name, {}).get(ref)
    if live is None or live.get("spec") != manifest.get("spec"):
        return False
    if manifest["kind"] != "BalloonsPolicy":
        return True
    generation = live["metadata"]["generation"]
    answers = get(live, "status", "nodes") or {}
    wanted = {"status": "Success", "generation": generation}
    return all(wanted.items() <= answers.get(node, {}).items() for node in world.users(ref))


def gate(minutes: float = 45, quarantine: float = 5) -> Gate:
    return Gate(timedelta(minutes=minutes), timedelta(minutes=quarantine))
