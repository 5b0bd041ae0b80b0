import base64

import pytest
import urllib3
import yaml

from tests.actors import crds
from tests.control_plane.client import Client, HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

NAMESPACES = "/api/v1/namespaces"


def minted(garden: Garden, name: str, subresource: str) -> Client:
    """A client with a fresh kubeconfig of a Shoot."""
    request = {"spec": {"expirationSeconds": 600}}
    answer = garden.client.post(f"{garden.shoot_path(name)}/{subresource}", request)
    return Client.from_kubeconfig(yaml.safe_load(base64.b64decode(answer["status"]["kubeconfig"])))


def test_each_adminkubeconfig_reaches_its_own_shoot(garden: Garden) -> None:
    for name in ("one", "two"):
        garden.create_shoot(shoot(name))
        garden.shoot_server(name)
        minted(garden, name, "adminkubeconfig").post(NAMESPACES, {"metadata": {"name": f"of-{name}"}})

    assert garden.shoot_server("one").client.find(f"{NAMESPACES}/of-one") is not None
    assert garden.shoot_server("one").client.find(f"{NAMESPACES}/of-two") is None
    assert garden.shoot_server("two").client.find(f"{NAMESPACES}/of-two") is not None


def test_a_viewer_reads_policies_but_neither_writes_nor_reads_secrets(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    server = garden.shoot_server("one")
    crds.install(server.client, crds.nri())
    crds.wait_until_established(server.client, crds.nri())
    viewer = minted(garden, "one", "viewerkubeconfig")

    assert viewer.get("/apis/config.nri/v1alpha1/balloonspolicies")["items"] == []
    assert viewer.get("/api/v1/nodes")["items"] == []
    with pytest.raises(HttpError, match="forbidden") as written:
        viewer.post(NAMESPACES, {"metadata": {"name": "x"}})
    with pytest.raises(HttpError, match="forbidden") as read:
        viewer.get("/api/v1/secrets")
    assert (written.value.status, read.value.status) == (403, 403)


@pytest.mark.parametrize("subresource", ["adminkubeconfig", "viewerkubeconfig"])
def test_a_shoot_without_an_api_server_gives_no_kubeconfig(garden: Garden, subresource: str) -> None:
    garden.create_shoot(shoot("one"))

    with pytest.raises(HttpError):
        minted(garden, "one", subresource)


def test_a_kubeconfig_lives_ten_minutes_at_least(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    garden.shoot_server("one")

    with pytest.raises(HttpError, match="expirationSeconds") as refusal:
        garden.client.post(f"{garden.shoot_path('one')}/adminkubeconfig", {"spec": {"expirationSeconds": 599}})
    assert refusal.value.status == 422


def test_a_shoot_that_is_cut_off_gives_kubeconfigs_that_reach_nobody(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    with garden.cut_off("one"), pytest.raises(urllib3.exceptions.HTTPError):
        minted(garden, "one", "adminkubeconfig").get(NAMESPACES)

    assert minted(garden, "one", "adminkubeconfig").get(NAMESPACES)
