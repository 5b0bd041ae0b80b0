"""What `gitops verify` found in one shoot, and its JSON; text and pictures are drawn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Target
from gitops.nri.cpu_topology import CpuTopology
from gitops.nri.cpuset import cpuset_text
from gitops.nri.placement.told import Balloon, Told
from gitops.nri.placement.verification import Verification
from gitops.plan.document import API_VERSION


@dataclass(frozen=True)
class ShootPlacement:
    """One shoot."""

    shoot: Target
    verification: Verification | None
    """None where it could not be observed."""
    unobserved: str
    """Why not; empty where it was."""
    topologies: Mapping[str, CpuTopology]
    """By node, where somebody has looked at the node."""

    @property
    def proven(self) -> bool:
        """Whether every container is known to be where it belongs."""
        return self.verification is not None and not self.verification.deviations


def balloons_of(told: Told) -> list[Balloon]:
    """By name, numbers as numbers."""
    return sorted(told.balloons.values(), key=lambda balloon: (balloon.type, len(balloon.name), balloon.name))


def containers_of(told: Told, balloon: str) -> list[str]:
    """What runs in a balloon."""
    return sorted(container for container, name in told.assignments.items() if name == balloon)


def placement_document(overlay: str, shoots: Sequence[ShootPlacement]) -> dict[str, Any]:
    """The answer of `verify -o json`."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Placement",
        "overlay": overlay,
        "proven": all(shoot.proven for shoot in shoots),
        "shoots": [_shoot(shoot) for shoot in shoots],
    }


def _shoot(shoot: ShootPlacement) -> dict[str, Any]:
    found = shoot.verification
    return {
        "shoot": shoot.shoot,
        "proven": shoot.proven,
        "message": shoot.unobserved if found is None else found.verdict.message,
        "nodes": [] if found is None else [_node(name, told) for name, told in sorted(found.told.items())],
        "containers": []
        if found is None
        else [
            {"container": p.container, "node": p.node, "balloon": p.balloon, "expected": p.expected, "reason": p.reason}
            for p in found.placed
        ],
        "deviations": []
        if found is None
        else [
            {"node": d.node, "pod": d.pod, "container": d.container, "rule": d.rule, "message": d.message}
            for d in found.deviations
        ],
    }


def _node(name: str, told: Told) -> dict[str, Any]:
    balloons = [
        {
            "name": balloon.name,
            "cpus": cpuset_text(balloon.cpus),
            "shared": cpuset_text(balloon.shared),
            "containers": containers_of(told, balloon.name),
        }
        for balloon in balloons_of(told)
    ]
    return {"node": name, "toldBy": told.voice.value, "balloons": balloons}
