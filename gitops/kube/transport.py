"""One request in, one response out: the seam between us and the network."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Protocol
from urllib.parse import quote, urlencode

import urllib3
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from urllib3 import exceptions as http

from gitops.errors import Unreachable

USER_AGENT = f"shoot-gitops/{version('shoot-gitops')}"
READING_VERBS = frozenset({"GET", "HEAD", "OPTIONS"})
NEVER_STORED = ("/adminkubeconfig", "/viewerkubeconfig", "/selfsubjectreviews")


@dataclass(frozen=True)
class Request:
    """One HTTP request to one API server."""

    method: str
    path: str
    """Absolute and percent-encoded, without host and query."""
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = ""
    timeout: float | None = None
    """Seconds to wait for a connection, and between two bytes of the answer; None leaves it to the transport."""
    permit: Callable[[], None] | None = field(default=None, compare=False, repr=False)
    """Asked last of all before the request leaves; raises where it must not any more. None where it always may."""

    @property
    def writes(self) -> bool:
        """Whether it may change what the server stores.

        A dry run changes nothing. A shoot kubeconfig is issued and never stored
        (gardener pkg/apiserver/registry/core/shoot/storage/kubeconfig.go), and who asks is only told.
        """
        if self.method in READING_VERBS or ("dryRun", "All") in self.query:
            return False
        return not self.path.endswith(NEVER_STORED)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Response:
    """What the server answered, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Looked up without regard to case."""
    body: bytes = field(repr=False)


class Transport(Protocol):
    """Carries requests to one API server, from any thread."""

    def __call__(self, request: Request) -> Response:
        """The server's answer, error statuses included.

        Raises:
            Unreachable: there was no complete answer.
            CredentialsError: an expired credential could not be renewed; nothing was sent.
            GitopsError: what `request.permit` raised; nothing that a server acts on was sent.
        """


class NotSent(Unreachable):
    """No connection was made, so the server has not seen the request and even a write may be repeated."""


@dataclass(frozen=True)
class Timeouts:
    """How long to wait for the network, in seconds."""

    connect: float = 5.0
    read: float = 60.0
    """Between two bytes; a LIST of thousands of Shoots takes some seconds to begin."""


class ClientTransport:
    """The network, by the official client's connection pool: HTTP keep-alive, no redirects, no retries.

    Closing it drops the idle connections. A request that is under way in another thread ends normally, so a
    transport can be evicted from a cache while somebody still uses it.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        tls: ssl.SSLContext | None = None,
        headers: Sequence[tuple[str, str]] = (),
        renew: Callable[[], bool] | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Make a transport; nothing is sent yet.

        Args:
            configuration: host, proxy, pool size and tokens; its own TLS files stay unset.
            tls: trust and client certificate of an `https` host.
            headers: sent with every request.
            renew: called before each request; renews an expired credential in `configuration` or `tls` and
                returns True when connections made before must not be used any more; None when nothing expires.
            timeouts: of each request.
        """
        timeouts = timeouts or Timeouts()
        self._configuration = configuration
        self._pools = RESTClientObject(configuration).pool_manager
        if tls is not None:
            self._pools.connection_pool_kw["ssl_context"] = tls
        self._headers = (("User-Agent", USER_AGENT), ("Accept", "application/json"), *headers)
        self._renew = renew
        self._lock = threading.Lock()
        self._timeout = urllib3.Timeout(connect=timeouts.connect, read=timeouts.read)

    def __call__(self, request: Request) -> Response:
        """Send it once."""
        headers = self._authenticated_headers(request)
        url = self._configuration.host + request.path
        if request.query:
            url += "?" + urlencode(request.query, quote_via=quote)
        body: bytes | Iterator[bytes] | None = request.body
        if request.permit is not None:
            request.permit()  # before anything is sent, as renewing the credential may have taken long
            if request.body:
                headers["Content-Length"] = str(len(request.body))
                body = _once_permitted(request.body, request.permit)
        try:
            answer = self._pools.urlopen(
                request.method,
                url,
                body=body,
                headers=headers,
                timeout=self._timeout if request.timeout is None else urllib3.Timeout(request.timeout, request.timeout),
                retries=False,
                redirect=False,
            )
        except (http.NewConnectionError, http.ConnectTimeoutError, http.ProxyError) as error:
            raise NotSent(f"no connection: {_cause(error)}", request=str(request)) from error
        except (http.HTTPError, OSError) as error:
            raise Unreachable(_cause(error), request=str(request)) from error
        return Response(answer.status, answer.headers, answer.data)

    def close(self) -> None:
        """Drop the idle connections."""
        self._pools.clear()

    def _authenticated_headers(self, request: Request) -> urllib3.HTTPHeaderDict:
        headers = urllib3.HTTPHeaderDict()
        for name, value in self._headers:
            headers.add(name, value)
        headers.update(urllib3.make_headers(keep_alive=True, accept_encoding="gzip"))
        if request.content_type:
            headers["Content-Type"] = request.content_type
        with self._lock:  # the library's token refresh is not made for threads
            if self._renew is not None and self._renew():
                self.close()
            authorization = self._configuration.get_api_key_with_prefix("BearerToken")
        if authorization:
            headers["Authorization"] = authorization
        return headers


def _once_permitted(body: bytes, permit: Callable[[], None]) -> Iterator[bytes]:
    """The body, asked about when it is about to be sent: to find the server and to connect may have taken long as well.

    No server acts on a request whose body does not come.
    """
    permit()
    yield body


def _cause(error: Exception) -> str:
    """The innermost reason in one line, without our side's object addresses."""
    reason: object = error
    while isinstance(reason, Exception) and (reason.__cause__ or reason.__context__):
        reason = reason.__cause__ or reason.__context__
    with contextlib.suppress(AttributeError):
        reason = reason.strerror or reason  # type: ignore[attr-defined]
    return f"{type(error).__name__}: {reason}"
