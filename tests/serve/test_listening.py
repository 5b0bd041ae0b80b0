from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gitops.serve.app import make_app
from gitops.serve.board import TrustedProxy, guarded
from gitops.serve.board.guard import PEER
from gitops.serve.listening import HttpServer, Listening
from tests.control_plane.certificates import authority, serving
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


def test_a_handshake_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    issuer = authority("test")
    ca = tmp_path / "ca.crt"
    ca.write_text(issuer.certificate_pem)
    certificate, key = map(Path, serving(issuer).write(tmp_path, "serving"))
    listening = Listening("127.0.0.1", 0, certificate, key, head_seconds=2)
    server = HttpServer(make_app(Route("/who", _who)), listening)
    server.start()
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    try:
        with socket.create_connection(address, timeout=PATIENCE) as silent:
            assert silent.recv(1) == b""
        context = ssl.create_default_context(cafile=ca)
        plain = socket.create_connection(address, timeout=PATIENCE)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            connection.sendall(request("/who", b"", {}, method="GET"))
            assert status_of(read_all(connection)) == 200
    finally:
        server.stop()
