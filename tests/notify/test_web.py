"""One request to the web: what becomes of it, and what is never said about it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gitops.errors import CredentialsError
from gitops.notify.web import Request, Response, Undelivered, Web, raise_unless_taken
from tests.kube.certificates import Authority
from tests.kube.https_server import https_server
from tests.notify.conftest import Client
from tests.notify.stub_forge import TOKEN, Fault, StubForge

DATE = "Mon, 30 Nov 2026 12:00:00 GMT"


def refusal(response: Response) -> Undelivered:
    with pytest.raises(Undelivered) as refused:
        raise_unless_taken(response)
    return refused.value


@pytest.mark.parametrize(
    ("status", "headers", "passing", "after"),
    [
        (500, {}, True, None),
        (503, {"Retry-After": "17"}, True, 17),
        (429, {"Retry-After": "Mon, 30 Nov 2026 12:01:30 GMT", "Date": DATE}, True, 90),
        (429, {"Retry-After": "soon"}, True, None),
        (403, {"Retry-After": "60"}, True, 60),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1796040030", "Date": DATE}, True, 30),
        (403, {"X-RateLimit-Remaining": "12"}, False, None),
        (502, {"X-RateLimit-Remaining": "12", "X-RateLimit-Reset": "1796040030", "Date": DATE}, True, None),
        (409, {}, True, None),
        (408, {}, True, None),
        (400, {}, False, None),
        (401, {}, False, None),
        (404, {}, False, None),
        (422, {"Retry-After": "5"}, False, None),
        (302, {"Location": "https://elsewhere.test/"}, False, None),
    ],
)
def test_what_is_worth_another_attempt_and_when(
    status: int,
    headers: dict[str, str],
    passing: bool,  # noqa: FBT001 - a table's column
    after: float | None,
) -> None:
    found = refusal(Response(status, headers, b""))

    assert (found.passing, found.retry_after) == (passing, after)


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_that_is_told_in_words_only_gets_the_minute_that_github_asks_for(status: int) -> None:
    body = b'{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}'
    found = refusal(Response(status, {"X-RateLimit-Remaining": "4990", "X-RateLimit-Reset": "1796040030"}, body))

    assert (found.passing, found.retry_after) == (True, 60)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message": "Bad credentials"}', "HTTP 401: Bad credentials"),
        (b'{"error": {"message": "no access"}}', "HTTP 401: no access"),
        (b'{"error": "invalid_token"}', "HTTP 401: invalid_token"),
        (b'{"errors": [{"message": "not a state"}]}', "HTTP 401: not a state"),
        (b'{"message": {"name": ["is missing"]}}', 'HTTP 401: {"name": ["is missing"]}'),
        (b"<html>a proxy's page</html>", "HTTP 401"),
        (b'{"message": "a\\u001b[31mb"}', "HTTP 401: a\\x1b[31mb"),
    ],
)
def test_the_forges_own_words_are_told(body: bytes, message: str) -> None:
    assert str(refusal(Response(401, {}, body))) == message


def test_no_redirect_is_followed(forge: StubForge, client: Client) -> None:
    forge.faults.append(Fault(307, {"Location": f"{forge.url}/elsewhere"}))
    github = client("github")

    with pytest.raises(Undelivered, match="redirect"):
        github.ask(github.forge.who())
    assert len(forge.received) == 1


def test_a_token_that_a_forge_repeats_is_not_told(web: Web, forge: StubForge, client: Client) -> None:
    del web, forge
    github = client("github")

    with pytest.raises(Undelivered) as refused:
        github.require(Response(422, {}, f'{{"message": "cannot use {TOKEN}"}}'.encode()))
    assert TOKEN not in str(refused.value)
    assert "***" in str(refused.value)


def test_nobody_listens(web: Web) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}/t0k3n"
        with pytest.raises(Undelivered) as refused:
            web(Request("POST", url))

    assert refused.value.passing
    assert str(refused.value) == "no connection: Connection refused"


def test_a_slow_answer_is_not_waited_for(forge: StubForge) -> None:
    forge.faults.append(Fault(200, seconds=0.5))
    web = Web(read=0.05)

    with pytest.raises(Undelivered, match="no answer in time") as refused:
        web(Request("GET", f"{forge.url}/t0k3n"))
    assert refused.value.passing
    web.close()


def test_a_reset_is_no_answer(forge: StubForge, web: Web) -> None:
    forge.faults.append(Fault(reset=True))

    with pytest.raises(Undelivered, match="no whole answer") as refused:
        web(Request("GET", f"{forge.url}/t0k3n"))
    assert "t0k3n" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_connections_are_used_again(forge: StubForge, web: Web) -> None:
    for _ in range(3):
        web(Request("POST", f"{forge.url}/hooks/x", b"{}"))

    assert len(forge.received) == 3


def test_an_address_that_is_none_is_no_crash_and_not_repeated(web: Web) -> None:
    with pytest.raises(Undelivered) as refused:
        web(Request("GET", "http://[t0k3n"))

    assert not refused.value.passing
    assert "t0k3n" not in str(refused.value)


@pytest.fixture
def authority() -> Authority:
    return Authority("a forge's own")


def test_a_certificate_of_ones_own_is_trusted_where_somebody_says_so(authority: Authority, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.certificate)
    with https_server(authority) as server:
        trusting, doubting = Web(ca_file=file), Web()
        assert trusting(Request("GET", f"{server.url}/x")).status == 200
        with pytest.raises(Undelivered, match="certificate is not trusted") as refused:
            doubting(Request("GET", f"{server.url}/x"))
        trusting.close()
        doubting.close()

    assert not refused.value.passing


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")

    with pytest.raises(CredentialsError, match="no certificate"):
        Web(ca_file=file)


def test_a_proxy_is_asked_instead(forge: StubForge) -> None:
    proxy = forge.url.replace("://", "://jo:pass%20word@")
    web = Web(proxy=lambda url: proxy if "acme.test" in url else None)
    web(Request("POST", "http://forge.acme.test/hooks/x", b"{}"))
    web(Request("POST", f"{forge.url}/hooks/direct", b"{}"))
    web.close()

    assert [request.path for request in forge.received] == ["http://forge.acme.test/hooks/x", "/hooks/direct"]
    assert forge.received[0].headers["proxy-authorization"] == "Basic am86cGFzcyB3b3Jk"
    assert "proxy-authorization" not in forge.received[1].headers


def test_secrets_are_in_no_repr(client: Client) -> None:
    github = client("github")
    request = Request("POST", f"https://hooks.test/{TOKEN}", TOKEN.encode(), github.forge.authorization(TOKEN))

    assert TOKEN not in f"{request!r} {Response(200, {'x': TOKEN}, TOKEN.encode())!r} {github!r} {vars(github)!r}"
