"""Who may look at the dashboard.

    nobody asks         on a loopback address only, or where it is said in so many words
    a token             `Authorization: Bearer …`; browsers, which cannot, may give it as the password of any name
    names and passwords `Authorization: Basic …`
    a trusted proxy     names the person in a header, and only its own addresses may do so

Files are read again when they change, as Kubernetes replaces mounted Secrets.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from starlette.datastructures import Headers

from gitops.errors import GitopsError, Refused
from gitops.serve.board.passwords import NOBODY, Password, read_passwords

log = logging.getLogger(__name__)

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_REALM = 'realm="shoot-gitops", charset="UTF-8"'
_SHORTEST = 16
"""Characters of a token: shorter ones can be guessed."""
_PROXIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that no browser sends."""
_BY_A_PROXY = (
    "Only this machine is shown the dashboard, and this request came through a proxy: say who may look, with one of "
    "the --dashboard-… options of gitops serve."
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})
_REMEMBERED = 256
"""Passwords that were right, remembered by a keyed hash, so that a page with ten requests hashes once."""


@dataclass(frozen=True)
class Asked:
    """What a request shows of who sends it."""

    headers: Headers
    peer: str
    """The address at the other end of the connection; empty where the server does not say."""


@dataclass(frozen=True)
class Granted:
    """They may look."""

    viewer: str
    """Who it is; empty where nobody asks."""


@dataclass(frozen=True)
class Denied:
    """They may not."""

    status: int
    challenges: tuple[str, ...] = ()
    """For `WWW-Authenticate`."""
    why: str = ""
    """For people, where the status alone would mislead them."""


class ViewAccess(Protocol):
    """One way to tell who may look. May take some 50 ms, so not to be called in an event loop's thread."""

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Whether to answer."""


@dataclass(frozen=True)
class Everybody:
    """Nobody is asked."""

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Yes."""
        del asked
        return Granted("")


@dataclass(frozen=True)
class ThisMachine:
    """Nobody is asked on a loopback address; pages of other sites that know our address are kept out by their Host.

    A proxy on this machine lets others in, and most say that they are one: nobody is shown anything through those.
    """

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Whether the browser meant us, and not a name that was made to point to us, nor a proxy."""
        if any(header in asked.headers for header in _PROXIED):
            return Denied(403, why=_BY_A_PROXY)
        host = asked.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        return Granted("") if name.lower() in _LOCAL else Denied(421)


class TokenFile:
    """A bearer token, the first line of a file; several lines are several tokens, for changing them."""

    def __init__(self, file: Path) -> None:
        """Read it.

        Raises:
            Refused: it cannot be read or holds no token.
        """
        none: tuple[str, ...] = ()
        self._tokens = _Watched(file, _read_tokens, none)

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Whether a token was given, as one or as a password."""
        scheme, value = _authorization(asked.headers)
        given = value if scheme == "bearer" else (_basic(value) or ("", ""))[1] if scheme == "basic" else ""
        # Every token is compared, so that the time tells nothing of which one it was.
        fitting = [hmac.compare_digest(_bytes(given), _bytes(token)) for token in self._tokens()]
        if any(fitting):
            return Granted("token")
        return Denied(401, (f"Bearer {_REALM}", f"Basic {_REALM}"))


class PasswordFile:
    """Names and hashed passwords, as `gitops.serve.board.passwords` tells."""

    def __init__(self, file: Path) -> None:
        """Read it.

        Raises:
            Refused: it cannot be read or holds no password.
        """
        nobody: Mapping[str, Password] = {}
        self._passwords = _Watched(file, read_passwords, nobody)
        self._key = secrets.token_bytes(32)
        self._right: dict[bytes, None] = {}
        self._one_at_a_time = threading.Lock()

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Whether name and password belong together."""
        scheme, value = _authorization(asked.headers)
        given = _basic(value) if scheme == "basic" else None
        if given is None:
            return Denied(401, (f"Basic {_REALM}",))
        name, password = given
        known = self._passwords().get(name, NOBODY)
        return Granted(name) if self._fits(known, password) else Denied(401, (f"Basic {_REALM}",))

    def _fits(self, known: Password, password: str) -> bool:
        """Guessing takes one processor and 32 MiB at most, however many guess."""
        seen = hmac.digest(self._key, known.salt + known.hash + _bytes(password), hashlib.sha256)
        if seen in self._right:
            return True
        with self._one_at_a_time:
            if not known.fits(password):
                return False
            if len(self._right) >= _REMEMBERED:
                self._right.clear()
            self._right[seen] = None
            return True


class TrustedProxy:
    """A proxy that has asked already, and names the person in a header."""

    def __init__(self, proxies: Sequence[str], header: str = "X-Forwarded-User") -> None:
        """Trust it.

        Args:
            proxies: addresses or networks such as `10.0.0.0/8`; only connections from these are believed.
            header: where it names the person; it must overwrite what it was sent.

        Raises:
            Refused: one of them is no address, or there is none.
        """
        try:
            self._proxies: list[Network] = [ipaddress.ip_network(proxy) for proxy in proxies]
        except ValueError as error:
            raise Refused(f"the dashboard's proxies: {error}") from error
        if not self._proxies:
            raise Refused("whose X-Forwarded-User is to be believed? Name the proxy's addresses")
        self._header = header

    def __call__(self, asked: Asked) -> Granted | Denied:
        """Whether it comes from the proxy, once, and names somebody."""
        names = asked.headers.getlist(self._header)
        if len(names) != 1 or not names[0].strip() or not self._is_proxy(asked.peer):
            return Denied(403)
        return Granted(names[0].strip())

    def _is_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in proxy for proxy in self._proxies)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class _Watched(Generic[T]):
    """A file's content, read again when the file changes, and a warning for each way in which it cannot be.

    While it is not there, as it is being replaced, it keeps its meaning. Content that cannot be used lets nobody in, as
    it may have been emptied to keep somebody out.
    """

    def __init__(self, file: Path, read: Callable[[str, str], T], nobody: T) -> None:
        self._file = file
        self._read = read
        self._nobody = nobody
        self._lock = threading.Lock()
        self._warned = ""
        self._stamp = self._look()
        self._content = read(self._text(), str(file))

    def __call__(self) -> T:
        with self._lock:
            try:
                stamp = self._look()
                if stamp != self._stamp:
                    text = self._text()
                    self._stamp, self._content = stamp, self._nobody
                    self._content = self._read(text, str(self._file))
                    self._warned = ""
            except GitopsError as error:
                if self._warned != str(error):
                    self._warned = str(error)
                    log.warning("who may look at the dashboard: %s", error)
            return self._content

    def _look(self) -> tuple[int, int, int]:
        try:
            stat = os.stat(self._file)  # noqa: PTH116 - follows the links of mounted Secrets, which is what changes
        except OSError as error:
            raise Refused(f"{self._file} cannot be read: {error.strerror}") from error
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _text(self) -> str:
        try:
            return self._file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"{self._file} cannot be read: {type(error).__name__}") from error


def _read_tokens(text: str, file: str) -> tuple[str, ...]:
    tokens = tuple(filter(None, map(str.strip, text.splitlines())))
    if not tokens or min(map(len, tokens)) < _SHORTEST:
        raise Refused(f"{file} must hold a token of at least {_SHORTEST} characters, one a line")
    return tokens


def _authorization(headers: Mapping[str, str]) -> tuple[str, str]:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return scheme.lower(), value.strip()


def _basic(value: str) -> tuple[str, str] | None:
    """Name and password; None where that is no such thing."""
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return (name, password) if colon else None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
