"""From a decoded body to an object of its resource: kind, unknown fields, types, defaults."""

from collections.abc import Iterator

from gitops.sandbox import decoding
from gitops.sandbox.kinds import Resource
from gitops.sandbox.wire import Manifest, Request, bad_request, invalid, invalid_value


def recognised(document: object, resource: Resource, request: Request) -> Manifest:
    """Return a body as an object of the resource; raises 400 or 422 where it is something else."""
    text = (request.body or b"").decode("utf-8", "replace")
    shown = f"{text[:30]} ..." if len(text) > 30 else text
    where = f"the object provided is unrecognized (must be of type {resource.kind}): "
    if not isinstance(document, dict):
        raise bad_request(f"{where}couldn't get version/kind; json parse error: json: cannot unmarshal ({shown})")
    manifest = decoding.plain(document)
    if resource.custom and not manifest.get("kind"):
        raise bad_request(f"{where}Object 'Kind' is missing in '{text}' ({shown})")
    kind = manifest.setdefault("kind", resource.kind)
    version = manifest.setdefault("apiVersion", resource.api_version)
    if version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        )
    if kind != resource.kind:
        name = (manifest.get("metadata") or {}).get("name", "")
        if resource.custom:
            cause = invalid_value("kind", kind, f"must be {resource.kind}")
            raise invalid(resource.group, kind, name, [cause])
        raise bad_request(
            f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}: converting '
            f"({resource.version}.{kind}) to (core.{resource.kind}): unknown conversion"
        )
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict | None):
        text = "json: cannot unmarshal string into Go struct field .metadata of type v1.ObjectMeta"
        raise bad_request(f"{_handled(resource)}{text}")
    manifest["metadata"] = metadata or {}
    return manifest


def _handled(resource: Resource) -> str:
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '


def cleaned(
    manifest: Manifest, resource: Resource, duplicates: tuple[str, ...], mode: str
) -> tuple[Manifest, tuple[str, ...]]:
    """Return an object without unknown fields, and warnings; raises 400 for them in strict mode."""
    unknown = list(decoding.prune(manifest, resource.schema))
    for problem in mistyped(manifest, resource):
        raise bad_request(_handled(resource) + problem)
    problems = strict_problems(unknown, duplicates, resource)
    if mode == "Strict" and problems:
        raise bad_request(f"{_handled(resource)}strict decoding error: {', '.join(problems)}")
    return as_typed(manifest, resource), problems if mode == "Warn" else ()


def mistyped(manifest: Manifest, resource: Resource) -> Iterator[str]:
    """Yield what Go cannot decode: in a built-in kind's object anywhere, in a custom resource's metadata."""
    if resource.custom:
        return decoding.mistyped(manifest.get("metadata"), resource.schema.properties["metadata"])
    return decoding.mistyped(manifest, resource.schema)


def as_typed(manifest: Manifest, resource: Resource) -> Manifest:
    """Return an object as decoding leaves it: without nulls and what is empty where Go drops it."""
    if not resource.custom:
        return decoding.as_go(manifest, resource.schema)  # type: ignore[no-any-return]  # a dict stays one
    decoding.prune_nulls(manifest, resource.schema)
    decoding.metadata_as_go(manifest, resource.schema)
    return manifest


def strict_problems(unknown: list[str], duplicates: tuple[str, ...], resource: Resource) -> tuple[str, ...]:
    """Return the strict decoder's complaints, in its order."""
    listed = sorted(unknown) if resource.custom else unknown
    return (
        *(f'duplicate field "{path}"' for path in duplicates),
        *(f'unknown field "{path}"' for path in listed),
    )


def defaulted(manifest: Manifest, resource: Resource) -> None:
    """Fill in defaults, in place."""
    if resource.custom:
        list(decoding.prune(manifest, resource.schema))
        decoding.default(manifest, resource.schema)
    resource.rules.default(manifest)
