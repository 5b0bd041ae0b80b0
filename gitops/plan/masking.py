"""Secret values never leave the process: what looks secret is replaced before it enters a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gitops.manifest import Path

MASK = "(sensitive)"

_NAME = re.compile(
    r"(passw(or)?d|passphrase|token|secret|credential|private[-_]?key|api[-_]?key|access[-_]?key|client[-_]?key|kubeconfig"
    r"|bearer|authorization)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"(name|names|ref|refs|reference|references|namespace|kind|type|id|path|url|enabled)$", re.IGNORECASE
)
_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JSON web token
    r"|://[^/\s:@]+:[^/\s@]+@"  # userinfo with a password in a URL
    r"|\b(ghp|gho|ghs|glpat|xox[abp])[-_][A-Za-z0-9_-]{10,}"
)


def masked(kind: str, path: Path, value: Any) -> Any:
    """The value as it may be shown: whole, or with what looks secret replaced by `MASK`.

    All of a Secret's data is secret; elsewhere a field's name or the form of its value tells. Booleans, numbers and
    references to where a secret is kept are not secret.
    """
    names = [str(step) for step in path]
    if kind == "Secret" and names[:1] in (["data"], ["stringData"]):
        return MASK
    return _masked(names[-1] if names else "", value)


def _masked(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _masked(str(key), below) for key, below in value.items()}
    if isinstance(value, list):
        return [_masked(name, element) for element in value]
    if isinstance(value, str) and value and (_names_secret(name) or _VALUE.search(value)):
        return MASK
    return value


def _names_secret(name: str) -> bool:
    return bool(_NAME.search(name)) and not _REFERENCE.search(name)
