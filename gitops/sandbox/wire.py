"""What goes over the wire: requests, responses, and failures as the API server words them.

Message texts follow k8s.io/apimachinery pkg/api/errors and pkg/util/validation/field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Manifest = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Request:
    """One request to one API server."""

    method: str
    """GET, POST, PUT, PATCH or DELETE."""
    path: str
    """Below the API server's own base path, percent-encoded, e.g. /api/v1/namespaces."""
    query: tuple[tuple[str, str], ...] = ()
    """Decoded query parameters, in order."""
    body: bytes | None = None
    """JSON or YAML."""
    content_type: str = "application/json"
    """Decides the kind of patch."""
    accept: str = "application/json"
    """`as=Table` asks for a table."""
    user_agent: str = ""
    """Its part before the first slash names the field manager of whoever sends none."""

    def parameter(self, name: str, default: str = "") -> str:
        """Return the first value of a query parameter, or the default."""
        return next((value for key, value in self.query if key == name), default)


@dataclass(frozen=True)
class Response:
    """One answer."""

    status: int
    """The HTTP status code."""
    headers: Mapping[str, str]
    """Header names in canonical spelling."""
    body: bytes
    """Empty for a streamed answer."""
    stream: Iterator[bytes] | None = field(default=None, compare=False)
    """A watch's events as they happen, one JSON document a line; None for every other answer."""


@dataclass(frozen=True)
class Cause:
    """One reason for a 422 answer."""

    field: str
    """The field's path as the server spells it, e.g. spec.balloonTypes[0].name."""
    reason: str
    """e.g. FieldValueInvalid."""
    message: str
    """e.g. Required value."""


class ApiError(Exception):
    """A failure that is answered with a Status object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.headers = dict(headers or {})
        self.status: Manifest = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
        }
        if reason:
            self.status["reason"] = reason
        if details is not None:
            self.status["details"] = {key: value for key, value in details.items() if value not in ("", None)}
        self.status["code"] = code


class UnreachableError(ConnectionError):
    """No API server answers: the shoot is hibernated, or a fault swallows its traffic."""


def quoted(value: Any) -> str:
    """Spell a value as Go's field errors do: strings in quotes, null as null, everything else bare."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    return json.dumps(value, separators=(",", ":"))


def invalid_value(path: str, value: Any, detail: str) -> Cause:
    """Return field.Invalid."""
    return Cause(path, "FieldValueInvalid", f"Invalid value: {quoted(value)}: {detail}")


def type_invalid(path: str, value: Any, detail: str) -> Cause:
    """Return field.TypeInvalid."""
    return Cause(path, "FieldValueTypeInvalid", f"Invalid value: {quoted(value)}: {detail}")


def required(path: str, detail: str = "") -> Cause:
    """Return field.Required."""
    return Cause(path, "FieldValueRequired", f"Required value: {detail}" if detail else "Required value")


def unsupported(path: str, value: Any, supported: Sequence[str]) -> Cause:
    """Return field.NotSupported."""
    values = ", ".join(quoted(item) for item in supported)
    return Cause(path, "FieldValueNotSupported", f"Unsupported value: {quoted(value)}: supported values: {values}")


def duplicate(path: str, value: Any) -> Cause:
    """Return field.Duplicate."""
    return Cause(path, "FieldValueDuplicate", f"Duplicate value: {quoted(value)}")


def forbidden_field(path: str, detail: str) -> Cause:
    """Return field.Forbidden."""
    return Cause(path, "FieldValueForbidden", f"Forbidden: {detail}")


def bad_request(message: str) -> ApiError:
    """Return 400 BadRequest."""
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    """Return 401, for a missing, unknown or expired credential."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(group: str, plural: str, name: str) -> ApiError:
    """Return 404 for an object that does not exist."""
    resource = f"{plural}.{group}" if group else plural
    details = {"name": name, "group": group, "kind": plural}
    return ApiError(404, "NotFound", f'{resource} "{name}" not found', details)


def no_such_resource() -> ApiError:
    """Return 404 for a path nobody serves."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    """Return 405."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(group: str, plural: str, name: str) -> ApiError:
    """Return 409 for a create of something that is there."""
    resource = f"{plural}.{group}" if group else plural
    details = {"name": name, "group": group, "kind": plural}
    return ApiError(409, "AlreadyExists", f'{resource} "{name}" already exists', details)


def conflict(group: str, plural: str, name: str, message: str) -> ApiError:
    """Return 409 for a write that was computed from an older or another object."""
    resource = f"{plural}.{group}" if group else plural
    details = {"name": name, "group": group, "kind": plural}
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {message}', details)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def forbidden(group: str, plural: str, name: str, message: str) -> ApiError:
    """Return 403 for what authorization or admission does not let through."""
    resource = f"{plural}.{group}" if group else plural
    subject = f'{resource} "{name}"' if name else resource
    details = {"name": name, "group": group, "kind": plural}
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {message}", details)


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """Return 422 with every cause; the kind may be a resource's plural where the server says so."""
    qualified = f"{kind}.{group}" if group else kind
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes],
    }
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', details)


def expired(message: str) -> ApiError:
    """Return 410, for a watch or a page whose resourceVersion is gone."""
    return ApiError(410, "Expired", message)


def encoded(document: Any) -> bytes:
    """Return compact JSON."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
