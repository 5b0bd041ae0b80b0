"""Real kubectl on a served landscape."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.sandbox import Landscape, Server
from tests.sandbox.driving import SHOOTS, declared, enable, garden, minted
from tests.waiting import PATIENCE

_KUBECTL = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or "kubectl"


class Kubectl:
    """kubectl with one kubeconfig and a home of its own."""

    def __init__(self, folder: Path, kubeconfig: bytes) -> None:
        self._folder = folder
        self._config = folder / f"kubeconfig-{len(list(folder.iterdir()))}"
        self._config.touch(mode=0o600)
        self._config.write_bytes(kubeconfig)

    def __call__(self, *arguments: str, stdin: str = "", code: int = 0, **environment: str) -> str:
        """Run kubectl and return what it prints to standard output, or to both where it is to fail."""
        done = subprocess.run(
            self._command(arguments),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env={**self._environment, **environment},
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + (done.stderr if code else "")

    def first_lines(self, number: int, *arguments: str) -> list[str]:
        """Run kubectl until it has printed so many lines, and return these."""
        command, environment = self._command(arguments), self._environment
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            lines = list(itertools.islice(process.stdout, number))
            process.kill()
        return lines

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return [_KUBECTL, "--kubeconfig", str(self._config), *arguments]

    @property
    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self._folder)}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A landscape with two Shoots, one of which has policies. Its time moves when a test says so."""
    landscape = Landscape([declared("one"), declared("two", purpose="testing")])
    enable(landscape, "one")
    landscape.advance(300)
    with Server(landscape) as server:
        yield server


@pytest.fixture
def kubectl(server: Server, tmp_path: Path) -> Kubectl:
    """Kubectl for the garden."""
    return Kubectl(tmp_path, server.garden_kubeconfig())


@pytest.fixture
def in_shoot(server: Server, tmp_path: Path) -> Kubectl:
    """Kubectl for a shoot, with a kubeconfig that the garden has just answered."""
    return Kubectl(tmp_path, minted(server.landscape, "one"))


def _config_map(name: str, **data: str) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


def test_get_prints_gardeners_columns(kubectl: Kubectl) -> None:
    lines = kubectl("get", "shoots", "-A").splitlines()
    assert lines[0].split()[:5] == ["NAMESPACE", "NAME", "CLOUDPROFILE", "PROVIDER", "REGION"]
    assert "LAST OPERATION" in lines[0]
    assert [line.split()[1] for line in lines[1:]] == ["one", "two"]
    assert "Awake" in lines[1]


def test_get_by_name_as_yaml_and_by_label(kubectl: Kubectl) -> None:
    shoot = yaml.safe_load(kubectl("get", "shoot", "one", "-n", "garden-dev", "-o", "yaml", "--show-managed-fields"))
    assert shoot["kind"] == "Shoot"
    assert shoot["metadata"]["managedFields"]
    selector = "extensions.extensions.gardener.cloud/cri-resmgr-extension=true"
    assert kubectl("get", "shoots", "-A", "-l", selector, "-o", "name").split() == ["shoot.core.gardener.cloud/one"]
    assert "NotFound" in kubectl("get", "shoot", "three", "-n", "garden-dev", code=1)


def test_get_in_pages(kubectl: Kubectl) -> None:
    assert len(kubectl("get", "shoots", "-A", "--chunk-size=1", "-o", "name").split()) == 2


def test_watch(kubectl: Kubectl) -> None:
    rows = kubectl.first_lines(3, "get", "shoots", "-n", "garden-dev", "-w", "--output-watch-events")
    assert [line.split()[:2] for line in rows[1:]] == [["ADDED", "one"], ["ADDED", "two"]]


def test_wait_sees_what_the_gardenlet_writes(server: Server, kubectl: Kubectl) -> None:
    garden(server.landscape).merge(f"{SHOOTS}/two", {"spec": {"purpose": "development"}})
    target = ("shoot/two", "-n", "garden-dev", "--timeout=30s")
    with ThreadPoolExecutor() as pool:
        for state in ("Processing", "Succeeded"):
            waiting = pool.submit(kubectl, "wait", f"--for=jsonpath={{.status.lastOperation.state}}={state}", *target)
            while not waiting.done():
                server.landscape.advance(1)
                wait([waiting], timeout=0.05)
            assert "condition met" in waiting.result()


def test_describe(kubectl: Kubectl) -> None:
    text = kubectl("describe", "shoot", "one", "-n", "garden-dev")
    assert "Last Operation:" in text
    assert "shoot-dns-service" in text


def test_explain(kubectl: Kubectl, in_shoot: Kubectl) -> None:
    assert "extensions" in kubectl("explain", "shoot.spec")
    text = in_shoot("explain", "balloonspolicy.spec.balloonTypes.allocatorPriority")
    assert "string" in text
    assert "ENUM:" in text


def test_apply_and_apply_again(kubectl: Kubectl) -> None:
    assert "created" in kubectl("apply", "-f", "-", stdin=_config_map("client", a="1"))
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=_config_map("client", a="1"))
    assert "configured" in kubectl("apply", "-f", "-", stdin=_config_map("client", b="2"))
    assert json.loads(kubectl("get", "cm", "client", "-o", "json"))["data"] == {"b": "2"}
    assert "unknown field" in kubectl("apply", "-f", "-", stdin=_config_map("x").replace('"data"', '"dada"'), code=1)


def test_client_side_and_server_side_apply_in_turn(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_config_map("turn", a="1"))
    server_side = ("apply", "--server-side", "-f", "-")
    assert "serverside-applied" in kubectl(*server_side, stdin=_config_map("turn", a="2"))
    kubectl("patch", "cm", "turn", "--type=merge", "-p", '{"data":{"a":"3"}}')
    refused = kubectl(*server_side, stdin=_config_map("turn", a="4"), code=1)
    assert 'conflict with "kubectl-patch" using v1: .data.a' in refused
    kubectl(*server_side, "--force-conflicts", stdin=_config_map("turn", a="4"))
    assert json.loads(kubectl("get", "cm", "turn", "-o", "json"))["data"] == {"a": "4"}


def test_diff_of_both_kinds(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "-f", "-", stdin=_config_map("diff", a="1"))
    same = ("diff", "--server-side", "-f", "-")
    assert kubectl(*same, stdin=_config_map("diff", a="1")) == ""
    assert "+  a: two" in kubectl(*same, stdin=_config_map("diff", a="two"), code=1)
    assert "+  a: two" in kubectl("diff", "-f", "-", stdin=_config_map("diff", a="two"), code=1)


def test_three_types_of_patches(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_config_map("patch", a="1"))
    kubectl("patch", "cm", "patch", "-p", '{"data":{"b":"2"}}')
    kubectl("patch", "cm", "patch", "--type=merge", "-p", '{"data":{"a":null}}')
    kubectl("patch", "cm", "patch", "--type=json", "-p", '[{"op":"add","path":"/data/c","value":"3"}]')
    assert json.loads(kubectl("get", "cm", "patch", "-o", "json"))["data"] == {"b": "2", "c": "3"}


def test_the_classic_patch_of_a_shoot_wipes_the_others(kubectl: Kubectl) -> None:
    patch = {"spec": {"extensions": [{"type": "cri-resmgr-extension", "disabled": False}]}}
    kubectl("patch", "shoot", "two", "-n", "garden-dev", "-p", json.dumps(patch))
    shoot = json.loads(kubectl("get", "shoot", "two", "-n", "garden-dev", "-o", "json"))
    assert [item["type"] for item in shoot["spec"]["extensions"]] == ["cri-resmgr-extension"]


def test_edit_annotate_label_and_delete(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=_config_map("edit", a="before"))
    kubectl("edit", "cm", "edit", KUBE_EDITOR="sed -i s/before/after/")
    kubectl("annotate", "cm", "edit", "note=1")
    kubectl("label", "cm", "edit", "kind=x")
    found: Any = json.loads(kubectl("get", "cm", "edit", "-o", "json"))
    assert found["data"] == {"a": "after"}
    assert found["metadata"]["annotations"]["note"] == "1"
    assert found["metadata"]["labels"] == {"kind": "x"}
    assert "deleted" in kubectl("delete", "cm", "edit")
    assert "NotFound" in kubectl("get", "cm", "edit", code=1)


def test_a_minted_kubeconfig_reaches_its_shoot(server: Server, in_shoot: Kubectl) -> None:
    assert in_shoot("get", "nodes").count(" Ready ") == 2
    policy = {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": "default", "namespace": "kube-system"},
        "spec": {"reservedResources": {"cpu": "1"}, "balloonTypes": [{"name": "fast"}]},
    }
    apply = ("apply", "--server-side", "--field-manager=test", "-f", "-")
    assert "serverside-applied" in in_shoot(*apply, stdin=json.dumps(policy))
    server.landscape.advance(10)
    found = json.loads(in_shoot("get", "balloonspolicy", "default", "-n", "kube-system", "-o", "json"))
    assert {node["status"] for node in found["status"]["nodes"].values()} == {"Success"}
    policy["spec"] = {"reservedResources": {"cpu": 1}}
    assert "expected string" in in_shoot(*apply, stdin=json.dumps(policy), code=1)


def test_a_viewer_may_not_write(server: Server, tmp_path: Path) -> None:
    viewer = Kubectl(tmp_path, minted(server.landscape, "one", "viewerkubeconfig"))
    assert viewer("get", "nodes")
    assert "Forbidden" in viewer("get", "secrets", "-A", code=1)
    assert "forbidden" in viewer("delete", "node", "--all", code=1)


def test_api_resources_and_version(kubectl: Kubectl, in_shoot: Kubectl) -> None:
    assert "shoots" in kubectl("api-resources")
    assert "shoots" not in in_shoot("api-resources")
    assert "balloonspolicies" in in_shoot("api-resources", "--api-group=config.nri")
    assert "sandbox" in kubectl("version")
