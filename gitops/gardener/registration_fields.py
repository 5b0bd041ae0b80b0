"""What the fields of a registration mean for ownership: keyed lists, equality, and where chart values stand.

Rules are those of gardener v1.149: pkg/apis/core/v1beta1/types_controllerregistration.go and
types_controllerdeployment.go, pkg/apis/core/v1/types_controllerdeployment.go, and
pkg/apis/operator/v1alpha1/types_extension.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitops.manifest import GARDEN, RUNTIME, Manifest, Path, Ref, Target, get, ref_of
from gitops.ownership.equality import same, same_duration
from gitops.ownership.lists import KeyedList, ListKeys
from gitops.ownership.merge import ABSENT, MergeRules

CORE = "core.gardener.cloud/v1beta1"
CORE_V1 = "core.gardener.cloud/v1"
OPERATOR = "operator.gardener.cloud/v1alpha1"

REGISTRATION = (CORE, "ControllerRegistration")
INSTALLATION = (CORE, "ControllerInstallation")
EXTENSION = (OPERATOR, "Extension")
VALUES_AT = {
    (CORE_V1, "ControllerDeployment"): (("helm", "values"),),
    (CORE, "ControllerDeployment"): (("providerConfig", "values"),),
    EXTENSION: (
        ("spec", "deployment", "extension", "values"),
        ("spec", "deployment", "extension", "runtimeClusterValues"),
    ),
}
"""Where each kind that carries a chart keeps the chart's values; an operator Extension once for the seeds and once for
the runtime cluster, and neither is merged into the other."""
IMAGE_VALUES = ("imageVectorOverwrite", "componentImageVectorOverwrites", "image")
"""Chart values that say which images run."""

_OPAQUE = frozenset({"values", "runtimeClusterValues", "chart", "rawChart"})
_RESOURCES = KeyedList("kind", also=("type",))
_LISTS: dict[str, ListKeys] = {
    "ControllerRegistration": {
        ("spec", "resources"): _RESOURCES,
        ("spec", "deployment", "deploymentRefs"): KeyedList("name"),
    },
    "ControllerDeployment": {("resources",): KeyedList("name", defined_by=("resourceRef",))},
    "Extension": {
        ("spec", "resources"): _RESOURCES,
        ("spec", "deployment", "resources"): KeyedList("name", defined_by=("resourceRef",)),
    },
}
_REQUIRED: dict[tuple[str, str], tuple[tuple[Path, ...], ...]] = {
    REGISTRATION: ((("spec", "resources"),),),
    (CORE_V1, "ControllerDeployment"): ((("helm", "ociRepository"), ("helm", "rawChart")),),
    (CORE, "ControllerDeployment"): (
        (("type",),),
        (("providerConfig", "ociRepository"), ("providerConfig", "chart")),
    ),
    EXTENSION: ((("spec", "resources"),), (("spec", "deployment"),)),
}


def target_of(kind: str) -> Target:
    """Which API server has a kind of registration."""
    return RUNTIME if kind == "Extension" else GARDEN


def registration_ref(manifest: Manifest) -> Ref:
    """The Ref of a registration as git declares it."""
    return ref_of(target_of(manifest["kind"]), manifest)


def lists_of(kind: str) -> ListKeys:
    """Lists of a kind whose elements have owners of their own."""
    return _LISTS[kind]


def registration_rules(kind: str, ignored: Callable[[Path], str]) -> MergeRules:
    """The rules for merging one registration.

    Args:
        kind: of the object.
        ignored: why the overlay leaves a path alone, or empty.
    """
    return MergeRules(lists_of(kind), _same, lambda path, _live, _desired: ignored(path))


def missing_to_be_created(declared: Manifest) -> tuple[str, ...]:
    """What a declared object lacks to be created, such as `/helm/ociRepository or /helm/rawChart`."""
    groups = _REQUIRED[declared["apiVersion"], declared["kind"]]
    return tuple(
        " or ".join("/" + "/".join(map(str, path)) for path in group)
        for group in groups
        if not any(get(declared, *map(str, path)) for path in group)
    )


def image_values(manifest: Manifest) -> dict[str, Any]:
    """The chart values of an object that say which images run; empty for one that has none."""
    places = VALUES_AT.get((manifest["apiVersion"], manifest["kind"]), ())
    values = get(manifest, *places[0]) if places else None
    return {key: values[key] for key in IMAGE_VALUES if isinstance(values, dict) and key in values}


def _same(path: Path, live: Any, desired: Any) -> bool:
    if desired == {} and live is not ABSENT:
        return isinstance(live, dict)
    if _OPAQUE & {step for step in path if isinstance(step, str)}:
        return live is not ABSENT and same(live, desired)
    if live is ABSENT:
        return desired in ({}, [])
    return same_duration(live, desired) if path[-1] == "reconcileTimeout" else same(live, desired)
