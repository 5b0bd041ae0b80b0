"""Webhooks over real connections: what is accepted, and what happens to everything else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitops.serve.body import BodyLimits, BodyReader
from tests.serve.listening import Served, post, read_all, request, served, status_of
from tests.trigger.samples import SAMPLES, Sample, github_push

LIMIT = BodyLimits().size
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server() -> Iterator[Served]:
    with served() as found:
        yield found


def now(sample: Sample) -> Sample:
    """Signed at this moment, which real servers insist on."""
    return replace(sample, sent=datetime.now(UTC))


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_genuine_push_to_our_branch_is_accepted(server: Served, sample: Sample) -> None:
    answer = server.send(post(now(sample)))

    assert status_of(answer) == 202
    assert len(server.pushes) == 1


@pytest.mark.parametrize(
    "sample", [github_push("refs/heads/feature/x"), github_push("refs/tags/v1"), github_push(after="0" * 40)]
)
def test_a_genuine_push_of_no_concern_is_accepted_and_nothing_happens(server: Served, sample: Sample) -> None:
    assert server.status(post(sample)) == 202
    assert server.pushes == []


def test_another_repository_is_accepted_and_nothing_happens(server: Served) -> None:
    sample = github_push()
    sample.document["repository"] = {"clone_url": "https://github.example/another/one.git"}

    assert server.status(post(sample)) == 202
    assert server.pushes == []


BAD = {
    "an unknown forge": (request("/hooks/sourceforge", b"{}", JSON), 404),
    "a longer path": (request("/hooks/github/x", b"{}", JSON), 404),
    "a GET": (request("/hooks/github", b"", JSON, method="GET"), 405),
    "no content type": (request("/hooks/github", b"{}", {}), 415),
    "a form": (request("/hooks/github", b"payload=", {"Content-Type": "application/x-www-form-urlencoded"}), 415),
    "no signature": (request("/hooks/github", b"{}", JSON), 401),
    "a wrong signature": (post(github_push(), **{"X-Hub-Signature-256": "sha256=" + "0" * 64}), 401),
    "no body": (request("/hooks/github", b"", JSON), 401),
    "an old signature": (post(SAMPLES["generic"].late(timedelta(days=9))), 401),
    "an announced length over the limit": (request("/hooks/github", b"", {**JSON, "Content-Length": "2000000"}), 413),
    "a length of many digits": (request("/hooks/github", b"", {**JSON, "Content-Length": "9" * 19}), 413),
    "a length that is no number": (request("/hooks/github", b"", {**JSON, "Content-Length": "many"}), 400),
    "a negative length": (request("/hooks/github", b"", {**JSON, "Content-Length": "-1"}), 400),
    "an endless body in chunks": (
        request("/hooks/github", b"", {**JSON, "Transfer-Encoding": "chunked", "Content-Length": "0"}).replace(
            b"Content-Length: 0\r\n", b""
        )
        + b"10000\r\n"
        + b"x" * 0x10000
        + b"\r\n"
        + (b"10000\r\n" + b"x" * 0x10000 + b"\r\n") * 16,
        413,
    ),
    "two lengths, and another request in between": (
        request("/hooks/github", b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", JSON).replace(
            b"Connection: close", b"Transfer-Encoding: chunked"
        ),
        400,
    ),
    "a chunk that is none": (
        request("/hooks/github", b"zz\r\n", {**JSON, "Transfer-Encoding": "chunked"}).replace(
            b"Content-Length: 4\r\n", b""
        ),
        400,
    ),
    "malformed JSON": (post(Sample("github", None, github_push().headers)), 400),
    "nothing but brackets": (post(type("Deep", (Sample,), {"body": b"[" * 900_000})("github", None)), 400),
    "an unknown event": (post(github_push(), **{"X-GitHub-Event": "issues"}), 400),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n", 400),
    "a head without end": (b"POST /hooks/github HTTP/1.1\r\nX: " + b"x" * 200_000, 400),
}


@pytest.mark.parametrize(("data", "status"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_without_detail_and_the_server_goes_on(server: Served, data: bytes, status: int) -> None:
    answer = server.send(data)

    assert status_of(answer) == status
    head, _, body = answer.partition(b"\r\n\r\n")
    assert body in {b"", b"Not Found", b"Method Not Allowed"}
    assert b"uvicorn" not in head.lower()
    assert server.pushes == []
    assert server.status(post(now(SAMPLES["generic"]))) == 202


def test_a_replay_is_refused(server: Served) -> None:
    data = post(github_push())

    assert (server.status(data), server.status(data)) == (202, 409)
    assert len(server.pushes) == 1


def test_what_is_refused_is_logged_with_its_source_and_without_its_content(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "gitops.serve"):
        server.status(post(github_push(), **{"X-Hub-Signature-256": "sha256=0123456789abcdef"}))

    (record,) = caplog.records
    assert record.getMessage() == "webhook github from 127.0.0.1: refused: no valid signature"
    assert (record.levelname, record.__dict__["source"]) == ("WARNING", "127.0.0.1")


@pytest.mark.parametrize(("proxies", "source"), [("", "127.0.0.1"), ("127.0.0.1", "192.0.2.7")])
def test_only_a_proxy_that_is_named_is_believed_about_the_source(
    proxies: str, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    with served(proxies=proxies) as server, caplog.at_level(logging.INFO, "gitops.serve"):
        server.status(post(github_push(), **{"X-Forwarded-For": "192.0.2.7"}))

    assert f"from {source}: accepted" in caplog.text


def test_an_announced_length_is_judged_before_the_body_comes(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(request("/hooks/github", b"", {**JSON, "Content-Length": str(LIMIT + 1)}))

        assert status_of(read_all(connection)) == 413


def test_a_slow_body_is_given_up() -> None:
    with served(body_seconds=0.2) as server, server.connect() as connection:
        connection.sendall(request("/hooks/github", b"{", {**JSON, "Content-Length": "100"}))

        assert status_of(read_all(connection)) == 408


@pytest.mark.parametrize("sent", [b"", b"POST /hooks/github HTTP/1.1\r\nX-Slow:"], ids=["nothing", "half a head"])
def test_a_connection_without_a_request_is_closed(sent: bytes) -> None:
    with served(head_seconds=0.2) as server, server.connect() as connection:
        connection.sendall(sent)

        assert read_all(connection) == b""


def test_a_second_request_on_a_connection_has_no_more_time_for_its_head_than_the_first() -> None:
    with served(head_seconds=1) as server, server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /heal")

        answer = read_all(connection)

    assert answer.count(b"HTTP/1.1 ") == 1


def test_the_rest_of_a_body_that_nobody_waits_for_does_not_hold_a_connection() -> None:
    with served(head_seconds=1) as server, server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx")

        assert status_of(read_all(connection)) == 200


@pytest.mark.parametrize(
    "sent",
    [b"", request("/hooks/github", b"{", {**JSON, "Content-Length": "100"})],
    ids=["without a head", "without a whole body"],
)
def test_too_many_unfinished_requests_make_room_for_the_newest(sent: bytes) -> None:
    with served(connections=20) as server:
        idle = [server.connect() for _ in range(60)]
        try:
            for connection in idle:
                with suppress(ConnectionError):  # it may have made room already
                    connection.sendall(sent)
            assert server.get("/healthz")[0] == 200
            assert server.status(post(github_push())) == 202
        finally:
            for connection in idle:
                connection.close()


def test_two_hundred_slow_connections_leave_the_server_answering() -> None:
    """Half of them dribble their heads, half their bodies, and all of them go on while others are served."""
    with served(body_seconds=2, head_seconds=2) as server:
        head = b"POST /hooks/github HTTP/1.1\r\nHost: x\r\n"
        body = request("/hooks/github", b"{", {**JSON, "Content-Length": "100000"})
        slow = [server.connect() for _ in range(200)]
        for number, connection in enumerate(slow):
            connection.sendall(head if number % 2 else body)

        for number in range(20):
            for index, connection in enumerate(slow[number * 10 : number * 10 + 10]):
                with suppress(ConnectionError):  # where the machine is slower than they are, it was given up already
                    connection.sendall(b"X: y\r\n" if index % 2 else b" ")
            sample = github_push(after=f"{number + 1:040d}")
            headers = {**sample.headers, "X-GitHub-Delivery": str(number)}
            assert server.status(post(replace(sample, headers=headers))) == 202
            assert server.get("/healthz")[0] == 200
        answers = [status_of(read_all(connection)) for connection in slow]
        for connection in slow:
            connection.close()

    assert len(server.pushes) == 20
    assert set(answers) == {0, 408}
    assert len(server.hooks.seen) == 40


def test_bodies_that_are_read_at_once_are_bounded_together_by_giving_up_the_largest() -> None:
    """Who sends much and never ends must not keep pushes out."""
    with served() as server:
        sample = github_push()
        server.hooks.reader = BodyReader(BodyLimits(together=len(sample.body) + 900))
        with server.connect() as first, server.connect() as second:
            for connection in (first, second):
                connection.sendall(request("/hooks/github", b"x" * 500, {**JSON, "Content-Length": "2000"}))
            while server.hooks.reader.held < 1000:
                pass
            first.sendall(b"x" * 300)
            while server.hooks.reader.held < 1300:
                pass
            assert server.status(post(sample)) == 202
            assert status_of(read_all(first)) == 503
            second.sendall(b"x" * 1500)
            assert status_of(read_all(second)) == 503
        while server.hooks.reader.held:
            pass
        assert server.status(request("/hooks/github", b"x" * 200, JSON)) == 401


def test_secrets_are_read_anew_and_a_file_that_is_gone_refuses_everything() -> None:
    found: list[tuple[str, ...]] = [("before",)]

    def secrets() -> tuple[str, ...]:
        if not found:
            raise FileNotFoundError
        return found[-1]

    with served() as server:
        server.hooks.secrets = secrets
        assert server.status(post(github_push())) == 401
        found.append(("correct horse battery staple",))
        assert server.status(post(github_push())) == 202
        found.append(())
        assert server.status(post(github_push())) == 503
        found.clear()
        assert server.status(post(github_push())) == 503
