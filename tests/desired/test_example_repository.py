"""The example repository at this project's root."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gitops.desired.compose import Desired, compose
from gitops.desired.overlay_file import overlay_names
from gitops.manifest import Manifest, get
from tests.control_plane.garden import Garden
from tests.control_plane.objects import EXTENSION_TYPES, KUBERNETES_VERSIONS, MACHINE_TYPES
from tests.desired.in_memory import Files

ROOT = Path(__file__).parents[2]
FILES = {
    str(path.relative_to(ROOT)): path.read_bytes()
    for folder in ("clusters", "overlays", "policies")
    for path in (ROOT / folder).rglob("*.yaml")
}
ARTIFACT = Files(FILES)
DESIRED = {name: compose(ARTIFACT, name) for name in overlay_names(ARTIFACT)}
SHOOTS = [pytest.param(shoot, id=target) for desired in DESIRED.values() for target, shoot in desired.shoots.items()]
DEV = DESIRED["dev"]


@pytest.fixture(params=DESIRED.values(), ids=list(DESIRED))
def desired(request: pytest.FixtureRequest) -> Desired:
    found: Desired = request.param
    return found


def policy_schema() -> Any:
    """The CRD's schema with pruning turned into refusal, as strict field validation does."""
    crd = yaml.safe_load((ROOT / "tests/data/crds/config.nri_balloonspolicies.yaml").read_text())
    return _strict(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items() if not key.startswith("x-kubernetes-validations")}
    if isinstance(strict.get("properties"), dict) and strict.get("type") == "object":
        inner = strict["properties"]
        if inner and "additionalProperties" not in strict and "metadata" not in inner:
            strict["additionalProperties"] = False
    return strict


def test_there_are_enough_shoots_of_different_shapes(desired: Desired) -> None:
    assert desired.warnings == ()
    assert len(DEV.shoots) >= 5
    assert {wave.name for wave in desired.overlay.waves} == {shoot.wave for shoot in desired.shoots.values()}


def test_dev_can_converge_by_itself() -> None:
    for shoot in DEV.shoots.values():
        assert not get(shoot.shoot, "spec", "hibernation", "enabled")
        assert not get(shoot.shoot, "spec", "maintenance", "confineSpecUpdateRollout")
    assert [shoot.wave for shoot in DEV.shoots.values()].count("canary") == 1


def test_the_workerless_shoot_gets_nothing() -> None:
    workerless = DEV.shoots["garden-local/api-only"]
    assert get(workerless.shoot, "spec", "provider", "workers") is None
    assert get(workerless.shoot, "spec", "extensions") is None
    assert not workerless.objects


def test_the_overlays_patch_differently() -> None:
    reserved = {
        (target, ref.name): manifest["spec"]["reservedResources"]["cpu"]
        for desired in DESIRED.values()
        for target, shoot in desired.shoots.items()
        for ref, manifest in shoot.objects.items()
    }
    assert reserved["garden-local/alpha", "default"] == "1"
    assert reserved["garden-local/web", "default"] == "2"
    assert reserved["garden-prod/trading", "group.latency"] == "4"


def test_policies_satisfy_the_definition_of_their_kind(desired: Desired) -> None:
    schema = policy_schema()
    for shoot in desired.shoots.values():
        for manifest in shoot.objects.values():
            jsonschema.validate(manifest, schema)


def test_groups_on_nodes_have_their_policy(desired: Desired) -> None:
    """A node in a group without a policy has no configuration at all: nothing falls back to `default`."""
    for shoot in desired.shoots.values():
        names = {ref.name for ref in shoot.objects}
        for worker in get(shoot.shoot, "spec", "provider", "workers") or []:
            if group := get(worker, "labels", "config.nri/group"):
                assert f"group.{group}" in names


def test_networks_do_not_overlap() -> None:
    networks = [
        ip_network(get(shoot.shoot, "spec", "networking", key))
        for desired in DESIRED.values()
        for shoot in desired.shoots.values()
        for key in ("nodes", "pods", "services")
        if get(shoot.shoot, "spec", "networking", key)
    ]
    assert len(networks) >= 20
    assert not [(a, b) for a in networks for b in networks if a is not b and a.overlaps(b)]


def test_everything_named_is_known_to_the_test_landscape(desired: Desired) -> None:
    for shoot in desired.shoots.values():
        version = get(shoot.shoot, "spec", "kubernetes", "version")
        assert any(known.startswith(version + ".") for known in KUBERNETES_VERSIONS)
        for worker in get(shoot.shoot, "spec", "provider", "workers") or []:
            assert worker["machine"] == {"type": worker["machine"]["type"]}
            assert worker["machine"]["type"] in MACHINE_TYPES
        for entry in get(shoot.shoot, "spec", "extensions") or []:
            assert entry["type"] in EXTENSION_TYPES


@pytest.mark.control_plane
@pytest.mark.parametrize("shoot", SHOOTS)
def test_gardener_accepts_every_shoot(garden: Garden, shoot: Any) -> None:
    manifest: Manifest = {**shoot.shoot, "metadata": {**shoot.shoot["metadata"]}}
    del manifest["metadata"]["namespace"]
    created = garden.create_shoot(manifest)
    assert created["metadata"]["name"] == manifest["metadata"]["name"]
