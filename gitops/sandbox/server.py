"""The landscape behind one TLS port: /garden, and /shoots/<namespace>/<name> for every shoot."""

import datetime as dt
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl

from gitops.sandbox.certificates import self_signed
from gitops.sandbox.landscape import Landscape
from gitops.sandbox.wire import ApiError, Request, Response, encoded


class Server:
    """Serves a landscape on loopback until it is closed; a context manager."""

    def __init__(self, landscape: Landscape, port: int = 0) -> None:
        self.landscape = landscape
        """What is served. Its kubeconfigs point here from now on."""
        pem, context = self_signed(dt.datetime.now(dt.UTC))
        self._http = _Http(("127.0.0.1", port), landscape, context)
        landscape.move_to(f"https://127.0.0.1:{self._http.server_port}", pem)
        self._thread = threading.Thread(target=self._http.serve_forever, name="sandbox-http", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base of all its API servers."""
        return self.landscape.base_url

    def garden_kubeconfig(self) -> bytes:
        """Return a kubeconfig of an administrator of the garden."""
        return self.landscape.garden_kubeconfig()

    def close(self) -> None:
        """Stop serving; watches end."""
        self.landscape.store.close()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], landscape: Landscape, context: ssl.SSLContext) -> None:
        self.landscape = landscape
        self._context = context
        super().__init__(address, _Connection)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Shake hands in the connection's own thread, so that a slow client holds up nobody."""
        try:
            secured = self._context.wrap_socket(request, server_side=True)
        except (ssl.SSLError, OSError):
            return
        with secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that hang up."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: requests may carry tokens."""

    def __getattr__(self, name: str) -> Any:
        """Answer every method alike: the base class looks for do_GET, do_PATCH, and so on."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        body = self._body()
        base, path, query = _split(self.path)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        request = Request(
            self.command,
            path,
            query,
            body,
            self.headers.get("Content-Type", "application/json"),
            self.headers.get("Accept", "application/json"),
            self.headers.get("User-Agent", ""),
        )
        try:
            response = self.server.landscape.answer(base, token, request, "timeout")
        except (ConnectionError, TimeoutError):
            self.close_connection = True
            return
        except Exception as bug:  # noqa: BLE001 - as the real server answers its own bugs
            text = f"Internal error occurred: the sandbox has a bug: {bug!r}"
            status = encoded(ApiError(500, "InternalError", text).status)
            response = Response(500, {"Content-Type": "application/json"}, status)
        self._send(response)

    def _body(self) -> bytes | None:
        """Read the whole body, so that the next request of the connection begins where it should."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(length) if length else None
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.stream is None:
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in response.stream:
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


def _split(target: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """Return the API server's base path, the path below it, and the query."""
    path, _, query = target.partition("?")
    parts = path.strip("/").split("/")
    size = 3 if parts[0] == "shoots" else 1
    return (
        "/".join(parts[:size]),
        "/" + "/".join(parts[size:]),
        tuple(parse_qsl(query, keep_blank_values=True)),
    )
