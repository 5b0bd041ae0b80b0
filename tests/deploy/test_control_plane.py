"""What is printed, before real API servers: kubectl validates, applies, and Pod Security looks at the pods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.actors import crds
from tests.control_plane.client import Client, HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot
from tests.deploy.declared import NAMESPACE, NEW, documents
from tests.end_to_end.repository import Repository

pytestmark = pytest.mark.control_plane

IMAGE = ("--image", "registry.example/shoot-gitops:0.1.0")
URL = ("--url", "https://git.example/fleet.git")
CHOICES = {
    "cronjob": ("--mode", "cronjob"),
    "serve": ("--mode", "serve", "--replicas", "2"),
    "both, with everything": (
        *("--mode", "both", "--schedule", "0 6 * * 1-5", "--time-zone", "America/New_York", "--deadline", "90m"),
        *("--host", "gitops.example", "--host", "hooks.example", "--ingress-class", "nginx", "--tls-secret", "tls"),
        *(
            "--git-secret",
            "git",
            "--webhook-secret",
            "hooks",
            "--pull-secret",
            "pull",
            "--dashboard-token-secret",
            "look",
        ),
        *("--forge-secret", "forge", "--forge", "gitea", "--forge-repository", "acme/fleet"),
        *("--signers-secret", "signers", "--garden-secret", "garden", "--runtime-secret", "runtime"),
    ),
    "in the garden itself": ("--mode", "both", "--in-cluster"),
    "ssh": ("--mode", "cronjob", "--url", "ssh://git@git.example:2222/fleet.git", "--git-secret", "git"),
}
choices = pytest.mark.parametrize("chosen", CHOICES.values(), ids=list(CHOICES))
_CRD = Path(__file__).parent.parent / "data" / "crds" / "monitoring.coreos.com_servicemonitors.yaml"
_RULES: list[dict[str, Any]] = [
    {
        "apiGroups": ["", "core.gardener.cloud"],
        "resources": ["secrets", "configmaps", "shoots", "secretbindings", "quotas"],
        "verbs": ["create", "delete", "deletecollection", "get", "list", "watch", "patch", "update"],
    },
    {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles", "rolebindings"],
        "verbs": ["create", "delete", "deletecollection", "get", "list", "watch", "patch", "update"],
    },
    {
        "apiGroups": ["core.gardener.cloud"],
        "resources": ["shoots/adminkubeconfig", "shoots/viewerkubeconfig"],
        "verbs": ["create"],
    },
    {
        "apiGroups": ["core.gardener.cloud"],
        "resources": ["namespacedcloudprofiles"],
        "verbs": ["get", "list", "watch", "create", "patch", "update", "delete"],
    },
    {
        "apiGroups": [""],
        "resources": ["serviceaccounts"],
        "verbs": ["create", "delete", "deletecollection", "get", "list", "watch", "patch", "update"],
    },
]
"""Of the project roles `admin` and `serviceaccountmanager` (gardener pkg/component/garden/system/virtual)."""


class Printing:
    """A repository, and who prints and applies what it needs.

    Attributes:
        client: the cluster that it is applied to, as an administrator.
    """

    def __init__(self, repository: Repository, client: Client, kubeconfig: Path) -> None:
        self.client = client
        self._repository = repository
        self._kubeconfig = kubeconfig

    def bash(self, script: str) -> str:
        """A command line as somebody types it, in the repository; what kubectl says."""
        variables = {**os.environ, "KUBECONFIG": str(self._kubeconfig), "PYTHONPATH": str(Path(__file__).parents[2])}
        prelude = f'gitops() {{ "{sys.executable}" -m gitops "$@"; }}; set -euo pipefail; '
        done = subprocess.run(
            ["bash", "-c", prelude + script],
            cwd=self._repository.path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Warning" not in done.stderr, done.stderr
        return done.stdout

    def printed(self, *arguments: str) -> list[dict[str, Any]]:
        """The manifests as plain objects."""
        return list(yaml.safe_load_all(self.bash(f"gitops manifests {quoted(*arguments)}")))

    def stored(self, *arguments: str) -> dict[str, str]:
        """Versions of what is printed, as it is stored."""
        said = self.bash(f"gitops manifests {quoted(*arguments)} | kubectl get -f - -o json")
        metadata = [item["metadata"] for item in json.loads(said)["items"]]
        return {each["uid"]: each["resourceVersion"] for each in metadata}


@pytest.fixture
def printing(garden: Garden, tmp_path: Path) -> Printing:
    for namespace in (NAMESPACE, NEW):
        garden.add_project(namespace)
    restricted = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    garden.client.post("/api/v1/namespaces", {"metadata": {"name": "shoot-gitops", "labels": restricted}})
    repository = Repository(tmp_path / "repository", NAMESPACE, garden.identity)
    files = documents("v1", "default")
    for name, contents in files.items():
        repository.write(name, *contents)
    repository.overlay = files["overlays/dev/overlay.yaml"][0]
    repository.commit()
    return Printing(repository, garden.client, garden.kubeconfig)


def quoted(*arguments: str) -> str:
    return " ".join(f"'{argument}'" for argument in (*IMAGE, *URL, *arguments))


@choices
def test_the_server_finds_everything_valid(printing: Printing, chosen: tuple[str, ...]) -> None:
    said = printing.bash(f"kubectl apply --dry-run=server -f <(gitops manifests {quoted(*chosen)})")

    lines = said.splitlines()
    assert len(lines) == len(printing.printed(*chosen))
    assert all(line.endswith("(server dry run)") for line in lines)


@choices
def test_pod_security_lets_the_pods_in_at_its_strictest_level(printing: Printing, chosen: tuple[str, ...]) -> None:
    pods = "/api/v1/namespaces/shoot-gitops/pods?dryRun=All"

    for template in templates(printing.printed(*chosen)):
        pod = {"metadata": {"generateName": "x-", "labels": template["metadata"]["labels"]}, "spec": template["spec"]}
        admitted = printing.client.post(pods, pod)
        assert admitted["spec"]["containers"][0]["image"] == IMAGE[1]
        del pod["spec"]["containers"][0]["securityContext"]["capabilities"]
        with pytest.raises(HttpError, match="violates PodSecurity"):
            printing.client.post(pods, pod)


@pytest.mark.parametrize("name", ["both, with everything", "in the garden itself"])
def test_it_is_applied_once_and_then_nothing_changes(printing: Printing, name: str) -> None:
    chosen = CHOICES[name]
    first = printing.bash(f"gitops manifests {quoted(*chosen)} | kubectl apply -f -")
    before = printing.stored(*chosen)
    printing.bash(f"gitops manifests {quoted(*chosen)} | kubectl apply -f -")

    assert {line.rpartition(" ")[2] for line in first.splitlines()} == {"created"}, first
    assert printing.stored(*chosen) == before


def test_the_namespace_comes_first_where_it_is_asked_for(printing: Printing) -> None:
    arguments = quoted("--namespace", "gitops-x", "--create-namespace", "--mode", "both")

    said = printing.bash(f"gitops manifests {arguments} | kubectl apply -f -")

    assert said.splitlines()[0] == "namespace/gitops-x created"
    namespace = printing.client.get("/api/v1/namespaces/gitops-x")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("part", ["run", "project", "garden", "runtime"])
def test_each_folder_is_for_kustomize(printing: Printing, part: str, tmp_path: Path) -> None:
    if part == "runtime":
        assert printing.printed("--part", part), "the overlay declares an operator Extension"
    printing.bash(f"gitops manifests {quoted('--mode', 'both')} --to {tmp_path}")

    said = printing.bash(f"kubectl apply --dry-run=server -k {tmp_path / part}")

    stream = {
        f"{each['kind'].lower()}/{each['metadata']['name']}"
        for each in printing.printed("--part", part, "--mode", "both")
    }
    told = {line.split()[0] for line in said.splitlines()}
    assert {f"{kind.partition('.')[0]}/{name}" for kind, _, name in (one.partition("/") for one in told)} == stream


def test_an_administrator_of_the_project_can_grant_what_is_the_projects(printing: Printing) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    printing.client.post(f"{rbac}/clusterroles", {"metadata": {"name": "project-admin"}, "rules": _RULES})
    for namespace in (NAMESPACE, NEW):
        binding = {
            "metadata": {"name": "project-admin"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "project-admin"},
            "subjects": [{"kind": "User", "name": "ada", "apiGroup": "rbac.authorization.k8s.io"}],
        }
        printing.client.post(f"{rbac}/namespaces/{namespace}/rolebindings", binding)

    said = printing.bash(f"gitops manifests {quoted('--part', 'project')} | kubectl --as ada apply -f -")

    assert said.count(" created") == len(printing.printed("--part", "project"))
    refused = printing.bash(f"gitops manifests {quoted('--part', 'garden')} | kubectl --as ada apply -f - 2>&1 || true")
    assert "attempting to grant RBAC permissions not currently held" in refused
    assert " created" not in refused


def test_a_service_monitor_passes_where_its_kind_is_served(garden: Garden, tmp_path: Path) -> None:
    garden.create_shoot(shoot("runs"))
    server = garden.shoot_server("runs")
    definition = yaml.safe_load(_CRD.read_text())
    crds.install(server.client, [definition])
    crds.wait_until_established(server.client, [definition])
    repository = Repository(tmp_path / "repository", "garden-dev", garden.identity)
    repository.shoot("one", wave="canary")
    repository.policy()
    repository.commit()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(server.kubeconfig))
    server.client.post("/api/v1/namespaces", {"metadata": {"name": "shoot-gitops"}})
    printing = Printing(repository, server.client, kubeconfig)
    arguments = quoted("--part", "run", "--mode", "serve", "--service-monitor")

    said = printing.bash(f"gitops manifests {arguments} | kubectl apply -f -")

    assert "servicemonitor.monitoring.coreos.com/shoot-gitops created" in said.splitlines()


def templates(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pod templates among them."""
    found = [each["spec"]["jobTemplate"]["spec"]["template"] for each in objects if each["kind"] == "CronJob"]
    found += [each["spec"]["template"] for each in objects if each["kind"] == "Deployment"]
    assert found
    return found
