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
<<<<<<< HEAD
        current = next(item for item in config["contexts"] if item["name"] == config["current-context"])["context"]
        cluster = next(item for item in config["clusters"] if item["name"] == current["cluster"])["cluster"]
        user = next(item for item in config["users"] if item["name"] == current["user"])["user"]
        path = urlparse(cluster["server"]).path.strip("/")
=======
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        path = urlparse(cluster["server"]).path
>>>>>>> main
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
        elif where == Where("garden", "core.gardener.cloud", "controllerdeployments") and event.type == "MODIFIED":
            self.clock.call_later(self.options.pace.care, lambda: self._roll_out(event.stored.name))

    def _roll_out(self, kind: str) -> None:
        """Let an extension's installation catch up with its deployment."""
        cluster = self._garden.cluster
        deployment = cluster.find("controllerdeployments", "", kind)
        if deployment is not None:
            revision = deployment["metadata"]["resourceVersion"]
            patch = {"spec": {"deploymentRef": {"name": kind, "resourceVersion": revision}}}
            path = f"/apis/core.gardener.cloud/v1beta1/controllerinstallations/{kind}-sandbox"
            inside.patch(self._garden.cluster, path, patch, "gardener-controller-manager")

<<<<<<< HEAD
    def _seed(self, declared: Sequence[Manifest]) -> None:
        whole = [seeding.completed(shoot, self.options.extensions) for shoot in declared]
        cluster = self._garden.cluster
        for manifest in seeding.surroundings(whole, self.options.identity, self.options.extensions):
            inside.create(cluster, manifest)
        for registration in list(
            cluster.all(cluster.resource("core.gardener.cloud", "v1beta1", "controllerregistrations"))
        ):
            kind = registration["metadata"]["name"]
            deployment = cluster.find("controllerdeployments", "", kind) or {}
            made = seeding.installation(kind, registration, deployment, cluster.now())
            status = made.pop("status")
            inside.create(cluster, made, "gardener-controller-manager")
            path = f"/apis/core.gardener.cloud/v1beta1/controllerinstallations/{kind}-sandbox/status"
            inside.patch(self._garden.cluster, path, {"status": status}, "gardenlet")
        settled = [self._settle(shoot) for shoot in whole]
        where = cluster.collection(cluster.resource("core.gardener.cloud", "v1beta1", "shoots"))
        for index in range(self.options.copies if settled else 0):
            original = settled[index % len(settled)]
            name = f"{original['metadata']['name']}-{index:04}"
            metadata = {**original["metadata"], "name": name, "uid": cluster.new_uid()}
            status = {
                **original["status"],
                "uid": metadata["uid"],
                "advertisedAddresses": [{"name": "external", "url": self.url(f"{metadata['namespace']}/{name}")}],
            }
            copy = {**original, "metadata": metadata, "status": status}
            self.store.put(where, copy)
            self._gardenlet.adopt(f"{metadata['namespace']}/{name}", original)

    def _settle(self, shoot: Manifest) -> Manifest:
        """Create a Shoot and let its first operation be over."""
        inside.create(self._garden.cluster, shoot, "gardener-dashboard")
        name = f"{shoot['metadata']['namespace']}/{shoot['metadata']['name']}"
        now = self._garden.cluster.now()
        is_hibernated = bool((shoot["spec"].get("hibernation") or {}).get("enabled"))
        operation = {"type": "Create", "state": "Succeeded", "progress": 100, "lastUpdateTime": now}
        reason = "ConditionNotChecked" if is_hibernated else ""
        status = {
            "observedGeneration": 1,
            "lastOperation": {**operation, "description": "Shoot cluster has been successfully created."},
            "conditions": gardenlet.conditions(shoot, "True", now, reason),
            "hibernated": is_hibernated,
            "gardener": {"id": "sandbox", "name": "gardenlet-sandbox", "version": "v1.149.3"},
            "technicalID": nodes.technical_id(shoot),
            "uid": (self.shoot(name) or {})["metadata"]["uid"],
            "advertisedAddresses": [{"name": "external", "url": self.url(name)}],
        }
        self.patch_shoot(name, {"status": status}, "status")
        tasks = {"shoot.gardener.cloud/tasks": None}
        labels = {"shoot.gardener.cloud/status": "healthy"}
        self.patch_shoot(name, {"metadata": {"annotations": tasks, "labels": labels, "finalizers": ["gardener"]}})
        settled = self.shoot(name)
        if settled is None:
            raise RuntimeError(f"{name} has not been created")
        self._gardenlet.adopt(name, settled)
        return settled

=======
>>>>>>> main
    def _delete_due(self) -> None:
        for name in self.faults.due_deletions():
            namespace, _, short = name.partition("/")
            shoots = Where("garden", "core.gardener.cloud", "shoots")
            if self.store.get(shoots, namespace, short) is not None:
                self.store.delete(shoots, namespace, short)
                self.leave_shoot(name)

<<<<<<< HEAD
    def _suffer(self, fault: RequestFault, name: str, request: Request) -> None:
        retry = {"Retry-After": str(fault.retry_after)}
        match fault.effect:
            case "TooManyRequests":
                text = "the server has received too many requests and has asked us to try again later"
                raise ApiError(429, "TooManyRequests", text, {"retryAfterSeconds": fault.retry_after}, retry)
            case "Unavailable":
                text = "the server is currently unable to handle the request"
                raise ApiError(503, "ServiceUnavailable", text, {"retryAfterSeconds": fault.retry_after}, retry)
            case "InternalError":
                raise ApiError(500, "InternalError", "Internal error occurred: the sandbox was told to fail")
            case "Conflict":
                raise ApiError(409, "Conflict", f"Operation cannot be fulfilled: {MODIFIED}")
            case "Unauthorized":
                self.tokens.expire(name)
                raise ApiError(401, "Unauthorized", "Unauthorized")
            case "Forbidden":
                raise ApiError(
                    403, "Forbidden", f'forbidden: User "admin" cannot {request.method} path "{request.path}"'
                )
            case "Slow":
                self.clock.sleep(fault.seconds)
            case "BlackHole":
                self.clock.sleep(fault.seconds)
                raise TimeoutError(f"{self.url(name)} does not answer")
            case "Reset":
                raise UnreachableError(f"{self.url(name)} reset the connection")

=======
>>>>>>> main

def _cluster_name(base_path: str) -> str:
    parts = base_path.strip("/").split("/")
    return "/".join(parts[1:3]) if parts[0] == "shoots" else "garden"


def _named(items: Sequence[Manifest], name: str) -> Manifest:
    return next(item for item in items if item["name"] == name)
