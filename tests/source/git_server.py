"""A real git server: `git http-backend` behind TLS and basic authentication, and what it was asked."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.kube.certificates import Authority


@dataclass
class GitServer:
    """A running server of the repositories below a folder.

    Attributes:
        root: the folder.
        port: where it listens on loopback.
        credentials: user and password that it wants; None when it lets everybody in.
        moved_to: where it sends everybody instead of answering; empty when it answers.
        renamed: repositories that it sends on to another of its own, old name to new one.
        silent: whether it takes requests and never answers.
        dumb: whether it only hands out files, as a web server that knows nothing of git.
        offered: the Authorization header of each request, decoded; empty where there was none.
        asked: method and path of each request, without query.
    """

    root: Path
    port: int = 0
    credentials: tuple[str, str] | None = None
    moved_to: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    silent: bool = False
    dumb: bool = False
    offered: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str, userinfo: str = "") -> str:
        """The address of a repository."""
        return f"https://{userinfo}{'@' if userinfo else ''}127.0.0.1:{self.port}/{name}"


@contextmanager
def git_server(root: Path, authority: Authority) -> Iterator[GitServer]:
    """Serve the repositories below a folder until the context ends."""
    state = GitServer(root)
    server = _Server(("127.0.0.1", 0), _handler(state))
    server.socket = _context(authority).wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up or distrusts us is part of many tests."""


def _context(authority: Authority) -> ssl.SSLContext:
    pair = authority.issue("server", "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.pem"
        path.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(path)
    return context


def _handler(server: GitServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        state = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    state: GitServer

    def setup(self) -> None:
        self.request.settimeout(10)
        self.request.do_handshake()
        super().setup()

    def do(self) -> None:
        body = self._body()
        path, _, query = self.path.partition("?")
        kind, _, word = self.headers.get("Authorization", "").partition(" ")
        offered = base64.b64decode(word).decode() if kind == "Basic" else kind + word
        self.state.offered.append(offered)
        self.state.asked.append(f"{self.command} {path}")
        if self.state.silent:
            self.state.closing.wait()
        elif self.state.moved_to:
            self._say(302, ("Location", self.state.moved_to + self.path))
        elif (name := path.split("/")[1]) in self.state.renamed:
            self._say(302, ("Location", self.path.replace(name, self.state.renamed[name], 1)))
        elif self.state.credentials and offered != ":".join(self.state.credentials):
            self._say(401, ("WWW-Authenticate", 'Basic realm="git"'))
        else:
            self._backend(path, query, body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _say(self, status: int, *headers: tuple[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _backend(self, path: str, query: str, body: bytes) -> None:
        variables = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.state.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": "" if self.state.dumb else query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], env=variables, input=body, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self._say(status, *((name, value) for name, value in headers if name != "Status"), body=content)

    do_GET = do_POST = do  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Requests are kept in the self.state."""
