import json

import pytest

from gitops.errors import Absent, ApiError, Conflict, Forbidden, Rejected, Throttled, Unreachable
from gitops.kube.statuses import Unserved, raise_for_status
from gitops.kube.transport import Request, Response
from tests.kube.in_memory import answer, refusal

REQUEST = Request("PATCH", "/api/v1/namespaces/x/configmaps/y", (("force", "true"),))


def raised(response: Response) -> ApiError:
    with pytest.raises(ApiError) as caught:
        raise_for_status(REQUEST, response)
    return caught.value


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (refusal(400, reason="BadRequest"), Rejected),
        (refusal(401, reason="Unauthorized"), Forbidden),
        (refusal(403, reason="Forbidden"), Forbidden),
        (refusal(404, reason="NotFound", name="y"), Absent),
        (refusal(404, reason="NotFound"), Unserved),
        (Response(404, {}, b"404 page not found\n"), Unserved),
        (refusal(405, reason="MethodNotAllowed"), Rejected),
        (refusal(409, reason="Conflict"), Conflict),
        (refusal(410, reason="Expired"), Rejected),
        (refusal(413, reason="RequestEntityTooLarge"), Rejected),
        (refusal(415, reason="UnsupportedMediaType"), Rejected),
        (refusal(422, reason="Invalid"), Rejected),
        (refusal(429, reason="TooManyRequests"), Throttled),
        (refusal(500, reason="InternalError"), Unreachable),
        (Response(502, {}, b"bad gateway"), Unreachable),
        (refusal(503, reason="ServiceUnavailable"), Unreachable),
        (refusal(504, reason="Timeout"), Unreachable),
        (Response(302, {"Location": "https://elsewhere"}, b""), Unreachable),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Response) else value.__name__,
)
def test_a_status_becomes_one_of_our_errors(response: Response, expected: type[ApiError]) -> None:
    error = raised(response)

    assert type(error) is expected
    assert error.status == response.status
    assert error.request == "PATCH /api/v1/namespaces/x/configmaps/y"


@pytest.mark.parametrize("status", [200, 201, 202])
def test_success_raises_nothing(status: int) -> None:
    raise_for_status(REQUEST, Response(status, {}, b""))


def test_the_servers_own_words_are_kept() -> None:
    error = raised(refusal(500, "admission webhook said no", "InternalError"))

    assert "admission webhook said no" in str(error)
    assert error.reason == "InternalError"


@pytest.mark.parametrize("body", [b"password=hunter2", b'{"password":"hunter2"}', b'["hunter2"]', b"\xff hunter2"])
def test_a_body_that_is_no_status_is_never_shown(body: bytes) -> None:
    assert "hunter2" not in str(raised(Response(403, {}, body)))


def test_invalid_fields_are_causes() -> None:
    error = raised(
        refusal(422, "invalid", "Invalid", causes=[{"field": "spec.a", "message": "Required value", "reason": "x"}])
    )

    assert error.causes == (("spec.a", "Required value"),)


STRICT = 'strict decoding error: unknown field "spec.foo", duplicate field "spec.bar[0].x"'
WHOLE_OBJECT = json.dumps(json.dumps({"spec": {"password": "hunter2", "padding": "x" * 2000}}))


@pytest.mark.parametrize(
    "message",
    [
        STRICT,
        f'Shoot in version "v1beta1" cannot be handled as a Shoot: {STRICT}',
        f' "" is invalid: patch: Invalid value: {WHOLE_OBJECT}: {STRICT}',
    ],
    ids=["bare", "create", "JSON patch"],
)
def test_the_paths_of_strict_decoding_errors_are_causes(message: str) -> None:
    cause = {"field": "patch", "message": message, "reason": "FieldValueInvalid"}
    error = raised(refusal(422, message, "Invalid", causes=[cause]))

    assert error.causes == (
        ("spec.foo", 'unknown field "spec.foo"'),
        ("spec.bar[0].x", 'duplicate field "spec.bar[0].x"'),
    )
    assert str(error) == f"{REQUEST}: {STRICT}"


@pytest.mark.parametrize(
    ("text", "causes"),
    [
        (".spec.foo: field not declared in schema", ((".spec.foo", "field not declared in schema"),)),
        (".data.password: expected string, got &{hunter2}", ((".data.password", "expected string"),)),
        (
            'errors:\n  .spec.a: field not declared in schema\n  .spec.b[name="x"]: expected map, got &{hunter2}',
            ((".spec.a", "field not declared in schema"), ('.spec.b[name="x"]', "expected map")),
        ),
    ],
    ids=["unknown field", "wrong type", "several"],
)
def test_an_apply_that_does_not_fit_the_schema_is_rejected_though_it_is_answered_500(
    text: str, causes: tuple[tuple[str, str], ...]
) -> None:
    prefix = "failed to create typed patch object (kube-system/default; config.nri/v1alpha1, Kind=BalloonsPolicy): "

    error = raised(refusal(500, prefix + text))

    assert isinstance(error, Rejected)
    assert error.causes == causes
    assert all(f"{path}: {why}" in str(error) for path, why in causes)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    ("method", "message", "expected"),
    [
        ("PATCH", 'shoots "one" is forbidden: 1 error occurred:\n\t* given Shoot uses non-registered type', Rejected),
        ("POST", 'pods "x" is forbidden: exceeded quota', Rejected),
        ("PATCH", 'shoots "one" is forbidden: User "jane" cannot patch resource "shoots" in API group "x"', Forbidden),
        ("GET", 'shoots "one" is forbidden: not today', Forbidden),
        ("PATCH", "go away", Forbidden),
    ],
    ids=["admission", "quota", "permission", "a read", "a proxy"],
)
def test_a_refusal_by_admission_is_told_from_a_missing_permission(
    method: str, message: str, expected: type[ApiError]
) -> None:
    with pytest.raises(ApiError) as caught:
        raise_for_status(Request(method, "/x"), refusal(403, message, "Forbidden"))

    assert type(caught.value) is expected


def test_long_values_are_left_out_and_long_texts_cut() -> None:
    long = f"spec.x: Invalid value: {WHOLE_OBJECT}: must be short"
    error = raised(refusal(422, long + "!" * 5000, "Invalid", causes=[{"field": "spec.x", "message": long}]))

    assert "hunter2" not in str(error)
    assert "Invalid value: …: must be short" in str(error)
    assert len(str(error)) < 1100
    assert error.causes == (("spec.x", "spec.x: Invalid value: …: must be short"),)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0", 0.0), ("-3", 0.0), ("tomorrow", None)])
def test_the_wait_that_a_server_asks_for_is_kept(header: str, seconds: float | None) -> None:
    error = raised(answer({}, 429, Retry_After=header))

    assert isinstance(error, Throttled)
    assert error.retry_after == seconds
