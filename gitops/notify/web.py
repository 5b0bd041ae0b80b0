"""One request to somebody on the web: the seam between telling and the network."""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import certifi
import urllib3
from urllib3 import exceptions as http

from gitops.errors import CredentialsError, GitopsError
from gitops.kube.transport import USER_AGENT
from gitops.report.words import printable

LONGEST_ANSWER = 16 * 1024 * 1024
"""Bytes; a hundred comments of the greatest length are less."""
_LONGEST_REASON = 200
_RETRIED = {408, 409, 425, 429}
"""What another attempt may change; GitLab and Bitbucket say 409 while somebody else changes the same."""
_UNSAID = 60.0
"""Seconds to wait where GitHub limits requests and does not say for how long."""


@dataclass(frozen=True)
class Request:
    """One HTTP request. Its address and headers may hold secrets and are in no repr."""

    method: str
    url: str = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Response:
    """What was answered, whatever its status."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """Looked up without regard to case."""
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as data; None where it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


Send = Callable[[Request], Response]
"""Sends a request once, from any thread; raises Undelivered where there is no whole answer."""


class Undelivered(GitopsError):  # noqa: N818 - reads as what it is, like the errors it joins
    """Something could not be told; the reason holds no secret.

    Attributes:
        passing: whether it may go away by itself, so that it is worth another attempt.
        retry_after: seconds, as the receiver asked; None when it did not say.
    """

    def __init__(self, message: str, *, passing: bool, retry_after: float | None = None) -> None:
        self.passing = passing
        self.retry_after = retry_after
        super().__init__(message)


class Web:
    """The network by urllib3's pools: with timeouts, without redirects, retries or cookies."""

    def __init__(
        self, *, ca_file: Path | None = None, proxy: Callable[[str], str | None] = lambda _: None, read: float = 15
    ) -> None:
        """Make a way into the web; nothing is sent yet.

        Args:
            ca_file: certificates to trust besides the system's, as for a forge with a CA of its own.
            proxy: the proxy for a URL; None for none.
            read: seconds between two bytes.

        Raises:
            CredentialsError: the file holds no certificate.
        """
        self._tls = ssl.create_default_context()
        self._tls.load_verify_locations(certifi.where())  # slim images have no CAs of their own
        if ca_file is not None:
            try:
                self._tls.load_verify_locations(ca_file)
            except OSError as error:
                raise CredentialsError(f"{ca_file} holds no certificate that could be trusted: {error}") from error
        self._proxy = proxy
        self._pools: dict[str | None, urllib3.PoolManager] = {}
        self._timeout = urllib3.Timeout(connect=5, read=read)

    def __call__(self, request: Request) -> Response:
        """Send a request once.

        Raises:
            Undelivered: there was no whole answer.
        """
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json", **request.headers}
        if request.body:
            headers.setdefault("Content-Type", "application/json")
        try:
            answer = self._pool(request.url).request(
                request.method,
                request.url,
                body=request.body or None,
                headers=headers,
                timeout=self._timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            body, whole = b"", False
            try:
                body = answer.read(LONGEST_ANSWER + 1, decode_content=True)
                whole = len(body) <= LONGEST_ANSWER
            finally:
                (answer.release_conn if whole else answer.close)()
        except (http.HTTPError, OSError) as error:
            raise Undelivered(_cause(error), passing=_is_passing(error)) from None  # the error's text may hold the URL
        if not whole:
            raise Undelivered("the answer is too long", passing=False)
        return Response(answer.status, answer.headers, body)

    def close(self) -> None:
        """Drop the idle connections."""
        for pool in self._pools.values():
            pool.clear()

    def _pool(self, url: str) -> urllib3.PoolManager:
        proxy = self._proxy(url)
        if proxy not in self._pools:
            self._pools[proxy] = _pool_by(proxy, self._tls)
        return self._pools[proxy]


def _pool_by(proxy: str | None, tls: ssl.SSLContext) -> urllib3.PoolManager:
    """Connections, made directly or by a proxy, whose URL may hold a user and a password."""
    if proxy is None:
        return urllib3.PoolManager(ssl_context=tls)
    parts = urlsplit(proxy)
    user = unquote(parts.netloc.rpartition("@")[0])
    headers = urllib3.make_headers(proxy_basic_auth=user) if user else None
    return urllib3.ProxyManager(proxy, proxy_headers=headers, ssl_context=tls)


def raise_unless_taken(response: Response) -> None:
    """Return where the receiver took what it was told.

    Raises:
        Undelivered: it did not.
    """
    if 200 <= response.status < 300:
        return
    if 300 <= response.status < 400:
        message = f"HTTP {response.status}, a redirect, and none is followed: name the address that it leads to"
        raise Undelivered(message, passing=False)
    reason = _reason(response.json())
    message = f"HTTP {response.status}" + (f": {reason}" if reason else "")
    passing = response.status >= 500 or response.status in _RETRIED or _is_throttled(response)
    raise Undelivered(message, passing=passing, retry_after=_retry_after(response) if passing else None)


def _is_throttled(response: Response) -> bool:
    """GitHub says some of its limits by 403, and some of those in words only.

    (docs.github.com, "Rate limits for the REST API", "Exceeding the rate limit")
    """
    limited = _is_used_up(response) or "Retry-After" in response.headers or _speaks_of_limits(response)
    return response.status == 403 and limited


def _is_used_up(response: Response) -> bool:
    return response.headers.get("X-RateLimit-Remaining") == "0"


def _speaks_of_limits(response: Response) -> bool:
    return response.status in {403, 429} and "rate limit" in _reason(response.json()).lower()


def _retry_after(response: Response) -> float | None:
    """Seconds, from either form of the header (RFC 9110), or from when GitHub's limit is lifted."""
    asked = response.headers.get("Retry-After", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(asked))
    with contextlib.suppress(KeyError, ValueError):
        now = parsedate_to_datetime(response.headers["Date"])
        if asked:
            return max(0.0, (parsedate_to_datetime(asked) - now).total_seconds())
        if _is_used_up(response):  # else other requests are taken, and the reset says nothing of this one
            return max(0.0, float(response.headers["X-RateLimit-Reset"]) - now.timestamp())
    return _UNSAID if _speaks_of_limits(response) else None


def _reason(body: Any) -> str:
    """What a forge says about a refusal, wherever it puts it; what is no JSON may be a proxy's and is not shown."""
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else errors
    for found in (body.get("message"), body.get("error"), first):
        text = found.get("message", found) if isinstance(found, dict) else found
        if text and isinstance(text, str | dict | list):
            return printable(text if isinstance(text, str) else json.dumps(text))[:_LONGEST_REASON]
    return ""


def _is_passing(error: Exception) -> bool:
    """A certificate that is not trusted stays so, and so does an address that is none."""
    return not isinstance(error, http.SSLError | http.LocationValueError)


def _cause(error: BaseException) -> str:
    """The reason in one line without the address, which may be secret."""
    no_connection = isinstance(error, http.NewConnectionError | http.ProxyError)
    if isinstance(error, http.ConnectTimeoutError) and not no_connection:
        return "no connection in time"
    if isinstance(error, http.ReadTimeoutError):
        return "no answer in time"
    innermost = error
    while innermost.__cause__ or innermost.__context__:
        innermost = innermost.__cause__ or innermost.__context__  # type: ignore[assignment]  # tested in the line above
    if isinstance(innermost, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {innermost.verify_message}"
    told = innermost.strerror if isinstance(innermost, OSError) else None
    return f"{'no connection' if no_connection else 'no whole answer'}: {told or type(innermost).__name__}"
