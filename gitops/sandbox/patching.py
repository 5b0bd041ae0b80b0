"""PATCH: the three patches, and server-side apply."""

import json

from gitops.sandbox import decoding, managed_fields, patches
from gitops.sandbox.kinds import Resource
from gitops.sandbox.managed_fields import Authorship, Managers, Writer
from gitops.sandbox.reading import Scope, answer, current
from gitops.sandbox.recognising import as_typed, mistyped, strict_problems
from gitops.sandbox.typed import TypedError
from gitops.sandbox.wire import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    ApiError,
    Cause,
    Manifest,
    Request,
    Response,
    bad_request,
    encoded,
    invalid,
    not_found,
    required,
)
from gitops.sandbox.writing import Write, check_name, created, updated


def patch(write: Write, request: Request) -> Response:
    """Answer a PATCH, by its content type."""
    form = request.content_type.partition(";")[0].strip()
    if form == APPLY_PATCH:
        return _apply(write, request)
    accepted = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
    if not write.scope.resource.custom:
        accepted.insert(2, STRATEGIC_MERGE_PATCH)
    if form not in accepted:
        text = "the body of the request was in an unknown format - accepted media types include: "
        if form == STRATEGIC_MERGE_PATCH:
            raise ApiError(415, "UnsupportedMediaType", text + ", ".join(accepted))
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    with write.cluster.store.changed:
        old = write.cluster.served(current(write.cluster, write.scope), write.scope.resource)
        new, warnings = _patched(write, request, old, form)
        result = updated(write, new, old, None)
    return answer(encoded(result), 200, warnings)


def _patched(write: Write, request: Request, old: Manifest, form: str) -> tuple[Manifest, tuple[str, ...]]:
    resource = write.scope.resource
    try:
        change = json.loads(request.body or b"")
    except ValueError as problem:
        raise bad_request(f"error decoding patch: invalid JSON: {problem}") from problem
    if form == JSON_PATCH:
        new = patches.json_patch(decoding.plain(old), change)
    else:
        if not isinstance(change, dict):
            what = "array" if isinstance(change, list) else "string"
            text = f"json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
            raise bad_request(f"error decoding patch: {text}")
        if form == MERGE_PATCH:
            new = patches.merge_patch(decoding.plain(old), change)
        else:
            new = patches.strategic_merge_patch(decoding.plain(old), change, resource.schema)
    new = decoding.plain(new)
    result = encoded(new)
    unknown = list(decoding.prune(new, resource.schema))
    if not resource.custom:
        new = {"kind": resource.kind, "apiVersion": resource.api_version, **new}
    if (new.get("kind"), new.get("apiVersion")) != (resource.kind, resource.api_version):
        raise _unfit(result, "the kind of an object does not change")
    for text in mistyped(new, resource):
        raise _unfit(result, text)
    problems = strict_problems(unknown, (), resource)
    if problems and write.validation == "Strict":
        raise _unfit(result, f"strict decoding error: {', '.join(problems)}")
    if not isinstance(new.get("metadata"), dict):
        new["metadata"] = {}
    return as_typed(new, resource), problems if write.validation == "Warn" else ()


def _unfit(result: bytes, text: str) -> ApiError:
    """Return the 422 for a patch whose result does not decode; the server shows the whole result."""
    shown = json.dumps(result.decode(), ensure_ascii=False)
    return invalid("", "", "", [Cause("patch", "FieldValueInvalid", f"Invalid value: {shown}: {text}")])


def _apply(write: Write, request: Request) -> Response:
    resource, scope, cluster = write.scope.resource, write.scope, write.cluster
    if not request.parameter("fieldManager"):
        cause = required("fieldManager", "is required for apply patch")
        raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
    config = decoding.decode(request.body, resource.kind).manifest
    if not isinstance(config, dict):
        raise bad_request("error decoding patch: the configuration is not an object")
    config = decoding.plain(config)
    version, kind = config.get("apiVersion", ""), config.get("kind", "")
    if (version, kind) != (resource.api_version, resource.kind):
        group, _, short = version.rpartition("/")
        raise bad_request(f"invalid object type: {group}/{short}, Kind={kind}")
    config["metadata"] = config.get("metadata") or {}
    with cluster.store.changed:
        old = cluster.read(resource, scope.namespace, scope.name)
        try:
            if old is None:
                return _apply_new(write, config)
            new, managers = _merged(write, config, old, _owners(old, resource, cluster.now()))
            return answer(encoded(updated(write, decoding.plain(new), old, managers)))
        except TypedError as problem:
            raise ApiError(500, "", f"failed to create typed live object: {problem}") from problem


def _owners(old: Manifest, resource: Resource, now: str) -> Managers:
    """Return the owners of a live object; one without any is owned by `before-first-apply`."""
    managers = managed_fields.read(old)
    if managers:
        return managers
    first = Writer("before-first-apply", "Update", resource.api_version)
    return managed_fields.update({}, old, {}, Authorship(first, resource.schema, now))


def _apply_new(write: Write, config: Manifest) -> Response:
    scope = write.scope
    if scope.subresource:
        raise not_found(scope.resource.group, scope.resource.plural, scope.name)
    new, managers = _merged(write, config, {}, {})
    check_name(new, scope)
    return answer(encoded(created(write, decoding.plain(new), managers)), 201)


def _merged(write: Write, config: Manifest, old: Manifest, managers: Managers) -> tuple[Manifest, Managers]:
    """Lay a configuration over the live object; what the subresource does not write does not count."""
    config = _writable(config, write.scope)
    new, after = managed_fields.apply(old, config, managers, write.authorship("Apply"), force=write.force)
    schema = write.scope.resource.schema
    if not write.scope.resource.custom:
        return decoding.as_go(new, schema), after
    decoding.metadata_as_go(new, schema)
    return new, after


def _writable(config: Manifest, scope: Scope) -> Manifest:
    if scope.subresource == "status":
        return {key: value for key, value in config.items() if key in {"apiVersion", "kind", "metadata", "status"}}
    if "status" in scope.resource.subresources:
        return {key: value for key, value in config.items() if key != "status"}
    return config
