"""What a write to a Shoot does on the real API: the truths that the pipeline rests on."""

from typing import Any

import pytest

from tests.actors.gardenlet import Gardenlet
from tests.control_plane.client import HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

FOREIGN = {"type": "registry-cache", "providerConfig": {"a": 1}}
OURS = {"type": "cri-resmgr-extension", "disabled": False}
RECONCILE = {"gardener.cloud/operation": "reconcile"}


@pytest.fixture
def path(garden: Garden) -> str:
    """Path of a Shoot with a foreign extension that was reconciled once."""
    garden.create_shoot(shoot("one", extensions=[FOREIGN]))
    Gardenlet(garden.client, garden.namespace).settle()
    return garden.shoot_path("one")


def types(manifest: dict[str, Any]) -> list[str]:
    return [extension["type"] for extension in manifest["spec"].get("extensions", [])]


def identity(garden: Garden) -> dict[str, Any]:
    return {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": "one", "namespace": garden.namespace},
    }


def stale(garden: Garden, path: str) -> str:
    """A resourceVersion that the Shoot had before somebody wrote it."""
    version: str = garden.client.get(path)["metadata"]["resourceVersion"]
    garden.client.merge_patch(path, {"metadata": {"annotations": {"somebody": "was here"}}})
    return version


def test_kubectl_patch_wipes_the_other_extensions(garden: Garden, path: str) -> None:
    written = garden.client.strategic_patch(path, {"spec": {"extensions": [OURS]}})

    assert types(written) == ["cri-resmgr-extension"]


def test_server_side_apply_of_extensions_conflicts_or_wipes(garden: Garden, path: str) -> None:
    manifest = {**identity(garden), "spec": {"extensions": [OURS]}}

    with pytest.raises(HttpError, match=r"\.spec\.extensions") as conflict:
        garden.client.apply(path, manifest, "second")
    assert conflict.value.status == 409
    assert types(garden.client.apply(path, manifest, "second", force=True)) == ["cri-resmgr-extension"]


def test_json_patch_adds_an_extension_and_keeps_the_rest(garden: Garden, path: str) -> None:
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/spec/extensions/0/type", "value": "registry-cache"},
        {"op": "add", "path": "/spec/extensions/-", "value": OURS},
    ]

    extensions = garden.client.json_patch(path, operations)["spec"]["extensions"]

    assert extensions == [FOREIGN, OURS]


def test_server_side_apply_merges_workers_by_name(garden: Garden, path: str) -> None:
    labels = {"config.nri/group": "fast"}
    manifest = {**identity(garden), "spec": {"provider": {"workers": [{"name": "w1", "labels": labels}]}}}

    workers = garden.client.apply(path, manifest, "second")["spec"]["provider"]["workers"]

    assert [(pool["name"], pool["machine"]["type"], pool["labels"]) for pool in workers] == [("w1", "local", labels)]


def test_json_patch_that_replaces_a_stale_resource_version_conflicts(garden: Garden, path: str) -> None:
    guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": stale(garden, path)}
    change = {"op": "add", "path": "/spec/purpose", "value": "testing"}

    with pytest.raises(HttpError) as conflict:
        garden.client.json_patch(path, [guard, change])
    assert (conflict.value.status, conflict.value.reason) == (409, "Conflict")


def test_json_patch_with_a_current_resource_version_is_one_write(garden: Garden, path: str) -> None:
    version = garden.client.get(path)["metadata"]["resourceVersion"]
    guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
    change = {"op": "add", "path": "/spec/purpose", "value": "testing"}

    assert garden.client.json_patch(path, [guard, change])["spec"]["purpose"] == "testing"


@pytest.mark.parametrize("field", ["/metadata/resourceVersion", "/spec/extensions/0/type"])
def test_a_failing_test_operation_is_an_unspecific_422(garden: Garden, path: str, field: str) -> None:
    with pytest.raises(HttpError) as refusal:
        garden.client.json_patch(path, [{"op": "test", "path": field, "value": "1"}])
    assert (refusal.value.status, refusal.value.reason) == (422, "Invalid")
    assert "details" not in refusal.value.body or not refusal.value.body["details"].get("causes")


def test_merge_patch_with_a_stale_resource_version_conflicts(garden: Garden, path: str) -> None:
    metadata = {"resourceVersion": stale(garden, path)}

    with pytest.raises(HttpError) as conflict:
        garden.client.merge_patch(path, {"metadata": metadata, "spec": {"purpose": "testing"}})
    assert conflict.value.status == 409


def test_a_patch_that_changes_nothing_keeps_the_resource_version(garden: Garden, path: str) -> None:
    before = garden.client.get(path)

    assert garden.client.merge_patch(path, {"spec": {"extensions": [FOREIGN]}}) == before


def test_a_spec_change_raises_the_generation(garden: Garden, path: str) -> None:
    before = garden.client.get(path)["metadata"]["generation"]

    written = garden.client.merge_patch(path, {"spec": {"purpose": "testing"}})

    assert written["metadata"]["generation"] == before + 1


def test_a_confined_spec_change_keeps_the_generation(garden: Garden, path: str) -> None:
    confined = {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}}
    before = garden.client.merge_patch(path, confined)["metadata"]["generation"]

    written = garden.client.merge_patch(path, {"spec": {"purpose": "testing"}})

    assert written["metadata"]["generation"] == before


def test_hibernating_raises_the_generation_even_when_confined(garden: Garden, path: str) -> None:
    confined = {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}}
    before = garden.client.merge_patch(path, confined)["metadata"]["generation"]

    written = garden.client.merge_patch(path, {"spec": {"hibernation": {"enabled": True}}})

    assert written["metadata"]["generation"] == before + 1


def test_the_reconcile_annotation_alone_is_consumed_in_the_same_write(garden: Garden, path: str) -> None:
    before = garden.client.get(path)["metadata"]["generation"]

    metadata = garden.client.merge_patch(path, {"metadata": {"annotations": RECONCILE}})["metadata"]

    assert metadata["generation"] == before + 1
    assert not RECONCILE.items() <= metadata.get("annotations", {}).items()


def test_the_reconcile_annotation_stays_on_a_shoot_that_was_never_reconciled(garden: Garden) -> None:
    before = garden.create_shoot(shoot("two"))["metadata"]["generation"]

    metadata = garden.client.merge_patch(garden.shoot_path("two"), {"metadata": {"annotations": RECONCILE}})["metadata"]

    assert metadata["generation"] == before
    assert RECONCILE.items() <= metadata["annotations"].items()


def test_the_reconcile_annotation_with_a_spec_change_causes_a_second_reconcile(garden: Garden, path: str) -> None:
    before = garden.client.get(path)["metadata"]["generation"]

    both = {"metadata": {"annotations": RECONCILE}, "spec": {"purpose": "testing"}}
    metadata = garden.client.merge_patch(path, both)["metadata"]
    assert metadata["generation"] == before + 1
    assert RECONCILE.items() <= metadata["annotations"].items()

    metadata = garden.client.merge_patch(path, {"metadata": {"annotations": {"anybody": "writes"}}})["metadata"]
    assert metadata["generation"] == before + 2


def test_the_reconcile_annotation_with_a_confined_spec_change_is_consumed(garden: Garden, path: str) -> None:
    confined = {"spec": {"maintenance": {"confineSpecUpdateRollout": True}}}
    before = garden.client.merge_patch(path, confined)["metadata"]["generation"]

    both = {"metadata": {"annotations": RECONCILE}, "spec": {"purpose": "testing"}}
    metadata = garden.client.merge_patch(path, both)["metadata"]

    assert metadata["generation"] == before + 1
    assert not RECONCILE.items() <= metadata.get("annotations", {}).items()


def test_an_unknown_field_is_dropped_with_a_warning(garden: Garden, path: str) -> None:
    answer = garden.client.exchange("PATCH", path, {"spec": {"unheard": 1}}, "application/merge-patch+json")

    assert answer.status == 200
    assert "unheard" not in answer.body["spec"]
    assert "unheard" in answer.headers["Warning"]


def test_an_unknown_field_is_refused_when_asked_strictly(garden: Garden, path: str) -> None:
    strict = {"fieldValidation": "Strict"}

    answer = garden.client.exchange("PATCH", path, {"spec": {"unheard": 1}}, "application/merge-patch+json", strict)

    assert answer.status in (400, 422)
    assert "unheard" in answer.body["message"]


def test_a_list_comes_in_pages(garden: Garden) -> None:
    for name in ("one", "two", "three"):
        garden.create_shoot(shoot(name))

    page = garden.client.request("GET", garden.shoot_path("x").removesuffix("/x"), params={"limit": "2"})

    assert len(page["items"]) == 2
    assert page["metadata"]["continue"]
    assert page["metadata"]["remainingItemCount"] == 1
