"""A small HTTPS server that tells each client how it was seen."""

from __future__ import annotations

import json
import ssl
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
class HttpsServer:
    """A running server.

    Attributes:
        url: where it listens.
        connections: how many TLS connections it accepted.
        answers: what it says by path, as status, headers and body; any other path is answered by the echo of the
            request: `client` (the certificate's common name), `headers` (pairs) and `method`.
    """

    url: str = ""
    connections: int = 0
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)


@contextmanager
def https_server(authority: Authority, *names: str) -> Iterator[HttpsServer]:
    """Serve with a certificate for `names`; clients may present one of the same authority."""
    state = HttpsServer()
    server = _Server(("127.0.0.1", 0), _handler(state))
    server.socket = _context(authority, names or ("127.0.0.1",)).wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    state.url = f"https://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up or distrusts us is part of many tests."""


def _context(authority: Authority, names: tuple[str, ...]) -> ssl.SSLContext:
    pair = authority.issue("server", *names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(cadata=authority.certificate.decode())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.pem"
        path.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(path)
    return context


def _handler(state: HttpsServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            self.request.settimeout(5)
            self.request.do_handshake()
            state.connections += 1
            super().setup()

        def do(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, body = state.answers.get(self.path) or (200, {}, self._echo())
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = do  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Quiet."""

        def _echo(self) -> bytes:
            certificate = self.request.getpeercert() or {}
            subject = dict(pair for part in certificate.get("subject", ()) for pair in part)
            seen = {
                "client": subject.get("commonName"),
                "headers": self.headers.items(),
                "method": self.command,
                "path": self.path,
            }
            return json.dumps(seen).encode()

    return Handler
