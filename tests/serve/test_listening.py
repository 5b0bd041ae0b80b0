from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gitops.serve.app import make_app
from gitops.serve.board import TrustedProxy, guarded
from gitops.serve.board.guard import PEER
from gitops.serve.listening import HttpServer, Listening
from tests.control_plane.certificates import Pair, authority, serving
from tests.serve.listening import read_all, request, status_of
from tests.waiting import PATIENCE


async def _who(request: Request) -> Response:
    client = request.client
    return JSONResponse({"client": client.host if client else "", "peer": request.scope.get(PEER)})


@contextmanager
def _listening(proxies: str = "", *, routes: list[Route] | None = None) -> Iterator[tuple[str, int]]:
    server = HttpServer(make_app(*(routes or [Route("/who", _who)])), Listening("127.0.0.1", 0, proxies=proxies))
    server.start()
    try:
        yield ("127.0.0.1", int(server.url.rpartition(":")[2]))
    finally:
        server.stop()


def _get(address: tuple[str, int], **headers: str) -> tuple[int, str]:
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        connection.sendall(request("/who", b"", headers, method="GET"))
        answer = read_all(connection)
    return status_of(answer), answer.partition(b"\r\n\r\n")[2].decode()


@pytest.mark.parametrize(("proxies", "client"), [("", "127.0.0.1"), ("127.0.0.0/8", "203.0.113.7")])
def test_who_is_at_the_other_end_is_known_whatever_a_proxy_says_of_its_client(proxies: str, client: str) -> None:
    with _listening(proxies) as address:
        _, body = _get(address, **{"X-Forwarded-For": "203.0.113.7"})

    assert json.loads(body) == {"client": client, "peer": "127.0.0.1"}


@pytest.mark.parametrize(
    ("trusted", "status"), [("127.0.0.1", 200), ("10.0.0.1", 403)], ids=["by the proxy", "by another"]
)
def test_a_client_s_address_that_a_proxy_tells_makes_nobody_the_trusted_proxy(trusted: str, status: int) -> None:
    routes = guarded([Route("/who", _who)], TrustedProxy([trusted]))
    with _listening("127.0.0.1", routes=routes) as address:
        found, _ = _get(address, **{"X-Forwarded-For": "10.0.0.1", "X-Forwarded-User": "ada"})

    assert found == status


def test_who_does_not_read_an_answer_is_cut_off() -> None:
    over = threading.Event()

    async def without_end() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536
            await asyncio.sleep(0)

    class Endless(StreamingResponse):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await super().__call__(scope, receive, send)
            finally:
                over.set()

    async def much(_: Request) -> Response:
        return Endless(without_end())

    server = HttpServer(make_app(Route("/who", much)), Listening("127.0.0.1", 0, drain_seconds=0.2))
    server.start()
    try:
        with socket.create_connection(
            ("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=PATIENCE
        ) as connection:
            connection.sendall(request("/who", b"", {}, method="GET"))
            assert over.wait(PATIENCE)
    finally:
        server.stop()


@dataclass
class Secure:
    """A server that speaks TLS, its files, and who vouches for it."""

    issuer: Pair
    folder: Path
    ca: Path
    address: tuple[str, int] = ("", 0)

    def write(self) -> bytes:
        """A new certificate in the place of the one before; returns it."""
        pair = serving(self.issuer)
        pair.write(self.folder, "serving")
        return ssl.PEM_cert_to_DER_cert(pair.certificate_pem)

    def shown(self) -> tuple[int, bytes | None]:
        """The status of an answer, and the certificate that the server shows."""
        context = ssl.create_default_context(cafile=self.ca)
        plain = socket.create_connection(self.address, timeout=PATIENCE)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            connection.sendall(request("/who", b"", {}, method="GET"))
            return status_of(read_all(connection)), connection.getpeercert(binary_form=True)


@contextmanager
def _secure(folder: Path, **limits: Any) -> Iterator[tuple[Secure, bytes]]:
    """The server, and the certificate with which it begins."""
    issuer = authority("test")
    secure = Secure(issuer, folder, folder / "ca.crt")
    secure.ca.write_text(issuer.certificate_pem)
    first = secure.write()
    listening = Listening("127.0.0.1", 0, folder / "serving.crt", folder / "serving.key", **limits)
    server = HttpServer(make_app(Route("/who", _who)), listening)
    server.start()
    secure.address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    try:
        yield secure, first
    finally:
        server.stop()


def test_a_handshake_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    with _secure(tmp_path, head_seconds=2) as (secure, first):
        with socket.create_connection(secure.address, timeout=PATIENCE) as silent:
            assert silent.recv(1) == b""
        assert secure.shown() == (200, first)


def test_handshakes_that_do_not_end_make_room_for_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with _secure(tmp_path, head_seconds=600, connections=20) as (secure, first), ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(secure.address, timeout=PATIENCE)) for _ in range(60)]

        assert secure.shown() == (200, first)
        assert [connection.recv(1) for connection in silent[:51]] == [b""] * 51

    assert caplog.records == []


def test_a_certificate_that_was_renewed_is_shown_at_once_and_one_that_is_broken_never(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with _secure(tmp_path) as (secure, first):
        assert secure.shown() == (200, first)
        second = secure.write()
        assert secure.shown() == (200, second)
        for breaking in ("certificate of another key", "no certificate", "no file"):
            if breaking == "certificate of another key":
                (tmp_path / "serving.crt").write_text(serving(secure.issuer).certificate_pem)
            elif breaking == "no certificate":
                (tmp_path / "serving.crt").write_text("")
            else:
                (tmp_path / "serving.key").unlink()
            assert [secure.shown() for _ in range(2)] == [(200, second)] * 2
        third = secure.write()
        assert secure.shown() == (200, third)

    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(said) == 3, "each time once"
    assert all("serving.crt cannot be used, the one before stays: " in message for message in said)
