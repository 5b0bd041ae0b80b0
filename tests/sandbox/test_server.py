"""The landscape over HTTP: Kubernetes' own Python client, and faults on the wire."""

import json
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes
import pytest
import urllib3

from gitops.sandbox import Landscape, RequestFault, Server
from tests.sandbox.driving import SHOOTS, declared, enable, minted

_K8S: Any = kubernetes
"""Partly untyped."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A landscape with one Shoot, served."""
    with Server(Landscape([declared("one")])) as server:
        yield server


def _pool(server: Server) -> urllib3.PoolManager:
    tls = ssl.create_default_context(cadata=server.landscape.certificate.decode())
    token = json.loads(server.garden_kubeconfig())["users"][0]["user"]["token"]
    return urllib3.PoolManager(ssl_context=tls, retries=False, headers={"Authorization": f"Bearer {token}"})


def _client(kubeconfig: bytes) -> Any:
    return _K8S.config.new_client_from_config_dict(json.loads(kubeconfig))


def test_the_official_client_reads_writes_and_watches(server: Server) -> None:
    with _client(server.garden_kubeconfig()) as api:
        core, custom = _K8S.client.CoreV1Api(api), _K8S.client.CustomObjectsApi(api)
        where = ("core.gardener.cloud", "v1beta1", "garden-dev", "shoots")
        shoots = custom.list_namespaced_custom_object(*where)
        assert [item["metadata"]["name"] for item in shoots["items"]] == ["one"]
        core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"x": "1"}})
        core.patch_namespaced_config_map("a", "default", {"data": {"y": "2"}})
        assert core.read_namespaced_config_map("a", "default").data == {"x": "1", "y": "2"}
        watch = _K8S.watch.Watch()
        for event in watch.stream(core.list_namespaced_config_map, "default", timeout_seconds=5):
            assert (event["type"], event["object"].metadata.name) == ("ADDED", "a")
            watch.stop()
        core.delete_namespaced_config_map("a", "default")
        with pytest.raises(_K8S.client.ApiException) as refused:
            core.read_namespaced_config_map("a", "default")
        assert refused.value.status == 404


def test_a_minted_kubeconfig_works_and_then_expires(server: Server) -> None:
    with _client(minted(server.landscape, "one")) as api:
        core = _K8S.client.CoreV1Api(api)
        assert len(core.list_node().items) == 2
        server.landscape.advance(600)
        with pytest.raises(_K8S.client.ApiException) as refused:
            core.list_node()
        assert refused.value.status == 401


def test_shoots_name_the_address_they_are_served_at(server: Server) -> None:
    shoot = json.loads(_pool(server).request("GET", f"{server.url}/garden{SHOOTS}/one").data)
    assert shoot["status"]["advertisedAddresses"][0]["url"] == f"{server.url}/shoots/garden-dev/one"


def test_nobody_comes_in_without_a_token(server: Server) -> None:
    pool = _pool(server)
    for headers in ({"X-None": ""}, {"Authorization": "Bearer wrong"}):
        assert pool.request("GET", f"{server.url}/garden/version", headers=headers).status == 401


def test_a_connection_is_kept(server: Server) -> None:
    pool = _pool(server)
    for _ in range(3):
        assert pool.request("GET", f"{server.url}/garden/version").status == 200
    host = server.url.removeprefix("https://").split(":")[0]
    assert pool.connection_from_host(host, int(server.url.rpartition(":")[2]), "https").num_connections == 1


def test_a_body_may_come_in_chunks(server: Server) -> None:
    pool, maps = _pool(server), f"{server.url}/garden/api/v1/namespaces/default/configmaps"
    for name in ("a", "b"):
        body = json.dumps({"metadata": {"name": name}, "data": {"x": "y" * 100}}).encode()
        sent = pool.request("POST", maps, body=iter([body[:50], body[50:]]), chunked=True)
        assert (sent.status, sent.json()["data"]) == (201, {"x": "y" * 100})


def test_what_is_not_understood_is_refused_as_such(server: Server) -> None:
    maps = f"{server.url}/garden/api/v1/namespaces/default/configmaps"
    headers = {**_pool(server).headers, "Content-Type": "application/vnd.kubernetes.protobuf"}
    assert _pool(server).request("POST", maps, body=b"k8s\0", headers=headers).status == 415
    assert _pool(server).request("OPTIONS", maps).status == 405


def test_a_busy_server_and_one_that_hangs_up(server: Server) -> None:
    pool, url = _pool(server), f"{server.url}/garden/version"
    server.landscape.faults.requests += [
        RequestFault("TooManyRequests", retry_after=3, times=1),
        RequestFault("Reset", times=1),
    ]
    busy = pool.request("GET", url)
    assert (busy.status, busy.headers["Retry-After"]) == (429, "3")
    with pytest.raises(urllib3.exceptions.ProtocolError):
        pool.request("GET", url)
    assert pool.request("GET", url).status == 200


def test_names_are_decoded(server: Server) -> None:
    pool = _pool(server)
    roles = f"{server.url}/garden/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
    body = json.dumps({"metadata": {"name": "a:b"}, "rules": []}).encode()
    assert pool.request("POST", roles, body=body).status == 201
    assert pool.request("GET", f"{roles}/a%3Ab").status == 200


def test_a_watch_ends_with_its_server() -> None:
    with Server(Landscape([declared("one")])) as server:
        url = f"{server.url}/garden{SHOOTS}?watch=true"
        response = _pool(server).request("GET", url, preload_content=False)
        lines = response.stream()
        assert json.loads(next(lines))["type"] == "ADDED"
        enable(server.landscape, "one")
        assert json.loads(next(lines))["type"] == "MODIFIED"
    assert list(lines) == []
    response.release_conn()


def test_the_key_of_the_certificate_does_not_stay_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Server(Landscape([declared("one")])):
        assert list(tmp_path.rglob("*")) == []
