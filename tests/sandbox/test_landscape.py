import base64
import json

import pytest
import yaml

from gitops.sandbox import Landscape, Options, Request, UnreachableError
from tests.sandbox.driving import (
    EXTENSION,
    MERGE_PATCH,
    SHOOTS,
    Client,
    RefusedError,
    declared,
    enable,
    garden,
    minted,
    shoot,
)

_NODES = Request("GET", "/api/v1/nodes")
_LIST = Request("GET", SHOOTS)


def test_a_shoot_is_seeded_as_it_was_before_the_tool_came() -> None:
    landscape = Landscape([declared("one", extensions=[{"type": EXTENSION}])])
    seeded = garden(landscape).get(f"{SHOOTS}/one")
    assert [item["type"] for item in seeded["spec"]["extensions"]] == ["shoot-dns-service"]
    assert seeded["spec"]["extensions"][0]["providerConfig"]["kind"] == "DNSConfig"
    assert seeded["spec"]["resources"][0]["name"] == "dns-credentials"
    assert seeded["status"]["lastOperation"]["state"] == "Succeeded"
    assert {item["status"] for item in seeded["status"]["conditions"]} == {"True"}
    assert seeded["metadata"]["generation"] == seeded["status"]["observedGeneration"] == 1


def test_a_seeded_shoot_is_valid_to_the_api_that_serves_it() -> None:
    landscape = Landscape([declared("one")])
    before = garden(landscape).get(f"{SHOOTS}/one")
    again = garden(landscape).call("PUT", f"{SHOOTS}/one?fieldValidation=Strict", before)
    assert again["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_nothing_moves_while_nobody_writes() -> None:
    landscape = Landscape([declared("one"), declared("two")])
    before = landscape.store.revision
    landscape.advance(86400)
    assert landscape.store.revision == before


def test_the_garden_names_itself() -> None:
    landscape = Landscape([], options=Options(identity="landscape-dev"))
    found = garden(landscape).get("/api/v1/namespaces/kube-system/configmaps/cluster-identity")
    assert found["data"] == {"cluster-identity": "landscape-dev"}


def test_nodes_follow_pools_and_machine_types() -> None:
    landscape = Landscape([declared("one")])
    nodes = shoot(landscape, "one").get("/api/v1/nodes")["items"]
    assert len(nodes) == 2
    assert {node["metadata"]["labels"]["worker.gardener.cloud/pool"] for node in nodes} == {"w1"}
    assert {node["status"]["capacity"]["cpu"] for node in nodes} == {"8"}


def test_a_kubeconfig_expires() -> None:
    landscape = Landscape([declared("one")])
    client = Client(landscape.connect(minted(landscape, "one")))
    landscape.advance(599)
    assert client.get("/api/v1/nodes")["items"]
    landscape.advance(1)
    with pytest.raises(RefusedError, match="Unauthorized"):
        client.get("/api/v1/nodes")


def test_a_kubeconfig_of_one_shoot_is_nobody_in_another() -> None:
    landscape = Landscape([declared("one"), declared("two")])
    config = yaml.safe_load(minted(landscape, "one"))
    config["clusters"][0]["cluster"]["server"] = landscape.url("garden-dev/two")
    stranger = Client(landscape.connect(json.dumps(config).encode()))
    with pytest.raises(RefusedError, match="Unauthorized"):
        stranger.get("/api/v1/nodes")


def test_a_viewer_reads_all_but_secrets_and_writes_nothing() -> None:
    landscape = Landscape([declared("one")])
    viewer = Client(landscape.connect(minted(landscape, "one", "viewerkubeconfig")))
    assert viewer.get("/api/v1/nodes")["items"]
    maps = "/api/v1/namespaces/default/configmaps"
    for method, path, body in (
        ("GET", "/api/v1/namespaces/default/secrets", None),
        ("GET", "/api/v1/namespaces/default/secrets/x", None),
        ("POST", maps, {"metadata": {"name": "x"}}),
        ("POST", f"{maps}?dryRun=All", {"metadata": {"name": "x"}}),
        ("DELETE", f"{maps}/x", None),
    ):
        with pytest.raises(RefusedError) as refused:
            viewer.call(method, path, body)
        assert refused.value.body["reason"] == "Forbidden"


def test_a_kubeconfig_lasts_as_long_as_was_asked_for_up_to_a_day() -> None:
    landscape = Landscape([declared("one")])
    ask = garden(landscape)
    for seconds, hours in ((3600, 1), (10**6, 24)):
        answer = ask.call("POST", f"{SHOOTS}/one/adminkubeconfig", {"spec": {"expirationSeconds": seconds}})
        assert answer["status"]["expirationTimestamp"] == f"2026-01-0{1 + hours // 24}T{(12 + hours) % 24}:00:00Z"
        assert b"token" in base64.b64decode(answer["status"]["kubeconfig"])


def test_a_hibernated_shoot_has_no_api() -> None:
    landscape = Landscape([declared("one", hibernation={"enabled": True})])
    config = minted(landscape, "one")
    with pytest.raises(UnreachableError, match="hibernated"):
        landscape.connect(config)(_NODES)


def test_what_a_shoot_holds_lasts() -> None:
    landscape = Landscape([declared("one")])
    maps = "/api/v1/namespaces/default/configmaps"
    shoot(landscape, "one").call("POST", maps, {"metadata": {"name": "x"}, "data": {"a": "b"}})
    enable(landscape, "one")
    landscape.advance(300)
    assert shoot(landscape, "one").get(f"{maps}/x")["data"] == {"a": "b"}


def test_two_landscapes_with_one_history_are_equal() -> None:
    def history() -> list[bytes]:
        landscape = Landscape([declared("one"), declared("two")])
        enable(landscape, "one")
        landscape.advance(400)
        return [garden(landscape).handler(_LIST).body]

    assert history() == history()


def test_copies_are_listed_and_paged() -> None:
    landscape = Landscape([declared("one"), declared("two")], options=Options(copies=98))
    client, seen, token = garden(landscape), [], ""
    while True:
        page = client.get(f"{SHOOTS}?limit=30" + (f"&continue={token}" if token else ""))
        seen += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert len(seen) == len(set(seen)) == 100


def test_a_copy_is_as_alive_as_its_original() -> None:
    landscape = Landscape([declared("one")], options=Options(copies=1))
    assert shoot(landscape, "one-0000").get("/api/v1/nodes")["items"]
    enable(landscape, "one-0000")
    landscape.advance(200)
    assert garden(landscape).get(f"{SHOOTS}/one-0000")["status"]["observedGeneration"] == 2


def test_a_label_of_a_worker_reaches_its_nodes() -> None:
    landscape = Landscape([declared("one")])
    client = shoot(landscape, "one")
    assert client.get("/api/v1/nodes?labelSelector=config.nri/group")["items"] == []
    change = [{"name": "w1", "labels": {"config.nri/group": "a"}}]
    strategic = "application/strategic-merge-patch+json"
    patch = {"spec": {"provider": {"workers": change}}}
    garden(landscape).call("PATCH", f"{SHOOTS}/one", patch, strategic)
    landscape.advance(200)
    assert len(client.get("/api/v1/nodes?labelSelector=config.nri/group")["items"]) == 2


def test_an_extension_catches_up_with_its_deployment() -> None:
    landscape = Landscape([declared("one")])
    client = garden(landscape)
    base = "/apis/core.gardener.cloud/v1beta1"
    path = f"{base}/controllerdeployments/{EXTENSION}"
    written = client.call("PATCH", path, {"providerConfig": {"values": {"replicaCount": 2}}}, MERGE_PATCH)
    installation = f"{base}/controllerinstallations/{EXTENSION}-sandbox"
    revision = written["metadata"]["resourceVersion"]
    assert client.get(installation)["spec"]["deploymentRef"]["resourceVersion"] != revision
    landscape.advance(60)
    assert client.get(installation)["spec"]["deploymentRef"]["resourceVersion"] == revision
