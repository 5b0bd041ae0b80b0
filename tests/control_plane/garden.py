"""What a test sees of the landscape: a namespace of its own in the garden, and its Shoots' API servers."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.control_plane import audit, objects
from tests.control_plane.client import Client
from tests.control_plane.landscape import Landscape
from tests.control_plane.objects import Manifest
from tests.control_plane.pool import ShootServer
from tests.control_plane.process import free_port
from tests.control_plane.retry import until_accepted


class Garden:
    """A Project in the landscape, for one test.

    Attributes:
        kubeconfig: path of the garden's admin kubeconfig.
        namespace: the Project's.
        identity: content of ConfigMap kube-system/cluster-identity.
        client: admin of the garden.
    """

    def __init__(self, landscape: Landscape, namespace: str = "") -> None:
        """Make a Project and its namespace; `garden-<random>` unless told otherwise."""
        self._landscape = landscape
        self._servers: dict[str, ShootServer] = {}
        self._leasing = threading.Lock()
        self._audit_start = landscape.audit_log.stat().st_size
        self.kubeconfig = landscape.kubeconfig
        self.identity = landscape.identity
        self.client: Client = landscape.client
        self.namespace = namespace or f"garden-{secrets.token_hex(3)}"
        self.add_project(self.namespace)

    def add_project(self, namespace: str) -> None:
        """Make a further Project with its namespace and credentials; `namespace` begins with `garden-`."""
        name = namespace.removeprefix("garden-")
        self.client.post("/api/v1/namespaces", objects.project_namespace(namespace, name))
        until_accepted(partial(self.client.post, f"{objects.CORE}/projects", objects.project(name, namespace)))
        self.ensure_secret(objects.CREDENTIALS, namespace=namespace)
        bindings = f"{objects.SECURITY}/namespaces/{namespace}/credentialsbindings"
        until_accepted(partial(self.client.post, bindings, objects.credentials_binding(namespace)))

    def create_shoot(self, manifest: Manifest) -> Manifest:
        """Create a Shoot as a user would, and the Secrets and ConfigMaps it refers to where they are missing."""
        metadata = {"namespace": self.namespace, **manifest["metadata"]}
        namespace = metadata["namespace"]
        for resource in manifest["spec"].get("resources", []):
            reference = resource["resourceRef"]
            if reference["kind"] == "Secret":
                self.ensure_secret(reference["name"], namespace=namespace)
            elif reference["kind"] == "ConfigMap":
                self._ensure(f"/api/v1/namespaces/{namespace}/configmaps", reference["name"])
        shoots = f"{objects.CORE}/namespaces/{namespace}/shoots"
        return until_accepted(partial(self.client.post, shoots, {**manifest, "metadata": metadata}))

    def get_shoot(self, name: str) -> Manifest:
        return self.client.get(self.shoot_path(name))

    def shoot_path(self, name: str) -> str:
        """API path of a Shoot, by its name or by `<namespace>/<name>`."""
        namespace, name = self._target(name).split("/")
        return f"{objects.CORE}/namespaces/{namespace}/shoots/{name}"

    def ensure_secret(self, name: str, *, namespace: str = "") -> None:
        """Make an empty Secret if there is none of that name."""
        self._ensure(f"/api/v1/namespaces/{namespace or self.namespace}/secrets", name)

    def shoot_server(self, name: str) -> ShootServer:
        """The API server of an existing Shoot; from the first call on, the Shoot's kubeconfigs reach it.

        Args:
            name: a Shoot in our namespace, or `<namespace>/<name>`.
        """
        target = self._target(name)
        with self._leasing:  # actors call us from their threads
            if target not in self._servers:
                self._servers[target] = self._landscape.shoots.lease(target)
                self._make_reachable(self._servers[target])
            return self._servers[target]

    def shoot_client(self, name: str) -> Client:
        """An admin of a Shoot, at its own API server: see `shoot_server`."""
        return self.shoot_server(name).client

    def shoot_clients(self) -> dict[str, Client]:
        """Admins of all Shoots that have an API server by now, by `<namespace>/<name>`."""
        return {target: server.client for target, server in dict(self._servers).items()}

    @contextmanager
    def cut_off(self, name: str) -> Iterator[None]:
        """Let fresh kubeconfigs of a Shoot lead to a port where nobody listens."""
        server = self.shoot_server(name)
        self._advertise(name, f"https://127.0.0.1:{free_port()}")
        try:
            yield
        finally:
            self._advertise(name, server.url)

    def requests(self, user_agent: str = "") -> list[audit.Request]:
        """What the garden's kube-apiserver answered since this test began, except to `Client`s of the tests.

        Args:
            user_agent: only of agents that begin so.
        """
        return audit.requests(self._landscape.audit_log, self._audit_start, user_agent)

    def reviews(self, user: str) -> list[audit.Asked]:
        """What gardener-apiserver asked about a user's rights since this test began, and was granted."""
        return audit.reviews(self._landscape.audit_log, self._audit_start, user)

    def leave(self) -> None:
        """Give the shoot servers back, and wipe the garden."""
        for server in self._servers.values():
            self._landscape.shoots.give_back(server)
        self._servers.clear()
        self._landscape.wipe()

    def _target(self, name: str) -> str:
        return name if "/" in name else f"{self.namespace}/{name}"

    def _ensure(self, collection: str, name: str) -> None:
        if self.client.find(f"{collection}/{name}") is None:
            self.client.post(collection, {"metadata": {"name": name}})

    def _make_reachable(self, server: ShootServer) -> None:
        """What gardenlet leaves in the garden once a shoot's API server runs."""
        namespace, name = server.target.split("/")
        ca = {"ca.crt": server.authority.certificate_base64, "ca.key": server.authority.key_base64}
        internal = {"metadata": {"name": f"{name}.ca-client"}, "data": ca}
        until_accepted(partial(self.client.post, f"{objects.CORE}/namespaces/{namespace}/internalsecrets", internal))
        cluster = {"ca.crt": server.authority.certificate_pem}
        self.client.post(
            f"/api/v1/namespaces/{namespace}/configmaps",
            {"metadata": {"name": f"{name}.ca-cluster"}, "data": cluster},
        )
        self._advertise(server.target, server.url)

    def _advertise(self, name: str, url: str) -> None:
        addresses = [{"name": "external", "url": url}]
        self.client.merge_patch(f"{self.shoot_path(name)}/status", {"status": {"advertisedAddresses": addresses}})
