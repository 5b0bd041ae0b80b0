"""What changing a field of a Shoot does to the running cluster.

Source: gardener docs/usage/shoot-operations/shoot_updates.md ("rolling update triggers") and
pkg/utils/gardener/shoot.go, worker pool hash.
"""

from __future__ import annotations

import re
from enum import IntEnum

from gitops.manifest import Element, Path
from gitops.ownership.merge import ABSENT, Difference


class Effect(IntEnum):
    """What a running cluster feels, least first."""

    NOTHING = 0
    CONTROL_PLANE = 1
    NODE_ROLL = 2


_NODE_ROLL = re.compile(
    r"^/spec/(kubernetes/kubelet|provider/workers/\*/kubernetes/kubelet)/(kubeReserved|evictionHard|cpuManagerPolicy)(/|$)"
    r"|^/spec/provider/workers/\*(/(machine|volume|dataVolumes|providerConfig|cri/name)(/|$)|$)"
    r"|^/spec/systemComponents/nodeLocalDNS/enabled$"
)
_VERSION = re.compile(r"^/spec/(kubernetes|provider/workers/\*/kubernetes)/version$")
_CONTROL_PLANE = re.compile(
    r"^/spec/(addons|dns|networking|seedName|controlPlane|systemComponents"
    r"|kubernetes/(kubeAPIServer|kubeControllerManager|kubeScheduler|clusterAutoscaler|verticalPodAutoscaler|etcd)"
    r"|hibernation/enabled|provider/(infrastructureConfig|controlPlaneConfig))(/|$)"
)


def effect_of(difference: Difference) -> Effect:
    """What writing one difference does; a kept one does nothing."""
    if difference.kept:
        return Effect.NOTHING
    where = "".join("/" + ("*" if isinstance(step, Element) else step) for step in difference.path)
    if _VERSION.match(where):
        return _version_effect(str(difference.live), str(difference.desired))
    if _NODE_ROLL.match(where):
        return Effect.NODE_ROLL
    return Effect.CONTROL_PLANE if _CONTROL_PLANE.match(where) else Effect.NOTHING


def total_effect(differences: tuple[Difference, ...]) -> Effect:
    """What writing all of them does. A pool that is new has no machines yet to be replaced."""
    return max(map(effect_of, _felt(differences)), default=Effect.NOTHING)


def rolled_pools(differences: tuple[Difference, ...]) -> tuple[str, ...] | None:
    """Names of the worker pools whose machines are replaced; None for all of them."""
    rolling = [d.path for d in _felt(differences) if effect_of(d) is Effect.NODE_ROLL]
    names = {step.value for path in rolling for step in path[3:4] if isinstance(step, Element)}
    return None if any(not _in_pool(path) for path in rolling) else tuple(sorted(names))


def _felt(differences: tuple[Difference, ...]) -> list[Difference]:
    new = {d.path[:4] for d in differences if _in_pool(d.path) and d.path[4:] == ("name",) and d.live is ABSENT}
    return [d for d in differences if d.path[:4] not in new]


def _in_pool(path: Path) -> bool:
    return path[:3] == ("spec", "provider", "workers") and len(path) > 3


def _version_effect(live: str, desired: str) -> Effect:
    """A new minor version rolls nodes; a patch release only the control plane, and kubelets in place."""
    return Effect.CONTROL_PLANE if live.split(".")[:2] == desired.split(".")[:2] else Effect.NODE_ROLL
