"""Signatures in commits and tags, as bytes, and what can be found out about one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Signed(Enum):
    """Which object must be signed; the values are git's words."""

    COMMIT = "commit"
    TAG = "tag"


class Form(Enum):
    """What made a signature."""

    NONE = "none"
    OPENPGP = "openpgp"
    SSH = "ssh"
    X509 = "x509"
    SEVERAL = "several"


@dataclass(frozen=True)
class Finding:
    """What became of a verification."""

    rule: str
    """The rule that is broken, in kebab case; empty when the signature is good and its signer trusted."""
    message: str = ""
    """What is wrong with the object, as the rest of a sentence that begins with it."""
    signer: str = ""
    """Principal, key or fingerprint, as far as it is known."""


_MARKS = {
    b"-----BEGIN PGP SIGNATURE-----": Form.OPENPGP,
    b"-----BEGIN PGP MESSAGE-----": Form.OPENPGP,
    b"-----BEGIN SSH SIGNATURE-----": Form.SSH,
    b"-----BEGIN SIGNED MESSAGE-----": Form.X509,
}
"""How signatures begin; see git's gpg-interface.c."""


def form_of(signature: bytes) -> Form:
    """What made a signature; NONE for no bytes, SEVERAL where one header follows another."""
    if not signature:
        return Form.NONE
    forms = [form for line in signature.splitlines() for mark, form in _MARKS.items() if line.startswith(mark)]
    return forms[0] if len(forms) == 1 else Form.SEVERAL


def signature_of(kind: Signed, raw: bytes) -> bytes:
    """The signature that git looks at, cut out of an object.

    A commit has it in the header `gpgsig`, a tag at its very end, from the last line that begins like one (git's
    `parse_buffer_signed_by_header` and `parse_signature`).
    """
    return _cut(kind, raw)[1]


def signed_by(kind: Signed, raw: bytes) -> bytes:
    """What the signature of an object vouches for: all the rest of it."""
    return _cut(kind, raw)[0]


def _cut(kind: Signed, raw: bytes) -> tuple[bytes, bytes]:
    """An object without its signature, and its signature."""
    if kind is Signed.TAG:
        return _cut_tag(raw)
    header, blank, message = raw.partition(b"\n\n")
    signed: list[bytes] = []
    signature: list[bytes] = []
    inside = False
    for line in header.split(b"\n"):
        if line.startswith(b"gpgsig"):
            inside = True
            signature.append(line.partition(b" ")[2])
        elif inside and line.startswith(b" "):
            signature.append(line[1:])
        else:
            inside = False
            signed.append(line)
    return b"\n".join(signed) + blank + message, b"".join(line + b"\n" for line in signature)


def _cut_tag(raw: bytes) -> tuple[bytes, bytes]:
    lines = raw.splitlines(keepends=True)
    begins = [number for number, line in enumerate(lines) if line.startswith(tuple(_MARKS))]
    end = begins[-1] if begins else len(lines)
    return b"".join(lines[:end]), b"".join(lines[end:])
