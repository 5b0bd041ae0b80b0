"""Which forge and which repository there, from what a person said and from the repository's URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from gitops.errors import Refused
from gitops.notify.forge import Forge
from gitops.notify.forges import FORGES

PUBLIC: Mapping[str, str] = {
    "github.com": "github",
    "ssh.github.com": "github",
    "gitlab.com": "gitlab",
    "altssh.gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "altssh.bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
}
"""Hosts of which everybody knows what they run."""
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>\[[^]]+\]|[^/@:]+):(?!//)(?P<path>.+)")


@dataclass(frozen=True)
class Remote:
    """What a repository's URL says, without user and password."""

    scheme: str
    host: str
    """With the port, where it is one of HTTP."""
    path: str
    """Without slashes around it and without `.git`."""


def remote_of(url: str) -> Remote | None:
    """What a URL, or ssh's `host:path`, says; None for a folder."""
    if "://" in url:
        parts = _parts(url, "the repository's URL")
        if parts.scheme in {"file", ""} or not parts.hostname:
            return None
        host = parts.netloc.rpartition("@")[2] if parts.scheme in {"http", "https"} else parts.hostname
        return Remote(parts.scheme, host.lower(), _trimmed(unquote(parts.path)))
    if match := _SCP.fullmatch(url):
        return Remote("ssh", match["host"].lower(), _trimmed(match["path"]))
    return None


def find_forge(
    remote: str, *, forge: str | None = None, address: str | None = None, repository: str | None = None
) -> Forge:
    """The repository on its forge.

    Args:
        remote: the repository's URL; one that leads nowhere, such as a folder, needs `address` and `repository`.
        forge: what runs there, a key of FORGES; None guesses, where the host is public.
        address: where the forge is; None takes it from `remote`, always by https.
        repository: its path on the forge; None takes it from `remote`.

    Raises:
        Refused: it cannot be known, and what to say so that it can.
    """
    found = remote_of(remote)
    kind = forge or PUBLIC.get(_host(address) or (found.host if found else ""))
    if kind is None:
        place = _host(address) or (found.host if found else "a repository without a remote")
        raise Refused(f"what forge runs at {place} is not known: name it with --forge ({', '.join(FORGES)})")
    if address is not None:
        _check_address(address)
    elif found is None:
        raise Refused("the repository has no URL that leads to a forge: name its address with --forge-url")
    base = (address or f"https://{_web_host(found)}").rstrip("/")
    path = repository or (_path(found, base, kind) if found else "")
    if not _is_repository(path, kind):
        raise Refused(f"{path or 'nothing'!r} is no repository on {kind}: name it with --forge-repository OWNER/NAME")
    return FORGES[kind](base, path)


def _trimmed(path: str) -> str:
    return path.strip("/").removesuffix(".git")


def _host(address: str | None) -> str:
    return _parts(address or "", "--forge-url").netloc.lower()


def _parts(url: str, what: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read only now, and perhaps no number that a port can have
    except ValueError:
        raise Refused(f"{what} is no address such as https://git.example.com") from None
    return parts


def _web_host(remote: Remote | None) -> str:
    """The host that serves the API of a host that serves ssh on port 443 for firewalls."""
    host = remote.host if remote else ""
    return host.removeprefix("altssh.").removeprefix("ssh.") if host in PUBLIC else host


def _path(remote: Remote, base: str, kind: str) -> str:
    """The repository's path on its forge, which may lie below a path of its host."""
    below = urlsplit(base).path.strip("/")
    path = remote.path.removeprefix(f"{below}/") if below and remote.scheme != "ssh" else remote.path
    if kind == "bitbucket-server" and remote.scheme in {"http", "https"}:
        path = path.removeprefix("scm/")
    return path


def _is_repository(path: str, kind: str) -> bool:
    parts = path.split("/")
    plain = all(part and part not in {".", ".."} and part.isprintable() for part in parts)
    return plain and (len(parts) == 2 or (kind == "gitlab" and len(parts) > 2))


def _check_address(address: str) -> None:
    """A token goes there: nothing is guessed about it."""
    parts = _parts(address, "--forge-url")
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise Refused("--forge-url must be an address such as https://git.example.com")
    if parts.username or parts.password:
        raise Refused("--forge-url must hold no user and no password: the token comes from --forge-token-file")
