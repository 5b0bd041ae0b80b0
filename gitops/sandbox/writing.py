"""POST and PUT, and the way every write goes: defaults, ownership, admission, validation, storage.

Follows k8s.io/apiserver pkg/endpoints/handlers and pkg/registry/rest.
"""

import random
from dataclasses import dataclass

from gitops.sandbox import crds, decoding, managed_fields, validation
from gitops.sandbox.cluster import Cluster, converted
from gitops.sandbox.kinds import Context, Resource
from gitops.sandbox.managed_fields import Authorship, Managers, Writer
from gitops.sandbox.reading import Scope, answer, current
from gitops.sandbox.recognising import cleaned, defaulted, recognised
from gitops.sandbox.wire import (
    MODIFIED,
    ApiError,
    Cause,
    Manifest,
    Request,
    Response,
    already_exists,
    bad_request,
    conflict,
    encoded,
    forbidden,
    forbidden_field,
    invalid,
    invalid_value,
    not_found,
    unsupported,
)


@dataclass(frozen=True)
class Write:
    """One write and how it is wanted."""

    cluster: Cluster
    """Where."""
    scope: Scope
    """What."""
    user: str
    """Who."""
    manager: str
    """The field manager."""
    validation: str
    """Strict, Warn or Ignore."""
    dry_run: bool
    """Whether nothing may be kept."""
    force: bool = False
    """Whether an apply takes conflicting fields over."""

    def authorship(self, operation: str) -> Authorship:
        """Return which managedFields entry this write goes to, and when."""
        kept = self.scope.subresource if self.scope.subresource == "status" else ""
        resource = self.scope.resource
        writer = Writer(self.manager, operation, resource.api_version, kept)
        return Authorship(writer, resource.schema, self.cluster.now())

    def context(self) -> Context:
        """Return what admission may look at."""
        return Context(self.user, self.cluster.now(), self.cluster.find, self.cluster.all_of)


def write_of(cluster: Cluster, scope: Scope, request: Request, user: str, options: str) -> Write:
    """Read a write's parameters; raises 422 for values the API does not know."""
    dry_run = [value for key, value in request.query if key == "dryRun"]
    if any(value != "All" for value in dry_run):
        shown = Cause(
            "dryRun",
            "FieldValueNotSupported",
            f'Unsupported value: {encoded(dry_run).decode()}: supported values: "All"',
        )
        raise invalid("meta.k8s.io", options, "", [shown])
    mode = request.parameter("fieldValidation", "Warn")
    if mode not in {"Strict", "Warn", "Ignore"}:
        cause = unsupported("fieldValidation", mode, ["", "Ignore", "Strict", "Warn"])
        raise invalid("meta.k8s.io", options, "", [cause])
    manager = request.parameter("fieldManager") or request.user_agent.partition("/")[0][:128] or "unknown"
    force = request.parameter("force") == "true"
    return Write(cluster, scope, user, manager, mode, bool(dry_run), force)


def create(write: Write, request: Request) -> Response:
    """Answer a POST."""
    resource = write.scope.resource
    decoded = decoding.decode(request.body, resource.kind)
    manifest = recognised(decoded.manifest, resource, request)
    manifest, warnings = cleaned(manifest, resource, decoded.duplicates, write.validation)
    with write.cluster.store.changed:
        new = created(write, manifest, None)
    return answer(encoded(new), 201, warnings)


def created(write: Write, manifest: Manifest, managers: Managers | None) -> Manifest:
    """Bring a new object to life; `managers` are its owners where an apply has computed them already."""
    cluster, resource = write.cluster, write.scope.resource
    _place(manifest, write.scope)
    if manifest["metadata"].get("resourceVersion"):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    metadata = manifest["metadata"]
    for name in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
        metadata.pop(name, None)
    if resource.rules.raises_generation is not None:
        metadata.pop("generation", None)
    if "status" in resource.subresources:
        manifest.pop("status", None)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + _suffix(cluster)
    if managers is None:
        sent = managed_fields.before({}, manifest, "")
        defaulted(manifest, resource)
        managers = managed_fields.update(resource.zero, manifest, sent, write.authorship("Update"))
    else:
        defaulted(manifest, resource)
    _refuse_namespace(write)
    metadata["managedFields"] = managed_fields.written(managers)
    metadata["uid"], metadata["creationTimestamp"] = cluster.new_uid(), cluster.now()
    rules = resource.rules
    rules.mutate(manifest, None, write.context())
    if rules.raises_generation is not None:
        metadata["generation"] = 1
    if rules.prepare is not None:
        rules.prepare(manifest, None)
    _validate(manifest, None, write)
    rules.review(manifest, None, write.context())
    if cluster.read(resource, metadata.get("namespace", ""), metadata["name"]) is not None:
        raise already_exists(resource.group, resource.plural, metadata["name"])
    _tidy(manifest)
    return manifest if write.dry_run else kept(cluster, resource, manifest)


def replace(write: Write, request: Request) -> Response:
    """Answer a PUT."""
    resource, scope = write.scope.resource, write.scope
    decoded = decoding.decode(request.body, resource.kind)
    manifest = recognised(decoded.manifest, resource, request)
    manifest, warnings = cleaned(manifest, resource, decoded.duplicates, write.validation)
    with write.cluster.store.changed:
        old = write.cluster.served(current(write.cluster, scope), resource)
        if not manifest["metadata"].get("resourceVersion") and not resource.blind_update:
            cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid(resource.group, resource.plural, scope.name, [cause])
        new = updated(write, manifest, old, None)
    return answer(encoded(new), 200, warnings)


def check_name(manifest: Manifest, scope: Scope) -> None:
    """Refuse an object whose name is not the path's; raises 400."""
    sent = manifest["metadata"].get("name")
    if not sent:
        text = f"the name of the object ({scope.name} based on URL) was undeterminable"
        raise bad_request(f"{text}: name must be provided")
    if sent != scope.name:
        raise bad_request(f"the name of the object ({sent}) does not match the name on the URL ({scope.name})")


def updated(write: Write, new: Manifest, old: Manifest, managers: Managers | None) -> Manifest:
    """Bring an object to its new state; `managers` are its owners after an apply."""
    cluster, resource = write.cluster, write.scope.resource
    check_name(new, write.scope)
    _place(new, write.scope)
    _refuse_stale(new, old, write.scope)
    sent = new["metadata"].get("managedFields")
    new = _isolated(new, old, write.scope)
    _keep_identity(new, old)
    defaulted(new, resource)
    if managers is None:
        owners = {"metadata": {"managedFields": sent}} if sent is not None else {}
        start = managed_fields.before(old, owners, write.scope.subresource)
        # an object that nobody owns stays so until the first apply
        managers = managed_fields.update(old, new, start, write.authorship("Update")) if start else {}
    new["metadata"]["managedFields"] = managed_fields.written(managers)
    rules = resource.rules
    if write.scope.subresource != "status":
        rules.mutate(new, old, write.context())
        if rules.raises_generation is not None and rules.raises_generation(new, old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    if rules.prepare is not None:
        rules.prepare(new, old)
    _validate(new, old, write)
    rules.review(new, old, write.context())
    _tidy(new)
    if _same(new, old):
        return old
    if write.dry_run:
        return new
    if new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
        gone(cluster, resource, new)
        return new
    return kept(cluster, resource, new)


def _tidy(manifest: Manifest) -> None:
    """Drop empty metadata, in place: Go prints none."""
    metadata = manifest["metadata"].items()
    manifest["metadata"] = {name: value for name, value in metadata if value not in (None, "", {}, [])}


def kept(cluster: Cluster, resource: Resource, manifest: Manifest) -> Manifest:
    """Store an object and return it as served."""
    stored = cluster.store.put(cluster.collection(resource), converted(manifest, resource.stored_version))
    if resource.group == crds.GROUP:
        cluster.crd_written(stored.manifest())
    return cluster.served(stored, resource)


def gone(cluster: Cluster, resource: Resource, manifest: Manifest) -> None:
    """Remove an object, and what dies with it: a namespace's content, a CRD's resources."""
    metadata = manifest["metadata"]
    if resource.group == crds.GROUP:
        custom = cluster.any_version(manifest["spec"]["group"], manifest["spec"]["names"]["plural"])
        if custom is not None:
            _empty(cluster, custom)
        cluster.crd_gone(manifest)
    if resource.plural == "namespaces":
        for inner in cluster.resources():
            if inner.namespaced:
                _empty(cluster, inner, metadata["name"])
    cluster.store.delete(cluster.collection(resource), metadata.get("namespace", ""), metadata["name"])


def _empty(cluster: Cluster, resource: Resource, namespace: str = "") -> None:
    where = cluster.collection(resource)
    for stored in cluster.store.objects(where, namespace):
        cluster.store.delete(where, stored.namespace, stored.name)


def _place(manifest: Manifest, scope: Scope) -> None:
    metadata = manifest["metadata"]
    if metadata.get("namespace", scope.namespace) not in {scope.namespace, ""}:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if scope.resource.namespaced:
        metadata["namespace"] = scope.namespace
    else:
        metadata.pop("namespace", None)


def _refuse_namespace(write: Write) -> None:
    scope = write.scope
    if not scope.resource.namespaced:
        return
    namespace = write.cluster.find("namespaces", "", scope.namespace)
    if namespace is None:
        raise not_found("", "namespaces", scope.namespace)
    if namespace.get("status", {}).get("phase") == "Terminating":
        text = f"unable to create new content in namespace {scope.namespace} because it is being terminated"
        raise forbidden(scope.resource.group, scope.resource.plural, scope.name, text)


_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def _suffix(cluster: Cluster) -> str:
    chosen = random.Random(cluster.new_uid())  # noqa: S311 - a name, not a secret
    return "".join(chosen.choice(_ALPHABET) for _ in range(5))


def _refuse_stale(new: Manifest, old: Manifest, scope: Scope) -> None:
    resource = scope.resource
    uid, revision = new["metadata"].get("uid"), new["metadata"].get("resourceVersion")
    if uid and uid != old["metadata"]["uid"]:
        group = f"{resource.group}/" if resource.group else ""
        key = f"/registry/{group}{resource.plural}/{scope.namespace}/{scope.name}".replace("//", "/")
        text = (
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}"
        )
        raise conflict(resource.group, resource.plural, scope.name, text)
    if revision and revision not in {"0", old["metadata"]["resourceVersion"]}:
        raise conflict(resource.group, resource.plural, scope.name, MODIFIED)


def _isolated(new: Manifest, old: Manifest, scope: Scope) -> Manifest:
    """Keep what a subresource does not write: status alone, or all but status."""
    if scope.subresource == "status":
        mixed = {**old, "metadata": old["metadata"] if scope.resource.custom else new["metadata"]}
        mixed.pop("status", None)
        if "status" in new:
            mixed["status"] = new["status"]
        return decoding.plain(mixed)
    if "status" in scope.resource.subresources:
        new = {key: value for key, value in new.items() if key != "status"}
        if "status" in old:
            new["status"] = old["status"]
    return new


_IDENTITY = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "name",
)


def _keep_identity(new: Manifest, old: Manifest) -> None:
    metadata = new["metadata"]
    for name in (*_IDENTITY, "resourceVersion"):
        metadata.pop(name, None)
        if name in old["metadata"]:
            metadata[name] = old["metadata"][name]


def _validate(new: Manifest, old: Manifest | None, write: Write) -> None:
    resource = write.scope.resource
    causes = list(validation.metadata(new))
    if old is not None and new["metadata"].get("deletionTimestamp"):
        added = [
            name
            for name in new["metadata"].get("finalizers") or ()
            if name not in (old["metadata"].get("finalizers") or ())
        ]
        if added:
            listed = ", ".join(f'"{name}"' for name in added)
            text = "no new finalizers can be added if the object is being deleted, found new finalizers"
            causes.append(forbidden_field("metadata.finalizers", f"{text} []string{{{listed}}}"))
    if resource.custom and write.scope.subresource == "status":
        causes += validation.status_of(new, resource.schema)
    elif resource.custom:
        causes += validation.custom_resource(new, resource.schema)
    causes += resource.rules.validate(new, old)
    if causes:
        raise invalid(resource.group, resource.kind, new["metadata"].get("name", ""), causes)


def _same(new: Manifest, old: Manifest) -> bool:
    """Compare objects, but for the times in managedFields."""
    return _timeless(new) == _timeless(old)


def _timeless(manifest: Manifest) -> Manifest:
    entries = [
        {key: value for key, value in entry.items() if key != "time"}
        for entry in manifest["metadata"].get("managedFields") or ()
    ]
    ranked = sorted(entries, key=encoded)
    return {**manifest, "metadata": {**manifest["metadata"], "managedFields": ranked}}
