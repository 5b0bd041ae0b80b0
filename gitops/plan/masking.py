"""Secret values never leave the process: what looks secret is replaced before it enters a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gitops.manifest import Element, Path

MASK = "(sensitive)"

_NAME = re.compile(
    r"(passw(or)?d|passphrase|token|secret|credential|private[-_]?key|api[-_]?key|access[-_]?key|client[-_]?key|kubeconfig"
    r"|bearer|authorization|last-applied-configuration)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(name|names|ref|refs|reference|references|namespace|kind|version|type|id|path|url|enabled|expiration|mode)$",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|://[^/\s:@]+:[^/\s@]+@"  # userinfo with a password in a URL
    r"|\b(ghp|gho|ghs|glpat|github_pat|xox[abp])[-_][A-Za-z0-9_-]{10,}"
    r"|\b(?i:passw(or)?d|secret[-_]?key|api[-_]?key|access[-_]?token)[\"']?\s*[:=]\s*[\"']?[^\s\"'<${]"  # in a file
)


def masked(kind: str, path: Path, value: Any) -> Any:
    """The value as it may be shown: whole, or with what looks secret replaced by `MASK`.

    All of a Secret's data is secret. Elsewhere the name of the field, or of one around it, tells, or the form of the
    value. Booleans, numbers and references to where a secret is kept are not secret.
    """
    if kind == "Secret" and path[:1] in {("data",), ("stringData",)}:
        return MASK
    holders = [step for step in path[:-1] if isinstance(step, str)]
    called = path[-2].value if len(path) > 1 and isinstance(path[-2], Element) else ""
    name = path[-1] if path and isinstance(path[-1], str) else ""
    return _masked(name, value, called=called, inside=any(map(_names_secret, holders)))


def _masked(name: str, value: Any, *, called: str, inside: bool) -> Any:
    """One value.

    Args:
        name: of the field that holds it; empty for an element of a list.
        value: any JSON.
        called: what the object around it is called, as in `{name: PASSWORD, value: …}`.
        inside: whether a field around it names a secret.
    """
    secret = _names_secret(name) or (name == "value" and _names_secret(called))
    secret = secret or (inside and not _REFERENCE.search(name))
    if isinstance(value, Mapping):
        of = str(value.get("name", ""))
        return {key: _masked(str(key), below, called=of, inside=secret) for key, below in value.items()}
    if isinstance(value, list):
        return [_masked("", element, called="", inside=secret) for element in value]
    return MASK if isinstance(value, str) and value and (secret or _VALUE.search(value)) else value


def _names_secret(name: str) -> bool:
    return bool(_NAME.search(name)) and not _REFERENCE.search(name)
