"""What git and ssh-keygen say about an ssh signature."""

from __future__ import annotations

import re
from collections.abc import Callable

from gitops.source.process import Done
from gitops.source.signature import Finding

_GOOD = re.compile(r'^Good "git" signature for (.+) with \S+ key (SHA256:\S+)$', re.MULTILINE)
_KEY = re.compile(r"\b(SHA256:[A-Za-z0-9+/]+)")


def ssh_finding(verified: tuple[int, str], unrevoked: tuple[int, str], today: Callable[[str], Done]) -> Finding:
    """Judge a signature.

    Args:
        verified: exit code and words of git, which judges by the date that the commit itself claims.
        unrevoked: the same without any revocation list.
        today: ssh-keygen's answer to whether a principal may sign so for git, by today's date.
    """
    code, words = verified
    good = _GOOD.search(words)
    if code == 0 and good is not None:
        return _as_of_today(good[1], good[2], today(good[1]))
    key = _KEY.search(unrevoked[1])
    signer = key[1] if key else ""
    by = f"is signed with the ssh key {signer}" if signer else "is signed with an ssh key"
    if unrevoked[0] == 0:
        return Finding("revoked-key", f"{by}, which is revoked", signer)
    if "not permitted for use in signature namespace" in unrevoked[1]:
        return Finding("wrong-namespace", f"{by}, which is not allowed to sign for git", signer)
    if not signer:
        return Finding("bad-signature", f"{by}, and the signature does not belong to it")
    return _by_date(by, signer, unrevoked[1])


def _as_of_today(principal: str, key: str, today: Done) -> Finding:
    signer = f"{principal} ({key})"
    if today.code == 0:
        return Finding("", signer=signer)
    return _by_date(f"is signed by {signer}", signer, today.errors)


def _by_date(by: str, signer: str, words: str) -> Finding:
    if "key has expired" in words:
        return Finding("expired-key", f"{by}, whose key has expired", signer)
    if "key is not yet valid" in words:
        return Finding("not-yet-valid-key", f"{by}, whose key is not valid yet", signer)
    return Finding("unknown-key", f"{by}, which is nobody's in --allowed-signers", signer)
