"""Fields whose value must be text although it often looks like a number, by kind.

`*` stands for every key of a map, or every element of a list. Shoot: gardener pkg/apis/core/v1beta1/types_shoot.go;
policies: nri-plugins config/crd/bases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Location: TypeAlias = tuple[str | int, ...]

_EVERY_KIND = ("metadata.labels.*", "metadata.annotations.*", "metadata.name", "metadata.namespace")
_BY_KIND = {
    ("core.gardener.cloud", "Shoot"): (
        "spec.cloudProfileName",
        "spec.cloudProfile.name",
        "spec.credentialsBindingName",
        "spec.secretBindingName",
        "spec.region",
        "spec.seedName",
        "spec.purpose",
        "spec.kubernetes.version",
        "spec.maintenance.timeWindow.begin",
        "spec.maintenance.timeWindow.end",
        "spec.hibernation.schedules.*.start",
        "spec.hibernation.schedules.*.end",
        "spec.networking.type",
        "spec.networking.nodes",
        "spec.networking.pods",
        "spec.networking.services",
        "spec.provider.type",
        "spec.provider.workers.*.name",
        "spec.provider.workers.*.labels.*",
        "spec.provider.workers.*.annotations.*",
        "spec.provider.workers.*.zones.*",
        "spec.provider.workers.*.kubernetes.version",
        "spec.provider.workers.*.machine.type",
        "spec.provider.workers.*.machine.image.version",
        "spec.provider.workers.*.volume.size",
        "spec.provider.workers.*.taints.*.value",
        "spec.provider.workers.*.sysctls.*",
        "spec.extensions.*.type",
        "spec.resources.*.name",
    ),
    ("", "ConfigMap"): ("data.*",),
    ("config.nri", "BalloonsPolicy"): (
        "spec.availableResources.*",
        "spec.reservedResources.*",
        "spec.cpuClasses.*.minFreq",
        "spec.cpuClasses.*.maxFreq",
        "spec.balloonTypes.*.name",
    ),
    ("config.nri", "TopologyAwarePolicy"): ("spec.availableResources.*", "spec.reservedResources.*"),
    ("config.nri", "TemplatePolicy"): ("spec.availableResources.*", "spec.reservedResources.*"),
}


Tree: TypeAlias = dict[str, "Tree"]


def _tree(patterns: Iterable[str]) -> Tree:
    """The patterns as one tree of steps, so that a manifest is walked once for all of them."""
    tree: Tree = {}
    for pattern in patterns:
        node = tree
        for step in pattern.split("."):
            node = node.setdefault(step, {})
    return tree


_OTHERS = _tree(_EVERY_KIND)
_TREES = {kind: _tree((*_EVERY_KIND, *patterns)) for kind, patterns in _BY_KIND.items()}


def not_strings(group: str, kind: str, manifest: Any) -> Iterator[tuple[Location, Any]]:
    """Every such field that holds something else, null and absence aside."""
    for at, value in _found(manifest, _TREES.get((group, kind), _OTHERS), ()):
        if value is not None and not isinstance(value, str):
            yield at, value


def _found(value: Any, tree: Tree, at: Location) -> Iterator[tuple[Location, Any]]:
    if not tree:
        yield at, value
    elif isinstance(value, dict):
        for step, below in tree.items():
            for key in value if step == "*" else (step,):
                if key in value:
                    yield from _found(value[key], below, (*at, key))
    elif isinstance(value, list) and "*" in tree:
        for position, item in enumerate(value):
            yield from _found(item, tree["*"], (*at, position))
