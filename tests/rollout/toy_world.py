"""A landscape in memory on virtual time: a garden, its gardenlet, and shoots with policy agents on their nodes.

It answers the actions of a rollout. Shoots are patched by the jsonpatch library under their resourceVersion; inside,
objects are applied by `tests.plan.apply_model`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import jsonpatch

from gitops.desired.compose import Desired
from gitops.errors import Absent, Conflict, GitopsError, Unreachable
from gitops.gardener.shoot_record import timestamp
from gitops.manifest import Manifest, Ref, Target, get, ref_of
from gitops.ownership import FIELD_MANAGER
from gitops.plan.inside import suspects
from gitops.plan.observed import Inside, Observed, Unobserved
from gitops.plan.planning import kinds_inside
from gitops.rollout.actions import (
    Action,
    Event,
    InsideObserved,
    NotWritten,
    ObserveInside,
    ObserveShoots,
    ShootsObserved,
    ShootsUnobserved,
    WriteTo,
    Written,
)
from gitops.rollout.step import ApplyObjects, CreateShoot, PatchShoot, PruneObjects
from tests.plan.apply_model import applied, updated
from tests.rollout.virtual_time import Timeline

POLICY_KIND = ("config.nri/v1alpha1", "BalloonsPolicy")
CONDITIONS = ("APIServerAvailable", "ControlPlaneHealthy", "ObservabilityComponentsHealthy", "SystemComponentsHealthy")


@dataclass
class Temper:
    """How one shoot behaves."""

    nodes: tuple[str, ...] = ("n1",)
    starts_after: float = 1
    takes: float = 30
    settles_after: float = 10
    """Seconds from the end of an operation until its conditions are True."""
    serves_after: float = 0
    """Seconds from the end of an operation until the CRDs of extensions are there."""
    answers_after: float = 5
    """Seconds until a node answers to a policy; negative: it never does."""
    ends: str = "Succeeded"
    """How operations end."""
    refuses: str = ""
    """The nodes' error text; empty when they accept."""
    unreachable: str = ""
    """Why the shoot's API server does not answer; empty when it does."""
    stores: Callable[[Manifest], Manifest] = lambda shoot: shoot
    """What the garden makes of a Shoot that is written."""


@dataclass(frozen=True)
class Record:
    """One object written."""

    target: Target
    what: str
    """Such as `patch Shoot garden-local/a`."""


Fault = Literal["", "before", "after"] | GitopsError
"""What goes wrong with a request: nothing, no answer and not done, no answer and done, or this answer."""


@dataclass
class ToyWorld:
    """Everything there is."""

    desired: Desired
    time: Timeline = field(default_factory=Timeline)
    shoots: dict[Target, Manifest] = field(default_factory=dict)
    insides: dict[Target, dict[Ref, Manifest]] = field(default_factory=dict)
    tempers: dict[Target, Temper] = field(default_factory=dict)
    writes: list[Record] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    faults: Callable[[str, Target], Fault] = lambda *_: ""
    """Asked before each request: the kind of it, and the shoot."""
    on_write: Callable[[Record], None] = lambda _: None
    """Told of each write before it is carried out; may raise what ends the process."""
    _versions: int = 100
    _running: set[Target] = field(default_factory=set)

    def temper(self, target: Target) -> Temper:
        return self.tempers.setdefault(target, Temper())

    # what a rollout asks for

    def perform(self, action: Action) -> Event:
        match action:
            case ObserveShoots(targets):
                return self._observe_shoots(targets)
            case ObserveInside(target):
                return InsideObserved(target, self.look_inside(target))
            case WriteTo(target, write):
                done: list[int] = []
                try:
                    return Written(target, *self._write(target, write, done))
                except GitopsError as error:
                    return NotWritten(target, len(done), error)
            case _:
                raise NotImplementedError(f"this world has no registrations: {action}")

    def observe(self) -> dict[Target, Observed]:
        """What a run sees before it begins."""
        return {target: self._observe(target) for target in self.desired.shoots}

    def _observe(self, target: Target) -> Observed:
        live = self.shoots.get(target)
        if live is None:
            return Observed(None, self.time.now(), Unobserved("the shoot does not exist yet"))
        if get(live, "spec", "hibernation", "enabled") or not kinds_inside(self.desired.shoots[target], live):
            return Observed(copy.deepcopy(live), self.time.now(), Unobserved("there is nothing to look at"))
        return Observed(copy.deepcopy(live), self.time.now(), self.look_inside(target))

    def _observe_shoots(self, targets: tuple[Target, ...]) -> Event:
        self.requests["list shoots"] += 1
        self.requests["shoots read"] += len(targets)
        fault = self.faults("list shoots", "")
        if fault:
            return ShootsUnobserved(targets, fault if isinstance(fault, GitopsError) else Unreachable("no answer"))
        return ShootsObserved({target: copy.deepcopy(self.shoots.get(target)) for target in targets}, self.time.now())

    def look_inside(self, target: Target) -> Inside | GitopsError:
        self.requests["look inside"] += 1
        fault = self.faults("look inside", target)
        if fault:
            return fault if isinstance(fault, GitopsError) else Unreachable("no answer")
        if self._off(target):
            return Unreachable(self._off(target))
        desired = self.desired.shoots[target]
        kinds = kinds_inside(desired, self.shoots[target])
        objects = {
            ref: copy.deepcopy(manifest)
            for ref, manifest in self.insides.get(target, {}).items()
            if (ref.api_version, ref.kind) in kinds
        }
        unserved = frozenset({POLICY_KIND} & set(kinds) if not self.serves_policies(target) else ())
        nodes = tuple({"kind": "Node", "metadata": {"name": name}} for name in self.temper(target).nodes)
        plain = Inside(objects, nodes, unserved)
        wanted = suspects(desired, self.desired.overlay, plain)
        outcomes = {ref: applied(objects.get(ref), manifest, FIELD_MANAGER) for ref, manifest in wanted.items()}
        return Inside(objects, nodes, unserved, outcomes)

    def serves_policies(self, target: Target) -> bool:
        """Whether the extension, with its CRDs, has come to the shoot."""
        return bool(get(self.shoots[target], "status", "extensions"))

    def _off(self, target: Target) -> str:
        return self.temper(target).unreachable or (
            "it is hibernated" if get(self.shoots[target], "status", "hibernated") else ""
        )

    # writes

    def _write(self, target: Target, write: Any, done: list[int]) -> tuple[int, Manifest | None]:
        match write:
            case CreateShoot(manifest):
                self._guard("create", target, manifest, lambda: self._create(target, manifest))
            case PatchShoot(operations):
                live = self.shoots.get(target)
                if live is None:
                    raise Absent("not found", status=404)
                self._guard("patch", target, live, lambda: self._patch(target, operations))
            case ApplyObjects(parent, manifests):
                self._inside(target, "apply", parent)
                for manifest in manifests:
                    self._inside(target, "apply", manifest)
                    done.append(1)
                return len(done), None
            case PruneObjects(manifests, parent):
                for manifest in manifests:
                    self._inside(target, "delete", manifest)
                    done.append(1)
                self._inside(target, "apply", parent)
                return len(done), None
        return 1, copy.deepcopy(self.shoots[target])

    def _guard(self, verb: str, target: Target, manifest: Manifest, act: Callable[[], None]) -> None:
        """Carry out one write, unless something goes wrong before or after."""
        fault = self.faults(verb, target)
        if isinstance(fault, GitopsError):
            raise fault
        if fault == "before":
            raise Unreachable("no answer")
        record = Record(target, f"{verb} {ref_of(target, manifest)}")
        self.on_write(record)
        act()
        self.writes.append(record)
        if fault == "after":
            raise Unreachable("no answer")

    def _create(self, target: Target, manifest: Manifest) -> None:
        if target in self.shoots:
            raise Conflict("already exists", status=409)
        live = copy.deepcopy(manifest)
        live["metadata"] |= {"uid": f"uid-{target}", "generation": 1}
        self._store(target, live)
        self._reconcile(target)

    def _patch(self, target: Target, operations: Any) -> None:
        live = self.shoots[target]
        guard, *changes = operations
        if guard["value"] != live["metadata"]["resourceVersion"]:
            raise Conflict("the object has been modified", status=409)
        self.replace_shoot(target, jsonpatch.apply_patch(copy.deepcopy(live), changes))

    def replace_shoot(self, target: Target, manifest: Manifest) -> None:
        """Write a Shoot, as anybody may; a change of its spec is reconciled."""
        live, after = self.shoots[target], self.temper(target).stores(copy.deepcopy(manifest))
        if after["spec"] != live["spec"] and not get(live, "spec", "maintenance", "confineSpecUpdateRollout"):
            after["metadata"]["generation"] += 1
        self._store(target, after)
        if after["metadata"]["generation"] != live["metadata"]["generation"]:
            self._reconcile(target)

    def _store(self, target: Target, shoot: Manifest) -> None:
        self._versions += 1
        shoot["metadata"]["resourceVersion"] = str(self._versions)
        self.shoots[target] = shoot

    def _inside(self, target: Target, verb: str, manifest: Manifest) -> None:
        if off := self._off(target):
            raise Unreachable(off)
        ref = ref_of(target, manifest)
        self._guard(verb, target, manifest, lambda: self._change_inside(ref, verb, manifest))

    def _change_inside(self, ref: Ref, verb: str, manifest: Manifest) -> None:
        objects = self.insides.setdefault(ref.target, {})
        live, expected = objects.get(ref), get(manifest, "metadata", "resourceVersion")
        if expected and (live is None or live["metadata"]["resourceVersion"] != expected):
            raise Conflict("the object has been modified", status=409)
        if verb == "delete":
            objects.pop(ref, None)
            return
        if (ref.api_version, ref.kind) == POLICY_KIND and not self.serves_policies(ref.target):
            raise Absent("the server doesn't have a resource type", status=404)
        self.store_inside(ref, applied(live, manifest, FIELD_MANAGER, timestamp(self.time.now())))

    def edit_inside(self, ref: Ref, manifest: Manifest, manager: str = "kubectl-edit") -> None:
        """Write an object as somebody else."""
        live = self.insides[ref.target][ref]
        self.store_inside(ref, updated(live, manifest, manager, timestamp(self.time.now())))

    def store_inside(self, ref: Ref, after: Manifest) -> None:
        """Keep an object; its nodes will answer to a new generation."""
        objects = self.insides.setdefault(ref.target, {})
        live = objects.get(ref)
        if live is not None and live == after:
            return
        generation = get(live, "metadata", "generation") or 0
        changed = live is None or live.get("spec") != after.get("spec")
        self._versions += 1
        after["metadata"] |= {
            "uid": f"uid-{ref}",
            "generation": generation + changed,
            "resourceVersion": str(self._versions),
        }
        objects[ref] = after
        temper = self.temper(ref.target)
        if changed and (ref.api_version, ref.kind) == POLICY_KIND and temper.answers_after >= 0:
            self.time.after(temper.answers_after, lambda: self._answer(ref, generation + changed))

    # the gardenlet and the agents

    def _reconcile(self, target: Target) -> None:
        if target not in self._running:
            self._running.add(target)
            self.time.after(self.temper(target).starts_after, lambda: self._begin(target))

    def _begin(self, target: Target) -> None:
        generation = self.shoots[target]["metadata"]["generation"]
        self._status(target, observedGeneration=generation, **self._operation("Processing"))
        self.time.after(self.temper(target).takes, lambda: self._end(target, generation))

    def _end(self, target: Target, generation: int) -> None:
        self._running.discard(target)
        temper = self.temper(target)
        if target not in self.shoots:
            return
        live = self.shoots[target]
        on = [e["type"] for e in get(live, "spec", "extensions") or [] if not e.get("disabled")]
        conditions = self._conditions("Progressing")
        hibernated = bool(get(live, "spec", "hibernation", "enabled"))
        self._status(target, **self._operation(temper.ends), conditions=conditions, hibernated=hibernated)
        self.time.after(temper.serves_after, lambda: self._status(target, extensions=on))
        self.time.after(temper.settles_after, lambda: self._settle(target))
        if live["metadata"]["generation"] != generation:
            self._reconcile(target)

    def _settle(self, target: Target) -> None:
        if target in self.shoots and get(self.shoots[target], "status", "lastOperation", "state") == "Succeeded":
            self._status(target, conditions=self._conditions("True"))

    def _operation(self, state: str) -> dict[str, Any]:
        errors = [] if state in {"Processing", "Succeeded"} else [{"description": "quota exceeded", "codes": []}]
        now = timestamp(self.time.now())
        return {
            "lastOperation": {"type": "Reconcile", "state": state, "lastUpdateTime": now, "progress": 0},
            "lastErrors": errors,
        }

    def _conditions(self, status: str) -> list[Manifest]:
        now = timestamp(self.time.now())
        return [{"type": kind, "status": status, "lastUpdateTime": now} for kind in CONDITIONS]

    def _status(self, target: Target, **status: Any) -> None:
        if target in self.shoots:
            shoot = self.shoots[target]
            self._store(target, {**shoot, "status": {**(shoot.get("status") or {}), **status}})

    def users(self, ref: Ref) -> tuple[str, ...]:
        """The nodes that use a policy: their own, or `default`; no node here is in a group."""
        names = {other.name for other in self.insides.get(ref.target, {})}
        own = {node for node in self.temper(ref.target).nodes if f"node.{node}" in names}
        nodes = self.temper(ref.target).nodes
        return tuple(n for n in nodes if ref.name == f"node.{n}" or (ref.name == "default" and n not in own))

    def _answer(self, ref: Ref, generation: int) -> None:
        policy = self.insides.get(ref.target, {}).get(ref)
        if policy is None or policy["metadata"]["generation"] != generation:
            return
        temper, now = self.temper(ref.target), timestamp(self.time.now())
        answer = {"status": "Failure", "errors": temper.refuses} if temper.refuses else {"status": "Success"}
        entry = {**answer, "generation": generation, "timestamp": now}
        self._versions += 1
        metadata = {**policy["metadata"], "resourceVersion": str(self._versions)}
        nodes = dict.fromkeys(self.users(ref), entry)
        self.insides[ref.target][ref] = {**policy, "metadata": metadata, "status": {"nodes": nodes}}
