"""One API server's state: which resources it serves, and its objects in the store."""

from collections.abc import Iterable, Iterator
from uuid import UUID, uuid5

from gitops.sandbox import crds
from gitops.sandbox.clock import Clock, stamp
from gitops.sandbox.kinds import Resource
from gitops.sandbox.store import Collection, Store, Stored
from gitops.sandbox.wire import Manifest, encoded, no_such_resource

_UIDS = UUID("5eedc0de-0000-4000-8000-000000000000")


class Cluster:
    """The garden, or one shoot."""

    def __init__(self, name: str, store: Store, clock: Clock, builtins: Iterable[Resource]) -> None:
        self.name = name
        """`garden`, or `<namespace>/<name>` of a shoot."""
        self.store = store
        """Shared by all clusters of a landscape."""
        self.clock = clock
        """The landscape's time."""
        self.crd_delay = 0.0
        """Seconds until a new CRD's resource is served."""
        self._resources: dict[tuple[str, str, str], Resource] = {
            (item.group, item.version, item.plural): item for item in builtins
        }

    def resources(self) -> list[Resource]:
        """Return everything that is served."""
        return list(self._resources.values())

    def resource(self, group: str, version: str, plural: str) -> Resource:
        """Return a served resource; raises 404 where there is none."""
        found = self._resources.get((group, version, plural))
        if found is None:
            raise no_such_resource()
        return found

    def any_version(self, group: str, plural: str) -> Resource | None:
        """Return a served resource in its storage version, or None."""
        found = [item for item in self._resources.values() if (item.group, item.plural) == (group, plural)]
        return next((item for item in found if item.api_version == item.stored_version), None)

    def collection(self, resource: Resource) -> Collection:
        """Return where a resource's objects are kept."""
        return Collection(self.name, resource.group, resource.plural)

    def read(self, resource: Resource, namespace: str, name: str) -> Manifest | None:
        """Return an object in a resource's version, or None."""
        stored = self.store.get(self.collection(resource), namespace, name)
        return self.served(stored, resource) if stored else None

    def served(self, stored: Stored, resource: Resource) -> Manifest:
        """Return a stored object in a resource's version."""
        manifest = stored.manifest()
        if resource.api_version != resource.stored_version:
            manifest = converted(manifest, resource.api_version)
        return manifest

    def find(self, plural: str, namespace: str, name: str) -> Manifest | None:
        """Return an object by its resource's plural alone, or None."""
        for resource in self._resources.values():
            if resource.plural == plural:
                return self.read(resource, namespace, name)
        return None

    def all_of(self, plural: str) -> Iterator[Manifest]:
        """Yield every object of a resource named by its plural alone."""
        for resource in list(self._resources.values()):
            if resource.plural == plural and resource.api_version == resource.stored_version:
                yield from self.all(resource)

    def all(self, resource: Resource, namespace: str = "") -> Iterator[Manifest]:
        """Yield every object of a resource."""
        for stored in self.store.objects(self.collection(resource), namespace):
            yield self.served(stored, resource)

    def now(self) -> str:
        """Return the time as the API spells it."""
        return stamp(self.clock.now())

    def new_uid(self) -> str:
        """Return a uid that only depends on what has happened before."""
        return str(uuid5(_UIDS, f"{self.name}/{self.store.revision}"))

    def crd_written(self, crd: Manifest) -> None:
        """Serve what a CRD defines, as soon as it is established, and forget what it no longer defines."""
        self.crd_gone(crd)
        if crds.is_established(crd) and "deletionTimestamp" not in crd["metadata"]:
            for resource in crds.served(crd):
                self._resources[resource.group, resource.version, resource.plural] = resource
        elif not crds.is_established(crd):
            name = crd["metadata"]["name"]
            if self.crd_delay:
                self.clock.call_later(self.crd_delay, lambda: self.establish(name))
            else:
                self.establish(name)

    def crd_gone(self, crd: Manifest) -> None:
        """Serve a CRD's resource no longer."""
        group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        for key in [key for key in self._resources if (key[0], key[2]) == (group, plural)]:
            del self._resources[key]

    def establish(self, name: str) -> None:
        """Do what the server's own controllers do for a new CRD: accept its names and serve it."""
        with self.store.changed:
            where = Collection(self.name, crds.GROUP, crds.PLURAL)
            stored = self.store.get(where, "", name)
            if stored is None or crds.is_established(stored.manifest()):
                return
            crd = stored.manifest()
            crd["status"] = crds.established_status(crd, self.now())
            crd["metadata"].setdefault("managedFields", []).insert(0, _establisher(self.now()))
            self.store.put(where, crd)
            self.crd_written(crd)


def _establisher(now: str) -> Manifest:
    """Return the entry of the server's own write, as its controllers leave it."""
    leaves: Manifest = {f"f:{name}": {} for name in ("lastTransitionTime", "message", "reason", "status", "type")}
    conditions = {f'k:{{"type":"{kind}"}}': {".": {}, **leaves} for kind in ("Established", "NamesAccepted")}
    names: Manifest = {f"f:{name}": {} for name in ("kind", "listKind", "plural", "singular")}
    return {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": "apiextensions.k8s.io/v1",
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": {"f:acceptedNames": names, "f:conditions": conditions}},
        "subresource": "status",
    }


def converted(manifest: Manifest, api_version: str) -> Manifest:
    """Return an object in another version; only ControllerDeployments differ in more than the name."""
    same = {**manifest, "apiVersion": api_version}
    if manifest["kind"] != "ControllerDeployment" or manifest["apiVersion"] == api_version:
        return same
    if api_version.endswith("/v1"):
        helm = dict(same.pop("providerConfig", None) or {})
        same.pop("type", None)
        if "chart" in helm:
            helm["rawChart"] = helm.pop("chart")
        return {**same, "helm": helm}
    helm = dict(same.pop("helm", None) or {})
    if "rawChart" in helm:
        helm["chart"] = helm.pop("rawChart")
    return {**same, "type": "helm", "providerConfig": helm}


def prefix(resource: Resource) -> bytes:
    """Return what the stored bytes of a built-in kind's object begin with, before its own fields."""
    return encoded({"kind": resource.kind, "apiVersion": resource.stored_version})[:-1] + b","
