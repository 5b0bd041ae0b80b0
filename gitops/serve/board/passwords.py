"""Passwords of people who may look, one a line: `name:$scrypt$ln=15,r=8,p=1$<salt>$<hash>`.

The hash is scrypt's (RFC 7914) over the password in UTF-8, 32 bytes; salt and hash are base64 without padding, as in
the PHC string format. Empty lines and lines that begin with `#` mean nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass

from gitops.errors import Refused

LOG_COST, BLOCK, PARALLEL = 15, 8, 1
"""scrypt's N as a power of two, r and p: 32 MiB and some 50 ms for each password that is tried."""
_MEMORY = 128 * 1024 * 1024
_HASH = re.compile(r"\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)")


@dataclass(frozen=True)
class Password:
    """One hash, and how it was made."""

    log_cost: int
    block: int
    parallel: int
    salt: bytes
    hash: bytes

    def fits(self, password: str) -> bool:
        """Whether this is the password, in the same time whatever is wrong with it."""
        return hmac.compare_digest(self.hash, self._hash(password))

    def _hash(self, password: str) -> bytes:
        return hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"),
            salt=self.salt,
            n=2**self.log_cost,
            r=self.block,
            p=self.parallel,
            maxmem=_MEMORY,
            dklen=len(self.hash),
        )


NOBODY = Password(LOG_COST, BLOCK, PARALLEL, b"nobody's salt...", bytes(32))
"""What the password of a name that is not known is compared with, so that it takes as long; none fits."""


def password_line(name: str, password: str, salt: bytes) -> str:
    """The line for one person.

    Args:
        name: without a colon.
        password: whatever they chose.
        salt: 16 random bytes.

    Raises:
        Refused: the name or the password cannot be used.
    """
    if not name or ":" in name or not name.isprintable() or name.startswith("#"):
        raise Refused(f"{name!r} cannot be a name here: use printable characters, no colon, and no # at the beginning")
    if not password:
        raise Refused("the password is empty")
    hashed = hashlib.scrypt(password.encode(), salt=salt, n=2**LOG_COST, r=BLOCK, p=PARALLEL, maxmem=_MEMORY, dklen=32)
    return f"{name}:$scrypt$ln={LOG_COST},r={BLOCK},p={PARALLEL}${_text(salt)}${_text(hashed)}"


def read_passwords(text: str, file: str) -> Mapping[str, Password]:
    """Hashes by name.

    Args:
        text: of the file.
        file: what it is called, for errors.

    Raises:
        Refused: a line means nothing, or there is none; no line is quoted.
    """
    found: dict[str, Password] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, rest = line.strip().partition(":")
        password = _read(rest)
        if not name or password is None:
            raise Refused(
                f"{file}:{number}: expected name:$scrypt$ln=…,r=…,p=…$salt$hash; `gitops password NAME` prints a line"
            )
        found[name] = password
    if not found:
        raise Refused(f"{file} names nobody: `gitops password NAME` prints a line for it")
    return found


def _read(text: str) -> Password | None:
    match = _HASH.fullmatch(text)
    if match is None:
        return None
    cost, block, parallel = (int(match[at]) for at in (1, 2, 3))
    try:
        salt, hashed = _bytes(match[4]), _bytes(match[5])
    except binascii.Error:
        return None
    usable = 10 <= cost <= 17 and 1 <= block <= 8 and 1 <= parallel <= 4 and len(salt) >= 8 and len(hashed) >= 16
    return Password(cost, block, parallel, salt, hashed) if usable else None


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
