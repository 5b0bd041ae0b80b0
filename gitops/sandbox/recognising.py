"""From a decoded body to an object of its resource: kind, unknown fields, types, defaults."""

from gitops.sandbox import decoding
from gitops.sandbox.kinds import Resource
from gitops.sandbox.wire import Manifest, Request, bad_request, invalid, invalid_value


def recognised(document: object, resource: Resource, request: Request) -> Manifest:
    """Return a body as an object of the resource; raises 400 or 422 where it is something else."""
    text = (request.body or b"").decode("utf-8", "replace")
    shown = f"{text[:30]} ..." if len(text) > 30 else text
    where = f"the object provided is unrecognized (must be of type {resource.kind}): "
    if not isinstance(document, dict):
        raise bad_request(
            f"{where}couldn't get version/kind; json parse error: json: cannot unmarshal ({shown})"
        )
    manifest = decoding.plain(document)
    if resource.custom and not manifest.get("kind"):
        raise bad_request(f"{where}Object 'Kind' is missing in '{text}' ({shown})")
    kind = manifest.setdefault("kind", resource.kind)
    version = manifest.setdefault("apiVersion", resource.api_version)
    if version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.api_version})"
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
    manifest["metadata"] = metadata if isinstance(metadata, dict) else {}
    return manifest


def cleaned(
    manifest: Manifest, resource: Resource, duplicates: tuple[str, ...], mode: str
) -> tuple[str, ...]:
    """Drop unknown fields in place and return warnings; raises 400 in strict mode or for a wrong type."""
    handled = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
    unknown = list(decoding.prune(manifest, resource.schema))
    if resource.custom:
        decoding.prune_nulls(manifest, resource.schema)
        decoding.metadata_as_go(manifest, resource.schema)
    else:
        for problem in decoding.mistyped(manifest, resource.schema):
            raise bad_request(handled + problem)
        unnulled = decoding.as_go(manifest, resource.schema)
        manifest.clear()
        manifest.update(unnulled)
    problems = strict_problems(unknown, duplicates, resource)
    if mode == "Strict" and problems:
        raise bad_request(f"{handled}strict decoding error: {', '.join(problems)}")
    return problems if mode == "Warn" else ()


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
