"""Overlays, declared shoots and what is observed of them, for plans and rollouts."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gitops.desired.compose import Desired, DesiredShoot, Origin
from gitops.desired.overlay import Concurrency, Garden, IgnoreRule, Overlay, Unit, Wave
from gitops.gardener.shoot_merge import new_shoot
from gitops.manifest import GARDEN, Element, Manifest, Path, Ref, ref_of
from gitops.ownership import FIELD_MANAGER
from gitops.ownership.applyset import member_labels
from gitops.plan.observed import Inside, Observed
from gitops.plan.shoot import terms_of
from tests.plan.apply_model import applied

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TIME = "2026-11-30T10:00:00Z"
REVISION = "1" * 40
TARGET = "garden-local/one"


def wave(name: str, **changes: Any) -> Wave:
    """A wave of one shoot at a time that allows no failure."""
    plain = Wave(name, None, Concurrency(1, Unit.SHOOTS), 0, NOON - NOON, 1)
    return replace(plain, **changes)


def overlay(*waves: Wave, **changes: Any) -> Overlay:
    garden = Garden("landscape-dev", ("garden-local",))
    plain = Overlay("dev", "overlays/dev/overlay.yaml", garden, (), waves or (wave("all"),))
    return replace(plain, **changes)


def policy(name: str = "default", **spec: Any) -> Manifest:
    return {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": spec or {"pinCPU": True},
    }


def core(kind: str, name: str, **content: Any) -> Manifest:
    metadata = {"name": name} if kind == "Namespace" else {"name": name, "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **content}


COMPLETE = {"cloudProfile": {"name": "local"}, "region": "local", "provider": {"type": "local"}}
NRI = {"extensions": [{"type": "nri", "disabled": False}]}


def declared(
    *objects: Manifest,
    name: str = "one",
    spec: Any = None,
    in_wave: str = "all",
    ignored: tuple[IgnoreRule, ...] = (),
) -> DesiredShoot:
    """A declared shoot with what belongs inside it."""
    target = f"garden-local/{name}"
    shoot = {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": name, "namespace": "garden-local"},
        "spec": copy.deepcopy(NRI if spec is None else spec),
    }
    inside = {ref_of(target, manifest): manifest for manifest in objects}
    origins = {ref: Origin("policies/all.yaml", line) for line, ref in enumerate(inside, start=1)}
    origins[ref_of(GARDEN, shoot)] = Origin(f"clusters/{name}.yaml", 1)
    return DesiredShoot(target, shoot, dict(sorted(inside.items())), in_wave, ignored, origins)


def ignoring(kind: str, *path: str | Element) -> IgnoreRule:
    return IgnoreRule(kind, (tuple(path),), None, 1)


def desired(*shoots: DesiredShoot, by: Overlay | None = None) -> Desired:
    ordered = {shoot.target: shoot for shoot in sorted(shoots, key=lambda shoot: shoot.target)}
    return Desired(by or overlay(), REVISION, ordered, ())


def live_shoot(shoot: DesiredShoot, **changes: Any) -> Manifest:
    """The Shoot as it is after a run, recorded and all."""
    live = new_shoot(shoot.shoot, terms_of(shoot, "dev"))
    live["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 1}
    return {**live, **changes}


def live_objects(
    *objects: Manifest, by: str = FIELD_MANAGER, labels: Mapping[str, str] | None = None
) -> list[Manifest]:
    """The objects as they are after a run: applied by us with our labels."""
    labels = member_labels("dev") if labels is None else labels
    found = []
    for manifest in objects:
        member = {**manifest, "metadata": {**manifest["metadata"], "labels": dict(labels)}}
        live = applied(None, member, by, TIME)
        live["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 1}
        found.append(live)
    return found


def inside(
    objects: Iterable[Manifest] = (),
    *,
    name: str = "one",
    nodes: int = 0,
    unserved: Iterable[tuple[str, str]] = (),
    **more: Any,
) -> Inside:
    """What one shoot holds."""
    state = {ref_of(f"garden-local/{name}", manifest): manifest for manifest in objects}
    machines = tuple({"kind": "Node", "metadata": {"name": f"node-{number}"}} for number in range(nodes))
    return Inside(state, machines, frozenset(unserved), **more)


def observed(shoot: Manifest | None, within: Any = None) -> Observed:
    return Observed(shoot, NOON, inside() if within is None else within)


def dry_run(live: Manifest | None, manifest: Manifest) -> Manifest:
    """What the server would make of applying a member."""
    member = {**manifest, "metadata": {**manifest["metadata"], "labels": member_labels("dev")}}
    return applied(live, member, FIELD_MANAGER, "2026-11-30T12:00:00Z")


def ref(manifest: Manifest, target: str = TARGET) -> Ref:
    return ref_of(target, manifest)


def path(text: str) -> Path:
    """`/spec/a` as a path of map keys."""
    return tuple(text.strip("/").split("/"))
