"""The overlay's JSON Schema: what editors complete, what `gitops schema` prints, and what overlays are checked with."""

from __future__ import annotations

from typing import Any

from gitops.nri.prerequisites.wanted import DEFAULT_IMAGE

_NAME = {"type": "string", "minLength": 1}
_DURATION = {
    "type": "string",
    "pattern": r"^([0-9]{1,6}(\.[0-9]{1,6})?(h|m|s|ms))+$",
    "description": "a duration such as 10m or 1h30m",
}
_SELECTOR = {
    "type": "object",
    "description": "a metav1.LabelSelector over the labels that git declares on the Shoots; absent means every shoot",
    "additionalProperties": False,
    "properties": {
        "matchLabels": {"type": "object", "additionalProperties": {"type": "string"}},
        "matchExpressions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["key", "operator"],
                "properties": {
                    "key": _NAME,
                    "operator": {
                        "enum": ["In", "NotIn", "Exists", "DoesNotExist"],
                        "description": "In, NotIn, Exists or DoesNotExist",
                    },
                    "values": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}
_PATTERN = {"type": "string", "description": "a regular expression that must match as a whole"}
_TARGET = {
    "type": "object",
    "description": "which objects the patch changes, as in kustomize",
    "additionalProperties": False,
    "properties": {
        "group": _PATTERN,
        "version": _PATTERN,
        "kind": _PATTERN,
        "name": _PATTERN,
        "namespace": _PATTERN,
        "labelSelector": {"type": "string", "description": "a label selector such as app=web,tier in (a,b)"},
        "annotationSelector": {"type": "string", "description": "a selector over annotations"},
    },
}


def _list(item: dict[str, Any], description: str, *, at_least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": at_least, "description": description}


def _map(required: list[str], description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


_GARDEN = _map(
    ["identity", "namespaces"],
    "which garden this is for, and where in it the overlay may write",
    identity={**_NAME, "description": "what ConfigMap kube-system/cluster-identity says; else nothing is touched"},
    namespaces=_list(
        _NAME,
        "the only namespaces whose Shoots may be written; the first also holds the overlay's lease, records, "
        "suspensions, approvals and rollback, and should stay the first",
        at_least=1,
    ),
)
_POLICY = _map(
    ["path"],
    "manifests for inside the shoots",
    path={**_NAME, "description": "a file or folder, relative to this file"},
    shoots=_SELECTOR,
)
_EXTENSION = _map(
    ["type", "state"],
    "an extension of Gardener on the shoots it is for",
    type={**_NAME, "description": "Shoot.spec.extensions[].type"},
    state={"enum": ["Enabled", "Disabled"], "description": "Enabled or Disabled"},
    providerConfig={"description": "any YAML, handed to the extension as it is"},
    replaces=_list(_NAME, "types this one takes over from, disabled in the same write"),
    shoots=_SELECTOR,
)
_VECTOR: dict[str, dict[str, Any]] = {
    "path": {**_NAME, "description": "a file that holds the vector, relative to this file"},
    "inline": {"type": "object", "description": "the vector itself: a map with a list `images`"},
}
_IMAGE_VECTOR = _map(
    ["extension", "registration", "form"],
    "images of an extension, provided as Gardener wants it: exactly one of path and inline, or only image",
    extension={**_NAME, "description": "the ControllerDeployment, or operator Extension, to write to"},
    registration={
        "enum": ["ControllerDeployment", "Extension"],
        "description": "ControllerDeployment, or Extension in a landscape of gardener-operator",
    },
    form={"enum": ["String", "Object"], "description": "how the extension's chart wants it: String or Object"},
    **_VECTOR,
    base={
        **_NAME,
        "description": "the extension's own vector, relative to this file, to prove that the overwrite wins",
    },
    needs=_list(_NAME, "images that the extension's chart pulls, to prove that a vector has them"),
    image=_map(
        [],
        "the image of the extension's own controller",
        repository={**_NAME, "description": "where it is pulled from"},
        tag={**_NAME, "description": "its tag or digest"},
    ),
    components=_list(
        _map(
            ["name"],
            "an overwrite for a component that the extension deploys: exactly one of path and inline",
            name={**_NAME, "description": "the component's name"},
            **_VECTOR,
        ),
        "overwrites for components that the extension deploys",
    ),
)
_PATCH = {
    **_map(
        [],
        "a patch in kustomize's syntax and meaning, applied per shoot: exactly one of patch and path",
        target=_TARGET,
        shoots=_SELECTOR,
        patch={
            "type": ["string", "array", "object"],
            "description": "JSON 6902 operations, or strategic merge documents; as text or as YAML",
        },
        path={**_NAME, "description": "a file that holds the patch, relative to this file"},
    ),
    "oneOf": [{"required": ["patch"]}, {"required": ["path"]}],
}
_IGNORE = _map(
    ["kind", "paths"],
    "fields that somebody else may change",
    kind=_NAME,
    paths=_list(
        {
            "type": "string",
            "pattern": "^/.",
            "description": "a path such as /spec/hibernation/enabled or /spec/extensions/[type=x]/disabled",
        },
        "each covers everything below it",
        at_least=1,
    ),
    shoots=_SELECTOR,
)
_PREREQUISITES = _map(
    [],
    "what must hold on every node before its Shoot is written",
    dbus={
        "enum": ["Install", "Require", "Ignore"],
        "description": "Install, Require or Ignore: the system bus; Install repairs nodes one after the other",
        "default": "Ignore",
    },
    nri={
        "enum": ["Enable", "Require", "Ignore"],
        "description": "Enable, Require or Ignore: NRI of the container runtime; Enable may restart containerd",
        "default": "Ignore",
    },
    cgroupV2={"enum": ["Require", "Ignore"], "description": "Require or Ignore", "default": "Ignore"},
    image={
        **_NAME,
        "description": "what looks at nodes and repairs them runs in it; it needs sh, chroot and nsenter",
        "default": DEFAULT_IMAGE,
    },
    pullSecret={**_NAME, "description": "a Secret in kube-system of the shoot, to pull the image with"},
)
_VERIFICATION = _map(
    [],
    "proof that containers run on the CPUs that the policies give them, as the last gate of every shoot",
    placement={"enum": ["Require", "Ignore"], "description": "Require or Ignore", "default": "Ignore"},
    instance={**_NAME, "description": "app.kubernetes.io/instance of the plugin's DaemonSet; absent means any"},
)
_MACHINE = _map(
    ["type", "shape"],
    "what the machines of one type are like, which no CloudProfile tells",
    type={**_NAME, "description": "a machine type of the CloudProfile"},
    shape={
        "type": "string",
        "description": "packages x NUMA nodes per package x cores per node x threads per core, and memory, such as "
        "2x2x8x2 or 2x2x8x2:64Gi",
    },
    isolated={"type": "string", "description": "CPUs of the kernel's isolcpus, such as 2-3,10"},
)
_WINDOW = _map(
    ["schedule", "duration"],
    "times at which shoots of the wave may be started",
    schedule={**_NAME, "description": "a cron expression: minute, hour, day of month, month, day of week"},
    duration={**_DURATION, "description": "a duration such as 4h: how long it stays open, in real time"},
    zone={**_NAME, "description": "where the schedule's times are local, such as Europe/Berlin", "default": "UTC"},
)
_WAVE = _map(
    ["name"],
    "one step of the rollout; a shoot is in the first wave whose selector matches",
    name=_NAME,
    shoots=_SELECTOR,
    maxConcurrent={
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^([1-9][0-9]?|100)%$"}],
        "description": "how many shoots may be in flight: a number from 1, or a share of the wave such as 25%",
        "default": 1,
    },
    maxFailures={
        "type": "integer",
        "minimum": 0,
        "description": "how many shoots may fail before the rollout stops: a number from 0",
        "default": 0,
    },
    soak={**_DURATION, "default": "0s"},
    approval={
        "enum": ["Required", "NotRequired"],
        "description": "Required or NotRequired: whether somebody must approve of the plan, by `gitops approve`",
        "default": "NotRequired",
    },
    windows=_list(_WINDOW, "when shoots of the wave may be started; absent means always", at_least=1),
)
_NODE_WAVE = _map(
    ["policies"],
    "policies that are written together, before those of the waves that follow",
    policies=_list(
        {
            "type": "string",
            "pattern": r"^(default|group\..+|node\..+)$",
            "description": "default, group.<GROUP> or node.<NODE>; * stands for any text, such as node.*",
        },
        "names of policies",
        at_least=1,
    ),
)

OVERLAY_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "shoot-gitops overlay",
    **_map(
        ["apiVersion", "kind", "metadata", "spec"],
        "which Shoots, policies and extensions go where, and in which waves",
        apiVersion={"const": "shoot-gitops/v1alpha1", "description": "shoot-gitops/v1alpha1"},
        kind={"const": "Overlay", "description": "Overlay"},
        metadata=_map(["name"], "the overlay's name", name={**_NAME, "description": "the name of its folder"}),
        spec=_map(
            ["garden", "resources", "waves"],
            "what the overlay declares",
            garden=_GARDEN,
            resources=_list(_NAME, "Shoots: files or folders, relative to this file", at_least=1),
            policies=_list(_POLICY, "what goes into the shoots"),
            extensions=_list(_EXTENSION, "which extensions are on and off"),
            imageVectors=_list(_IMAGE_VECTOR, "images of extensions"),
            patches=_list(_PATCH, "changes to all of the above, in order"),
            ignore=_list(_IGNORE, "fields that are neither reported as drift nor written"),
            machines=_list(_MACHINE, "machine types whose topology matters to policies"),
            prerequisites=_PREREQUISITES,
            verification=_VERIFICATION,
            waves=_list(_WAVE, "the order of the rollout", at_least=1),
            nodeWaves=_list(_NODE_WAVE, "the order of the nodes inside each shoot; all other policies come last"),
            gate=_map(
                [],
                "how long the rollout waits for what it wrote",
                timeout={**_DURATION, "default": "45m"},
                quarantineAfter={**_DURATION, "default": "5m"},
            ),
            adopt=_list(
                {"enum": ["Flux", "ArgoCD", "Helm"], "description": "Flux, ArgoCD or Helm"},
                "tools whose objects may be taken over; an object of any other tool is refused",
            ),
            prune=_map(
                [],
                "the deletion budget",
                maxDeletions={
                    "type": "integer",
                    "minimum": 0,
                    "description": "the most objects one run may delete: a number from 0",
                    "default": 10,
                },
            ),
        ),
    ),
}
