"""A whole landscape in one process: the garden, its shoots, and everybody who works on them."""

from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlparse

import yaml

from gitops.sandbox import access, agents, builtins, furnishing, gardenlet, inside, seeding
from gitops.sandbox.access import Issuer, Tokens
from gitops.sandbox.api import ApiServer
from gitops.sandbox.clock import Clock, VirtualClock
from gitops.sandbox.cluster import Cluster
from gitops.sandbox.faults import Faults, facts, failure
from gitops.sandbox.options import Options
from gitops.sandbox.store import Collection as Where
from gitops.sandbox.store import Event, Store
from gitops.sandbox.watching import Patience
from gitops.sandbox.wire import ApiError, Manifest, Request, Response, UnreachableError, encoded

Handler = Callable[[Request], Response]
"""One client's way to one API server."""


class Landscape:
    """Garden and shoots. Every client goes through `connect`; time moves by the clock."""

    def __init__(
        self,
        shoots: Sequence[Manifest] = (),
        clock: Clock | None = None,
        *,
        faults: Faults | None = None,
        options: Options | None = None,
    ) -> None:
        self.clock: Clock = clock or VirtualClock()
        """The landscape's time."""
        self.faults = faults or Faults()
        """What goes wrong."""
        self.store = Store()
        """Everything there is."""
        self.options = options or Options()
        """How it was made."""
        self.base_url = "https://sandbox.invalid"
        """Where kubeconfigs point; a server replaces it."""
        self.certificate = b""
        """The PEM that clients trust; a server replaces it."""
        self.tokens = Tokens(self.clock)
        """Who may come in."""
        self._issuer = Issuer(self.tokens, self.url, lambda: self.certificate, self.clock)
        self._extensions: dict[str, set[str]] = {}
        self._shoots: dict[str, ApiServer] = {}
        served = (*builtins.common(), *builtins.gardener())
        self._garden = ApiServer(Cluster("garden", self.store, self.clock, served), self._issuer)
        self._gardenlet = gardenlet.Gardenlet(self, self.clock, self.faults, self.options.pace)
        self._agents = agents.Agents(
            self.clock,
            self.faults,
            self._patch_policy_status,
            namespace=self.options.policy_namespace,
            reaction=self.options.pace.agents,
        )
        for name, settled in seeding.populate(self._garden.cluster, shoots, self.options, self.url):
            self._gardenlet.adopt(name, settled)
        self.store.listeners.append(self._notice)

    # What clients use

    def garden_kubeconfig(self, role: access.Role = "admin") -> bytes:
        """Return a kubeconfig for the garden that does not expire."""
        token = self.tokens.mint("garden", role, role)
        return access.kubeconfig("garden", self.url("garden"), self.certificate, token)

    def shoot_kubeconfig(self, name: str) -> bytes:
        """Return an administrator's kubeconfig for a shoot, by `<namespace>/<name>`, that does not expire."""
        token = self.tokens.mint(name, "admin", "admin")
        return access.kubeconfig(name.replace("/", "--"), self.url(name), self.certificate, token)

    def connect(self, kubeconfig: bytes) -> Handler:
        """Return a way to the API server that a kubeconfig of this landscape names, without any socket."""
        config = yaml.safe_load(kubeconfig)
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        path = urlparse(cluster["server"]).path
        return lambda request: self.answer(path, user["token"], request)

    def answer(self, base_path: str, token: str, request: Request, patience: Patience = "backlog") -> Response:
        """Answer one request to one API server.

        Raises:
            UnreachableError: no server answers: the shoot is hibernated or gone, or a fault says so.
            TimeoutError: a fault swallowed the request.
        """
        name = _cluster_name(base_path)
        try:
            self._delete_due()
            fault = self.faults.request(facts(name, request))
            server = self._server(name)
            if fault is not None:
                self.clock.sleep(fault.seconds)
                if fault.effect == "Unauthorized":
                    self.tokens.expire(name)
                if fault.effect != "Slow":
                    raise failure(fault, f"{self.url(name)}{request.path}")
            if self.options.latency:
                self.clock.sleep(self.options.latency)
            identity = self.tokens.identity(name, token)
        except ApiError as problem:
            headers = {"Content-Type": "application/json", **problem.headers}
            return Response(problem.code, headers, encoded(problem.status))
        return server.handle(request, identity, patience)

    def url(self, name: str) -> str:
        """Return the URL of the garden's or a shoot's API server."""
        return f"{self.base_url}/garden" if name == "garden" else f"{self.base_url}/shoots/{name}"

    def move_to(self, base_url: str, certificate: bytes) -> None:
        """Be served somewhere else: kubeconfigs and Shoots name the new address from now on."""
        shoots = self._garden.cluster.resource("core.gardener.cloud", "v1beta1", "shoots")
        where = self._garden.cluster.collection(shoots)
        with self.store.changed:
            for stored in self.store.objects(where):
                self.store.rewrite(where, stored, self.base_url, base_url)
            self.base_url, self.certificate = base_url, certificate

    def advance(self, seconds: float) -> None:
        """Let landscape time pass; on a virtual clock everything that is due happens before this returns."""
        self.clock.sleep(seconds)

    def cluster(self, name: str) -> Cluster:
        """Return the state behind the garden, or behind a shoot that is awake."""
        return self._server(name).cluster

    # What the gardenlet uses

    def shoot(self, name: str) -> Manifest | None:
        """Return a Shoot by `<namespace>/<name>`, or None where there is none."""
        namespace, _, short = name.partition("/")
        return self._garden.cluster.find("shoots", namespace, short)

    def address(self, name: str) -> str:
        """Return the URL of a shoot's API."""
        return self.url(name)

    def patch_shoot(self, name: str, patch: Manifest, subresource: str = "") -> None:
        """Merge a patch into a Shoot as the gardenlet; a Shoot that has gone is left alone."""
        namespace, _, short = name.partition("/")
        path = f"/apis/core.gardener.cloud/v1beta1/namespaces/{namespace}/shoots/{short}"
        inside.patch(self._garden.cluster, f"{path}/{subresource}".rstrip("/"), patch, "gardenlet")

    def enter_shoot(self, name: str, shoot: Manifest, extensions: Iterable[str]) -> None:
        """Make a shoot's API look as its spec asks: nodes, and the CRDs of enabled extensions."""
        known = {kind for kind in extensions if kind in self.options.extensions}
        self._extensions[name] = known
        if name in self._shoots:
            furnishing.furnish(self._shoots[name].cluster, shoot, known, self.options.extensions)

    def leave_shoot(self, name: str) -> None:
        """Take a shoot's API away."""
        self._shoots.pop(name, None)
        self._extensions.pop(name, None)
        self.store.drop(name)

    # Inside

    def _server(self, name: str) -> ApiServer:
        """Return an API server; shoots come to life when first asked for."""
        if name == "garden":
            return self._garden
        with self.store.changed:
            shoot = self.shoot(name)
            if shoot is None or not shoot.get("status", {}).get("advertisedAddresses"):
                raise UnreachableError(f"no API server at {self.url(name)}")
            if shoot["status"].get("hibernated"):
                raise UnreachableError(f"{name} is hibernated")
            if name not in self._shoots:
                cluster = Cluster(name, self.store, self.clock, builtins.common())
                self._shoots[name] = ApiServer(cluster)
                for namespace in ("default", "kube-system", "kube-public", "kube-node-lease"):
                    inside.create(cluster, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
                known = self._extensions.get(name, set())
                furnishing.furnish(cluster, shoot, known, self.options.extensions)
                cluster.crd_delay = self.options.crd_delay
            return self._shoots[name]

    def _patch_policy_status(self, cluster: str, plural: str, namespace: str, name: str, patch: Manifest) -> None:
        server = self._shoots.get(cluster)
        if server is not None:
            path = f"/apis/config.nri/v1alpha1/namespaces/{namespace}/{plural}/{name}/status"
            inside.patch(server.cluster, path, patch, f"nri-resource-policy-{plural.removesuffix('policies')}")

    def _notice(self, event: Event) -> None:
        where = event.collection
        if where == Where("garden", "core.gardener.cloud", "shoots"):
            name = f"{event.stored.namespace}/{event.stored.name}"
            if event.type == "DELETED":
                self.clock.call_later(0, lambda: self.leave_shoot(name))
            else:
                self._gardenlet.notice(name, event.stored.manifest())
        elif where.cluster in self._shoots:
            self._agents.notice(self._shoots[where.cluster].cluster, event)
        elif event.type == "MODIFIED":
            self._notice_registration(where, event.stored.name)

    def _notice_registration(self, where: Where, name: str) -> None:
        """Let an extension's installations catch up with its deployment, or with its registration, soon."""
        references = {"controllerdeployments": "deploymentRef", "controllerregistrations": "registrationRef"}
        reference = references.get(where.plural)
        if reference is not None and where == Where("garden", "core.gardener.cloud", where.plural):
            self.clock.call_later(self.options.pace.care, lambda: self._roll_out(where.plural, reference, name))

    def _roll_out(self, plural: str, reference: str, name: str) -> None:
        cluster = self._garden.cluster
        source = cluster.find(plural, "", name)
        if source is None:
            return
        seen = {"name": name, "resourceVersion": source["metadata"]["resourceVersion"]}
        resource = cluster.resource("core.gardener.cloud", "v1beta1", "controllerinstallations")
        for installation in list(cluster.all(resource)):
            if installation["spec"].get(reference, {}).get("name") == name:
                path = f"/apis/core.gardener.cloud/v1beta1/controllerinstallations/{installation['metadata']['name']}"
                inside.patch(cluster, path, {"spec": {reference: seen}}, "gardener-controller-manager")
                listed = installation.get("status", {}).get("conditions") or ()
                looked = [{**condition, "lastUpdateTime": cluster.now()} for condition in listed]
                inside.patch(cluster, f"{path}/status", {"status": {"conditions": looked}}, "gardenlet")

    def _delete_due(self) -> None:
        for name in self.faults.due_deletions():
            namespace, _, short = name.partition("/")
            shoots = Where("garden", "core.gardener.cloud", "shoots")
            if self.store.get(shoots, namespace, short) is not None:
                self.store.delete(shoots, namespace, short)
                self.leave_shoot(name)


def _cluster_name(base_path: str) -> str:
    parts = base_path.strip("/").split("/")
    return "/".join(parts[1:3]) if parts[0] == "shoots" else "garden"


def _named(items: Sequence[Manifest], name: str) -> Manifest:
    return next(item for item in items if item["name"] == name)
