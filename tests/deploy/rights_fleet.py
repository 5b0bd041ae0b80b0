"""The fleet of `declared` on real API servers, where the pipeline has the printed rights and no others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from gitops.deploy.manifests import manifests
from gitops.deploy.printed import Part, Printed, yaml_text
from gitops.deploy.settings import Settings
from gitops.kube.cluster import Cluster
from gitops.kube.kubeconfig import open_garden
from gitops.kube.transport import USER_AGENT, Request, Response
from gitops.manifest import RUNTIME
from gitops.world import World
from tests.actors import crds
from tests.actors.gardenlet import Gardenlet
from tests.actors.installations import Installations
from tests.actors.operator import EXTENSIONS, Operator
from tests.control_plane.audit import Asked
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import CORE, CREDENTIALS, PROVIDER, REGION, cloud_profile, shoot
from tests.control_plane.retry import until_accepted
from tests.deploy.declared import NAMESPACE, NEW, SEED, Documents, composed, documents
from tests.end_to_end.control_plane_fleet import ControlPlaneFleet
from tests.end_to_end.requests import Requests

SETTINGS = Settings(image="registry.example/shoot-gitops:1", url="https://git.example/fleet.git")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
_EXTENSION_CRD = Path(__file__).parent.parent / "data" / "crds" / "operator.gardener.cloud_extensions.yaml"


def printed(settings: Settings = SETTINGS) -> tuple[Printed, ...]:
    """Manifests of the overlay."""
    return manifests([composed(documents("v1", "default", "group.spare"))], settings)


def role_path(role: dict[str, Any]) -> str:
    """Where an API server keeps a Role or a ClusterRole."""
    metadata = role["metadata"]
    within = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{RBAC}{within}/{role['kind'].lower()}s/{metadata['name']}"


class RightsFleet(ControlPlaneFleet):
    """Three Shoots, a fourth that is declared whole, and a runtime cluster with gardener-operator.

    Attributes:
        runtime: the runtime cluster, as an administrator.
        runtime_kubeconfig: of the pipeline's account there.
        users: by part of the manifests, the account that the pipeline has there.
    """

    def __init__(self, garden: Garden, folder: Path) -> None:
        super().__init__(garden, folder)
        garden.add_project(NEW)
        self._folder = folder
        garden.create_shoot(shoot("runtime"))
        server = self._servers["runtime"] = garden.shoot_server("runtime")
        self.runtime: Client = server.client
        definition = yaml.safe_load(_EXTENSION_CRD.read_text())
        crds.install(self.runtime, [definition])
        crds.wait_until_established(self.runtime, [definition])
        self._operator = Operator(self.runtime, self.client)
        self._bring_a_seed()
        self._seeds = Installations(self.client, SEED)
        self._newcomers = Gardenlet(self.client, NEW)
        self._use_a_profile_of_the_project()
        self.settle()
        self._grant(garden.kubeconfig, server.kubeconfig)

    @contextmanager
    def alive(self) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(super().alive())
            stack.enter_context(self._newcomers.run_in_background())
            yield

    @contextmanager
    def world(self, requests: Requests) -> Iterator[World]:
        requests.before = self._act
        transport = open_garden({}, file=self.runtime_kubeconfig)
        try:
            with super().world(requests) as world:
                yield replace(world, runtime=Cluster(requests.through(transport), target=RUNTIME))
        finally:
            transport.close()

    def declare(self, files: Documents) -> None:
        """Make the repository hold these files and nothing else, and the commit that says so."""
        for path in self.repository.path.rglob("*.yaml"):
            path.unlink()
        for name, documents_ in files.items():
            self.repository.write(name, *documents_)
        self.repository.overlay = files["overlays/dev/overlay.yaml"][0]
        self.repository.commit()

    def client_of(self, part: Part) -> Client:
        """An administrator of the cluster that a part of the manifests is for."""
        return self.runtime if part is Part.RUNTIME else self.client

    def asked(self, part: Part) -> set[Asked]:
        """What runs were authorized for, there, since the fleet is there."""
        runtime = part is Part.RUNTIME
        log = self._servers["runtime"].requests(USER_AGENT) if runtime else self._garden.requests(USER_AGENT)
        sent = {request.asked for request in log if request.asked and request.user == self.users[part]}
        # Server-side apply that creates is authorized twice (apiserver pkg/endpoints/handlers/patch.go).
        created = {
            replace(request.asked, verb="create")
            for request in log
            if request.asked and request.verb == "patch" and request.status == 201
        }
        reviewed = set() if runtime else set(self._garden.reviews(self.users[part]))
        return sent | created | reviewed

    def send(self, part: Part, request: Request) -> Response:
        """A request of the pipeline's account."""
        transport = open_garden({}, file=self.runtime_kubeconfig if part is Part.RUNTIME else self.kubeconfig)
        try:
            return transport(request)
        finally:
            transport.close()

    def allows(self, part: Part, asked: Asked) -> bool:
        """Whether the pipeline's account may do something, as the API server's own authorizer says."""
        resource, _, subresource = asked.resource.partition("/")
        attributes = {"verb": asked.verb, "group": asked.group, "resource": resource, "subresource": subresource}
        attributes |= {"namespace": asked.namespace, "name": asked.name}
        user = self.users[part]
        spec = {"user": user, "groups": _groups(user), "resourceAttributes": attributes}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(self.client_of(part).post(path, {"spec": spec})["status"]["allowed"])

    def _act(self, request: Request) -> None:
        """Operator and seeds are at work whenever somebody looks."""
        if request.method == "GET" and request.path == EXTENSIONS:
            self._operator.step()
        elif request.method == "GET" and request.path.endswith("/controllerinstallations"):
            self._seeds.step()

    def _bring_a_seed(self) -> None:
        """The one that the new Shoot names; its DNS provider is an extension of its own."""
        credentials = {"apiVersion": "v1", "kind": "Secret", "name": CREDENTIALS, "namespace": NAMESPACE}
        dns = {"type": PROVIDER, "credentialsRef": credentials}
        networks = {"pods": "10.1.0.0/16", "services": "10.2.0.0/16", "nodes": "10.0.0.0/16"}
        spec = {
            "provider": {"type": PROVIDER, "region": REGION},
            "dns": {"provider": dns, "internal": {**dns, "domain": "internal.example"}},
            "ingress": {"domain": "ingress.example", "controller": {"kind": "nginx"}},
            "networks": networks,
        }
        registered = {"resources": [{"kind": "DNSRecord", "type": PROVIDER}]}
        self.client.post(f"{CORE}/controllerregistrations", {"metadata": {"name": "dns"}, "spec": registered})
        until_accepted(partial(self.client.post, f"{CORE}/seeds", {"metadata": {"name": SEED}, "spec": spec}))

    def _use_a_profile_of_the_project(self) -> None:
        """Shoot `two` names a NamespacedCloudProfile, whose status its controller would fill in."""
        profiles = f"{CORE}/namespaces/{NAMESPACE}/namespacedcloudprofiles"
        parent = {"kind": "CloudProfile", "name": "local"}
        until_accepted(partial(self.client.post, profiles, {"metadata": {"name": "own"}, "spec": {"parent": parent}}))
        status = {"cloudProfileSpec": cloud_profile()["spec"], "observedGeneration": 1}
        self.client.merge_patch(f"{profiles}/own/status", {"status": status})
        profile = {"kind": "NamespacedCloudProfile", "name": "own"}
        patch = {"spec": {"cloudProfile": profile, "cloudProfileName": None}}
        until_accepted(partial(self.client.merge_patch, self.shoot_path("two"), patch))

    def _grant(self, garden: Path, runtime: dict[str, Any]) -> None:
        """Apply what is printed, as their operators do, and act by its accounts from now on."""
        runtime_admin = self._folder / "runtime-admin.kubeconfig"
        runtime_admin.write_text(json.dumps(runtime))
        self.runtime.post("/api/v1/namespaces", {"metadata": {"name": SETTINGS.namespace}})
        objects = printed()
        apply(garden, [each for each in objects if each.part in {Part.PROJECT, Part.GARDEN}])
        apply(runtime_admin, [each for each in objects if each.part is Part.RUNTIME])
        account = (NAMESPACE, "shoot-gitops")
        self.users = dict.fromkeys(Part, _user(*account)) | {
            Part.RUNTIME: _user(SETTINGS.namespace, "shoot-gitops-runtime")
        }
        self.kubeconfig = self._folder / "garden.kubeconfig"
        self.kubeconfig.write_text(json.dumps(_kubeconfig(self.client, json.loads(garden.read_text()), *account)))
        self.runtime_kubeconfig = self._folder / "runtime.kubeconfig"
        runtime_account = (SETTINGS.namespace, "shoot-gitops-runtime")
        self.runtime_kubeconfig.write_text(json.dumps(_kubeconfig(self.runtime, runtime, *runtime_account)))


def apply(kubeconfig: Path, objects: list[Printed], *flags: str) -> str:
    """`kubectl apply` what is printed; returns what kubectl says."""
    command = ["kubectl", "--kubeconfig", str(kubeconfig), "apply", "--filename", "-", *flags]
    done = subprocess.run(command, input=yaml_text(objects), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _kubeconfig(client: Client, admin: dict[str, Any], namespace: str, account: str) -> dict[str, Any]:
    """A kubeconfig with a token that the API server issued for an account."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    token = client.post(path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    return {**admin, "users": [{"name": admin["users"][0]["name"], "user": {"token": token}}]}


def _user(namespace: str, account: str) -> str:
    return f"system:serviceaccount:{namespace}:{account}"


def _groups(user: str) -> list[str]:
    namespace = user.split(":")[2]
    return ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
