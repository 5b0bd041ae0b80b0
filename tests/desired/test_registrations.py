"""Registrations among an overlay's resources: what they must be, and how image vectors get into them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from gitops.desired.compose import Desired
from gitops.desired.whole import compose_whole
from gitops.errors import InvalidInput
from gitops.manifest import GARDEN, RUNTIME, Ref
from tests.desired.in_memory import Files

NOW = datetime(2026, 11, 30, tzinfo=UTC)
V1, V1BETA1 = "core.gardener.cloud/v1", "core.gardener.cloud/v1beta1"
OPERATOR = "operator.gardener.cloud/v1alpha1"
CHART = {"ociRepository": {"ref": "registry.example/nri:v1"}}
SHOOT = {"apiVersion": V1BETA1, "kind": "Shoot", "metadata": {"name": "one", "namespace": "garden-dev"}}
IMAGES = {"images": [{"name": "agent", "repository": "registry.example/agent", "tag": "v2"}]}


def deployment(version: str = V1, **body: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "ControllerDeployment", "metadata": {"name": "nri"}, **body}


def registration(*resources: Any, **deployment: Any) -> dict[str, Any]:
    spec = {"resources": list(resources), **({"deployment": deployment} if deployment else {})}
    return {"apiVersion": V1BETA1, "kind": "ControllerRegistration", "metadata": {"name": "nri"}, "spec": spec}


def extension(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": OPERATOR, "kind": "Extension", "metadata": {"name": "nri"}, "spec": spec}


def composed(*documents: Any, **spec: Any) -> Desired:
    overlay = {
        "apiVersion": "shoot-gitops/v1alpha1",
        "kind": "Overlay",
        "metadata": {"name": "dev"},
        "spec": {
            "garden": {"identity": "landscape-dev", "namespaces": ["garden-dev"]},
            "resources": ["../../clusters"],
            "waves": [{"name": "all"}],
            **spec,
        },
    }
    files = {
        "overlays/dev/overlay.yaml": yaml.safe_dump(overlay, sort_keys=False),
        "clusters/one.yaml": yaml.safe_dump(SHOOT),
        "clusters/nri.yaml": yaml.safe_dump_all(documents, sort_keys=False),
    }
    if not documents:
        del files["clusters/nri.yaml"]
    return compose_whole(Files(files), "dev", NOW)


def vector(registration: str = "ControllerDeployment", **more: Any) -> dict[str, Any]:
    return {"extension": "nri", "registration": registration, "form": "Object", "inline": IMAGES, **more}


def test_registrations_are_kept_apart_from_shoots_each_for_its_own_cluster() -> None:
    desired = composed(deployment(helm=CHART), registration({"kind": "Extension", "type": "nri"}), extension())

    assert list(desired.shoots) == ["garden-dev/one"]
    assert {(ref.target, ref.kind) for ref in desired.registrations} == {
        (GARDEN, "ControllerDeployment"),
        (GARDEN, "ControllerRegistration"),
        (RUNTIME, "Extension"),
    }


@pytest.mark.parametrize(
    ("document", "rule", "words"),
    [
        pytest.param(
            registration({"kind": "Extension", "type": "a", "globallyEnabled": True}),
            "globally-enabled",
            r"write `autoEnable: \[shoot\]`",
            id="globally enabled",
        ),
        pytest.param(
            registration({"kind": "Extension", "type": "a", "globallyEnabled": False}),
            "globally-enabled",
            "remove it, as that is the default",
            id="globally disabled",
        ),
        pytest.param(
            deployment(helm={"ociRepository": {"ref": "registry.example:5000/nri"}}),
            "chart-without-version",
            "registry.example:5000/nri' has no version",
            id="a reference without a version, with a port",
        ),
        pytest.param(
            deployment(helm={"ociRepository": {"repository": "registry.example/nri"}}),
            "chart-without-version",
            "add tag or digest",
            id="a repository alone",
        ),
        pytest.param(
            deployment(helm={"ociRepository": {"ref": "registry.example/nri:v1", "tag": "v2"}}),
            "chart-reference",
            "remove tag, or ref",
            id="a reference and a tag",
        ),
        pytest.param(
            extension(deployment={"admission": {"virtualCluster": {"helm": {"ociRepository": {"ref": "r/x"}}}}}),
            "chart-without-version",
            "has no version",
            id="the admission's chart",
        ),
        pytest.param(
            deployment(helm={**CHART, "rawChart": "AAAA"}), "two-charts", "keep one of the two", id="two charts"
        ),
        pytest.param(
            deployment(V1, providerConfig={}), "registration-version", "stand under helm", id="old field, new version"
        ),
        pytest.param(
            deployment(V1BETA1, helm=CHART), "registration-version", "under providerConfig", id="new field, old version"
        ),
        pytest.param(deployment(V1BETA1, type="bosh"), "deployment-type", "must be helm", id="another type"),
        pytest.param(
            deployment("core.gardener.cloud/v2"), "registration-version", "v1 or core.gardener.cloud/v1beta1", id="v2"
        ),
        pytest.param(
            {**extension(), "apiVersion": "operator.gardener.cloud/v1"}, "registration-version", "v1alpha1", id="v1"
        ),
        pytest.param(
            {**extension(), "metadata": {"name": "nri", "namespace": "garden"}},
            "needless-namespace",
            "cluster-scoped",
            id="a namespace",
        ),
        pytest.param(
            registration({"kind": "Extension", "type": "a"}, {"kind": "Extension", "type": "a"}),
            "duplicate-element",
            "twice",
            id="a resource twice",
        ),
        pytest.param(registration({"kind": "Extension"}), "no-list-key", "kind and type", id="no type"),
        pytest.param(
            registration({"kind": "Extension", "type": "a", "autoEnable": ["garden"]}),
            "cluster-type",
            "shoot, seed",
            id="garden in the garden",
        ),
        pytest.param(
            registration({"kind": "Extension", "type": "a", "autoEnable": ["seed"]}),
            "cluster-type",
            r"autoEnable names seed, and clusterCompatibility \(shoot\) does not",
            id="not compatible",
        ),
        pytest.param(
            registration({"kind": "Network", "type": "a", "autoEnable": ["shoot"]}),
            "cluster-type",
            "kind Extension only",
            id="a network on by default",
        ),
        pytest.param(
            registration({"kind": "Extension", "type": "a"}, seedSelector={"matchLabels": {"a": "b"}}),
            "seed-selector",
            "forbidden where a resource is primary",
            id="seed selector",
        ),
        pytest.param(registration(policy="Never"), "deployment-policy", "OnDemand", id="policy"),
        pytest.param({**deployment(), "status": {}}, "server-field", "status", id="a status"),
    ],
)
def test_what_gardener_would_refuse_or_drop_is_an_error(document: Any, rule: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refusal:
        composed(document)
    assert {(found.rule, found.file) for found in refusal.value.violations} == {(rule, "clusters/nri.yaml")}
    assert all(found.line for found in refusal.value.violations)


def test_one_object_in_two_versions_is_declared_twice() -> None:
    with pytest.raises(InvalidInput, match="declared-twice"):
        composed(deployment(V1, helm=CHART), deployment(V1BETA1, type="helm"))


@pytest.mark.parametrize(
    ("document", "entry", "ref", "places"),
    [
        pytest.param(
            deployment(V1, helm={**CHART, "values": {"replicas": 1}}),
            vector(),
            Ref(GARDEN, V1, "ControllerDeployment", "", "nri"),
            [("helm", "values")],
            id="v1",
        ),
        pytest.param(
            deployment(V1BETA1, type="helm", providerConfig={"values": {"replicas": 1}}),
            vector(),
            Ref(GARDEN, V1BETA1, "ControllerDeployment", "", "nri"),
            [("providerConfig", "values")],
            id="v1beta1",
        ),
        pytest.param(
            extension(deployment={"extension": {"values": {"replicas": 1}}}),
            vector("Extension"),
            Ref(RUNTIME, OPERATOR, "Extension", "", "nri"),
            [("spec", "deployment", "extension", key) for key in ("values", "runtimeClusterValues")],
            id="operator",
        ),
        pytest.param(
            None, vector(), Ref(GARDEN, V1, "ControllerDeployment", "", "nri"), [("helm", "values")], id="undeclared"
        ),
    ],
)
def test_an_image_vector_becomes_chart_values_of_the_declared_object(
    document: Any, entry: Any, ref: Ref, places: list[tuple[str, ...]]
) -> None:
    desired = composed(*([document] if document else []), imageVectors=[entry])

    manifest: Any = desired.registrations[ref]
    for place in places:
        values = manifest
        for step in place:
            values = values[step]
        assert values["imageVectorOverwrite"] == IMAGES
    assert list(desired.registrations) == [ref]
    assert ("replicas" in str(manifest)) is bool(document)


def test_the_controllers_own_image_stands_beside_what_else_is_declared_of_it() -> None:
    declared = deployment(V1, helm={**CHART, "values": {"image": {"pullPolicy": "Always"}}})
    entry = {"extension": "nri", "registration": "ControllerDeployment", "form": "String", "image": {"tag": "v2"}}

    (manifest,) = composed(declared, imageVectors=[entry]).registrations.values()

    assert manifest["helm"]["values"] == {"image": {"pullPolicy": "Always", "tag": "v2"}}


def test_values_that_are_declared_in_two_places_are_an_error() -> None:
    declared = deployment(V1, helm={**CHART, "values": {"imageVectorOverwrite": "images: []"}})

    with pytest.raises(InvalidInput, match=r"overlay.yaml:\d+: .*imageVectorOverwrite .* declared in clusters/nri"):
        composed(declared, imageVectors=[vector()])


def test_a_patch_changes_a_registration_and_never_deletes_or_renames_it() -> None:
    target = {"kind": "ControllerDeployment"}
    replaced = {"op": "add", "path": "/helm/values", "value": {"replicas": 3}}

    (patched,) = composed(
        deployment(helm=CHART), patches=[{"target": target, "patch": [replaced]}]
    ).registrations.values()

    assert patched["helm"]["values"] == {"replicas": 3}
    for patch, words in (
        ([{"op": "replace", "path": "/metadata/name", "value": "x"}], "patch-renames-registration"),
        ({**deployment(), "$patch": "delete"}, "cannot delete a ControllerDeployment"),
    ):
        with pytest.raises(InvalidInput, match=words):
            composed(deployment(helm=CHART), patches=[{"target": target, "patch": patch}])
