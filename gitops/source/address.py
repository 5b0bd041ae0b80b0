"""Where a remote repository is, apart from the credentials that its URL may carry."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from gitops.errors import SourceError

_PROTOCOLS = {"https", "ssh", "file"}
_SCP = re.compile(r"(?:[^/@:]+@)?[^/@:]+:(?!//).+")


@dataclass(frozen=True)
class Address:
    """A URL that git is told, and what it must not be told on its command line."""

    url: str
    """Without password; an ssh user stays, which is no secret and part of the address."""
    protocol: str
    """https, ssh or file."""
    shown: str
    """As messages, records and the mirror's name call it: without user and password."""
    host: str
    """`https://host:port`, which credentials are for; empty where it is not https."""
    username: str = ""
    """Of the URL; empty when it has none."""
    password: str = field(default="", repr=False)
    """Of the URL; empty when it has none."""


def is_url(repo: str) -> bool:
    """Whether a repository is named by a URL, or by ssh's `host:path`, and not by a folder."""
    return "://" in repo or (_SCP.fullmatch(repo) is not None and not Path(repo).exists())


def address_of(url: str) -> Address:
    """Take a URL apart.

    Raises:
        SourceError: it is no URL, or of a protocol that is not fetched.
    """
    if "://" not in url:
        return Address(url, "ssh", url, "")
    try:
        parts = urlsplit(url)
        _ = parts.port  # read only now, and perhaps no number that a port can have
    except ValueError:
        raise SourceError("the repository's URL is no address: its host or its port cannot be one") from None
    userinfo, _, host = parts.netloc.rpartition("@")
    shown = urlunsplit(parts._replace(netloc=host))
    if parts.scheme not in _PROTOCOLS:
        raise SourceError(f"{shown}: only https, ssh and file addresses are fetched")
    username, _, password = userinfo.partition(":")
    if parts.scheme == "ssh":
        told = urlunsplit(parts._replace(netloc=f"{username}@{host}")) if username else shown
        return Address(told, "ssh", shown, "")
    scope = f"https://{host}" if parts.scheme == "https" else ""
    return Address(shown, parts.scheme, shown, scope, unquote(username), unquote(password))
