"""DELETE, of one object or of a collection."""

from typing import Any

from gitops.sandbox import crds, decoding, writing
from gitops.sandbox.reading import Scope, answer, chosen, current
from gitops.sandbox.wire import ApiError, Manifest, Request, Response, encoded
from gitops.sandbox.writing import Write


def delete(write: Write, request: Request) -> Response:
    """Answer the deletion of one object."""
    cluster, scope = write.cluster, write.scope
    options = _options(request)
    with cluster.store.changed:
        manifest = cluster.served(current(cluster, scope), scope.resource)
        _refuse_other(manifest, options.get("preconditions") or {}, scope)
        dry_run = write.dry_run or bool(options.get("dryRun"))
        left = deleted(write, manifest, dry_run=dry_run)
    if left is not None:
        return answer(encoded(left))
    details = {
        "name": scope.name,
        "group": scope.resource.group,
        "kind": scope.resource.plural,
        "uid": manifest["metadata"]["uid"],
    }
    shown = {key: value for key, value in details.items() if value}
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": shown}
    return answer(encoded(status))


def delete_collection(write: Write, request: Request) -> Response:
    """Answer the deletion of every object that the selectors choose."""
    cluster, resource = write.cluster, write.scope.resource
    wanted = chosen(write.scope, request)
    with cluster.store.changed:
        found = [item for item in cluster.all(resource, write.scope.namespace) if wanted is None or wanted(item)]
        for manifest in found:
            deleted(write, decoding.plain(manifest), dry_run=write.dry_run)
    head: Manifest = {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": {"resourceVersion": str(cluster.store.revision)},
    }
    hidden = set() if resource.custom else {"kind", "apiVersion"}
    items = [{key: value for key, value in item.items() if key not in hidden} for item in found]
    return answer(encoded({**head, "items": items}))


def deleted(write: Write, manifest: Manifest, *, dry_run: bool) -> Manifest | None:
    """Delete an object; returns it where finalizers hold it back."""
    cluster, resource = write.cluster, write.scope.resource
    resource.rules.delete(manifest)
    metadata = manifest["metadata"]
    if not metadata.get("finalizers"):
        if not dry_run:
            writing.gone(cluster, resource, manifest)
        return manifest if resource.group == crds.GROUP else None
    if metadata.get("deletionTimestamp"):
        return manifest
    metadata["deletionTimestamp"] = cluster.now()
    metadata["deletionGracePeriodSeconds"] = 0
    if metadata.get("generation"):
        metadata["generation"] += 1
    return manifest if dry_run else writing.kept(cluster, resource, manifest)


def _options(request: Request) -> dict[str, Any]:
    if not request.body:
        return {}
    read = decoding.decode(request.body, "DeleteOptions").manifest
    return read if isinstance(read, dict) else {}


def _refuse_other(manifest: Manifest, preconditions: dict[str, Any], scope: Scope) -> None:
    checks = (
        ("uid", "UID", "The object might have been deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "The object might have been modified"),
    )
    for key, shown, hint in checks:
        wanted, actual = preconditions.get(key), manifest["metadata"][key]
        if wanted is not None and wanted != actual:
            text = f"the {shown} in the precondition ({wanted}) does not match the {shown} in record ({actual})"
            group, kind = scope.resource.group, scope.resource.kind
            qualified = f"{kind}.{group}" if group else kind
            details = {"name": scope.name, "group": group, "kind": kind}
            message = f'Operation cannot be fulfilled on {qualified} "{scope.name}": {text}. {hint}'
            raise ApiError(409, "Conflict", message, details)
