"""A real server on a real port, and requests to it that no decent client would send."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from urllib.parse import urlsplit

from gitops.serve.app import api_routes, health_routes, hook_routes, make_app
from gitops.serve.body import BodyLimits, BodyReader
from gitops.serve.health import Health
from gitops.serve.hooks import Hooks
from gitops.serve.last import LastRuns
from gitops.serve.listening import HttpServer, Listening
from gitops.trigger.following import following
from tests.trigger.samples import SECRETS, Sample
from tests.waiting import PATIENCE

REPOSITORIES = [f"https://{forge}.example/fleet/config" for forge in ("github", "gitea", "gitlab", "bitbucket", "git")]


@dataclass
class Served:
    """A server that notes what it was told."""

    address: tuple[str, int]
    url: str
    hooks: Hooks
    pushes: list[datetime] = field(default_factory=list)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE)

    def send(self, data: bytes) -> bytes:
        """Everything that is answered to these bytes until the connection is closed."""
        with self.connect() as connection:
            connection.sendall(data)
            return read_all(connection)

    def status(self, data: bytes) -> int:
        return status_of(self.send(data))

    def get(self, path: str) -> tuple[int, bytes]:
        answer = self.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return status_of(answer), answer.partition(b"\r\n\r\n")[2]


def post(sample: Sample, **headers: str) -> bytes:
    """A whole request with a signed delivery."""
    given = {"Content-Type": "application/json", **sample.signed(), **headers}
    return request(f"/hooks/{sample.forge}", sample.body, given)


def request(path: str, body: bytes, headers: dict[str, str], *, method: str = "POST") -> bytes:
    given = {"Host": "x", "Connection": "close", "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{key}: {value}\r\n" for key, value in given.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + body


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 where the connection was closed without one."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def read_all(connection: socket.socket) -> bytes:
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass  # the server closed it while something of ours was on its way
    return b"".join(parts)


@contextmanager
def served(
    *, body_seconds: float = 10, head_seconds: float = 10, connections: int = 1000, proxies: str = ""
) -> Iterator[Served]:
    """A server for the samples' repository and branch."""
    health = Health(monotonic)
    pushes: list[datetime] = []

    def pushed() -> bool:
        pushes.append(datetime.now(UTC))
        return True

    hooks = Hooks(
        lambda: SECRETS,
        following(REPOSITORIES, "main"),
        pushed,
        lambda: datetime.now(UTC),
        reader=BodyReader(BodyLimits(seconds=body_seconds)),
    )
    app = make_app(*health_routes(health), *api_routes(LastRuns()), *hook_routes(hooks))
    listening = Listening("127.0.0.1", 0, proxies=proxies, head_seconds=head_seconds, connections=connections)
    server = HttpServer(app, listening)
    server.start()
    logging.getLogger("gitops.serve").setLevel(logging.INFO)
    parts = urlsplit(server.url)
    try:
        yield Served((parts.hostname or "", parts.port or 0), server.url, hooks, pushes)
    finally:
        server.stop()
