"""The garden wave as a machine: written once, waited for, stopped, and never in the way of an overlay without it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import jsonpatch
import pytest

from gitops.desired.compose import Desired, Origin
from gitops.errors import Conflict, Forbidden, GitopsError, Rejected, Unreachable
from gitops.gardener.registration_fields import registration_ref
from gitops.manifest import Manifest, Ref
from gitops.plan.observed import ObservedRegistrations
from gitops.plan.planning import Prune
from gitops.rollout.actions import (
    Action,
    Event,
    ObserveRegistrations,
    RegistrationsObserved,
    RegistrationsUnobserved,
    RegistrationsWritten,
    WriteRegistrations,
    WriteTo,
)
from gitops.rollout.executor import carry_out
from gitops.rollout.registrations_step import CreateRegistration
from gitops.rollout.rollout import Result, Rollout, RunOutcome, WaveOutcome
from gitops.rollout.step import ShootOutcome
from gitops.rollout.wave import Rules
from tests.rollout.runs import POLL, fleet, world_of
from tests.rollout.toy_world import ToyWorld
from tests.rollout.virtual_time import VirtualCrew

DEPLOYMENT: Manifest = {
    "apiVersion": "core.gardener.cloud/v1",
    "kind": "ControllerDeployment",
    "metadata": {"name": "nri"},
    "helm": {"ociRepository": {"ref": "registry.example/nri:v1"}, "values": {"replicas": 1}},
}
REGISTRATION: Manifest = {
    "apiVersion": "core.gardener.cloud/v1beta1",
    "kind": "ControllerRegistration",
    "metadata": {"name": "nri"},
    "spec": {
        "resources": [{"kind": "Extension", "type": "nri"}],
        "deployment": {"deploymentRefs": [{"name": "nri"}], "policy": "Always"},
    },
}


@dataclass
class Garden:
    """The registrations of a toy world, and one seed that catches up after some looks."""

    world: ToyWorld
    objects: dict[Ref, Manifest] = field(default_factory=dict)
    looks: int = 0
    looks_until_well: int = 3
    on_write: Callable[[], GitopsError | None] = lambda: None
    on_look: Callable[[], GitopsError | None] = lambda: None
    order: list[str] = field(default_factory=list)
    """What was written, shoots among it."""
    _versions: int = 1

    def perform(self, action: Action) -> Event:
        match action:
            case ObserveRegistrations():
                error = self.on_look()
                return RegistrationsUnobserved(error) if error else RegistrationsObserved(self.observe())
            case WriteRegistrations(writes):
                if error := self.on_write():
                    return RegistrationsWritten(0, error)
                for write in writes:
                    self._write(write)
                return RegistrationsWritten(len(writes), None)
            case WriteTo(target):
                self.order.append(target)
        return self.world.perform(action)

    def observe(self) -> ObservedRegistrations:
        self.looks += 1
        return ObservedRegistrations(
            copy.deepcopy(self.objects), self._installations(), server_time=self.world.time.now()
        )

    def _write(self, write: Any) -> None:
        self.order.append(write.ref.kind)
        self._versions += 1
        if isinstance(write, CreateRegistration):
            self.objects[write.ref] = copy.deepcopy(write.manifest)
        else:
            operations = list(write.operations)
            assert operations[0]["value"] == self.objects[write.ref]["metadata"]["resourceVersion"]
            self.objects[write.ref] = jsonpatch.apply_patch(self.objects[write.ref], operations)
        self.objects[write.ref]["metadata"]["resourceVersion"] = str(self._versions)
        self.looks = 0

    def _installations(self) -> tuple[Manifest, ...]:
        by_kind = {ref.kind: manifest["metadata"] for ref, manifest in self.objects.items()}
        if len(by_kind) < 2:
            return ()
        behind = self.looks < self.looks_until_well
        version = {} if behind else {"resourceVersion": by_kind["ControllerDeployment"]["resourceVersion"]}
        registration = by_kind["ControllerRegistration"]["resourceVersion"]
        statuses = {"Valid": "True", "Installed": "True", "Healthy": "True", "Progressing": "False"}
        return (
            {
                "metadata": {"creationTimestamp": "2026-11-01T00:00:00Z"},
                "spec": {
                    "seedRef": {"name": "seed"},
                    "registrationRef": {"name": "nri", "resourceVersion": registration},
                    "deploymentRef": {"name": "nri", **version},
                },
                "status": {"conditions": [{"type": kind, "status": status} for kind, status in statuses.items()]},
            },
        )

    def run(self, **how: Any) -> Result:
        world = self.world
        rules = Rules(world.desired.overlay, Prune.ALLOWED, POLL)
        rollout = Rollout(world.desired, world.observe(), rules, world.time.now(), self.observe())
        return carry_out(rollout, VirtualCrew(self.perform, world.time), world.time, **how)


def garden(**changes: Any) -> Garden:
    return Garden(world_of(with_registrations(fleet({"canary": 1, "rest": 2}))), **changes)


def with_registrations(desired: Desired, *manifests: Manifest) -> Desired:
    found = {registration_ref(m): m for m in manifests or (DEPLOYMENT, REGISTRATION)}
    return replace(desired, registrations=found, origins=dict.fromkeys(found, Origin("clusters/nri.yaml", 1)))


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
