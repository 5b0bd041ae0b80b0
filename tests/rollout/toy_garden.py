"""The registrations of a toy world: two objects, and one seed that catches up after some looks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import jsonpatch

from gitops.desired.compose import Desired, Origin
from gitops.errors import GitopsError
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
from gitops.rollout.rollout import Result, Rollout
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
    """A toy world with its registrations."""

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

    def rollout(self) -> Rollout:
        """A run that has not begun."""
        rules = Rules(self.world.desired.overlay, Prune.ALLOWED, POLL)
        return Rollout(self.world.desired, self.world.observe(), rules, self.world.time.now(), self.observe())

    def run(self, rollout: Rollout | None = None, **how: Any) -> Result:
        """Carry a run out on virtual time."""
        crew = VirtualCrew(self.perform, self.world.time)
        return carry_out(rollout or self.rollout(), crew, self.world.time, **how)


def garden(**changes: Any) -> Garden:
    return Garden(world_of(with_registrations(fleet({"canary": 1, "rest": 2}))), **changes)


def with_registrations(desired: Desired, *manifests: Manifest) -> Desired:
    found = {registration_ref(m): m for m in manifests or (DEPLOYMENT, REGISTRATION)}
    return replace(desired, registrations=found, origins=dict.fromkeys(found, Origin("clusters/nri.yaml", 1)))
