import pytest

from tests.control_plane.client import HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.objects import Manifest, shoot, worker

pytestmark = pytest.mark.control_plane

REFERENCE = {"kind": "Secret", "apiVersion": "v1", "name": "absent"}


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        pytest.param(shoot("one", extensions=[{"type": "unknown"}]), "unknown", id="extension"),
        pytest.param(
            shoot("one", extensions=[{"type": "unknown", "disabled": True}]), "unknown", id="disabled extension"
        ),
        pytest.param(shoot("one", networking={"type": "flannel"}), "flannel", id="network"),
        pytest.param(shoot("one", cloudProfile={"name": "absent"}), "absent", id="cloud profile"),
        pytest.param(
            shoot("one", provider={"type": "local", "workers": [worker("w1", machine={"type": "huge"})]}),
            "huge",
            id="machine type",
        ),
        pytest.param(shoot("one", kubernetes={"version": "1.20.0"}), "1.20.0", id="kubernetes version"),
        pytest.param(
            shoot("one", extensions=[{"type": "audit"}, {"type": "audit"}]), "Duplicate value", id="extension twice"
        ),
    ],
)
def test_a_shoot_is_refused_for_what_the_garden_does_not_know(garden: Garden, manifest: Manifest, words: str) -> None:
    garden.create_shoot(shoot("valid"))  # admission has caught up with the namespace

    with pytest.raises(HttpError, match=words):
        garden.client.post(f"{garden.shoot_path('x').removesuffix('/x')}", manifest)


def test_a_resource_must_exist(garden: Garden) -> None:
    garden.create_shoot(shoot("valid"))
    manifest = shoot("one", resources=[{"name": "secret", "resourceRef": REFERENCE}])

    with pytest.raises(HttpError, match="absent"):
        garden.client.post(f"{garden.shoot_path('x').removesuffix('/x')}", manifest)
    assert garden.create_shoot(manifest)["spec"]["resources"] == manifest["spec"]["resources"]


def test_nobody_deletes_a_shoot_by_accident(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))

    with pytest.raises(HttpError, match=r"confirmation\.gardener\.cloud/deletion") as refusal:
        garden.client.delete(garden.shoot_path("one"))
    assert refusal.value.status == 403


def test_enabled_extensions_are_labels_of_the_shoot(garden: Garden) -> None:
    extensions = [{"type": "audit"}, {"type": "ontap", "disabled": True}]
    labels = garden.create_shoot(shoot("one", extensions=extensions))["metadata"]["labels"]

    assert labels["extensions.extensions.gardener.cloud/audit"] == "true"
    assert "extensions.extensions.gardener.cloud/ontap" not in labels
