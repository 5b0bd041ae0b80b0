"""Shoots that the tests of Shoot semantics start from."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import jsonpatch

from gitops.gardener.shoot_merge import ShootMerge, Terms, merge_shoot, patch_of
from gitops.manifest import Element, Manifest, Path, Step

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def shoot(spec: Any = None, **metadata: Any) -> Manifest:
    """A Shoot as git declares it."""
    manifest = {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": "one", "namespace": "garden-local", **metadata},
    }
    return {**manifest, "spec": spec} if spec is not None else manifest


def live_shoot(spec: Any, **metadata: Any) -> Manifest:
    """A Shoot as the garden has it."""
    server = {"uid": "u1", "generation": 3, "resourceVersion": "100"}
    return {**shoot(spec, **server, **metadata), "status": {"observedGeneration": 3}}


def path_of(text: str) -> Path:
    """`spec.provider.workers[a].machine.type` as a path; elements are named by `name`, of extensions by `type`."""
    path: list[Step] = []
    for step in text.split("."):
        name, bracket, element = step.partition("[")
        path.append(name)
        if bracket:
            path.append(Element("type" if name == "extensions" else "name", element.rstrip("]")))
    return tuple(path)


def nothing_ignored(_: Path) -> str:
    return ""


def merged(
    declared: Manifest, live: Manifest, *, overlay: str = "dev", ignored: Callable[[Path], str] = nothing_ignored
) -> ShootMerge:
    """The merge of a Shoot with nothing inside."""
    return merge_shoot(declared, live, Terms(overlay, ignored=ignored))


def written(outcome: ShootMerge, server_time: datetime = NOON) -> Manifest:
    """What the garden has after the patch."""
    after = jsonpatch.apply_patch(copy.deepcopy(outcome.live), patch_of(outcome, server_time))
    after["metadata"]["resourceVersion"] = str(int(after["metadata"]["resourceVersion"]) + 1)
    return dict(after)


def reconciled(
    declared: Manifest, live: Manifest, *, overlay: str = "dev", ignored: Callable[[Path], str] = nothing_ignored
) -> Manifest:
    """What the garden has after one run."""
    outcome = merged(declared, live, overlay=overlay, ignored=ignored)
    return written(outcome) if outcome.writes else live


def spec_after(*declared: Any, live: Any) -> Any:
    """The live spec after one run for each of these declared specs, one after the other."""
    now = live_shoot(live)
    for spec in declared:
        now = reconciled(shoot(spec), now)
    return now["spec"]
