"""OpenPGP: a keyring of the trusted keys and no others, and what gpg says about a signature."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from gitops.errors import SourceError
from gitops.source.process import run
from gitops.source.signature import Finding

_CONFIGURATION = """\
batch
no-tty
no-autostart
no-auto-key-retrieve
disable-dirmngr
"""
"""No agent, no key server: a key counts if and only if it was given."""
_PATIENCE = timedelta(minutes=1)
_SECRET = 16
"""The flag of IMPORT_OK for a private key; see gnupg's doc/DETAILS."""
_SAID = {
    "BADSIG": ("bad-signature", "does not match its signature by {}"),
    "EXPKEYSIG": ("expired-key", "is signed by {}, whose key has expired"),
    "REVKEYSIG": ("revoked-key", "is signed by {}, whose key is revoked"),
    "EXPSIG": ("expired-signature", "carries a signature by {} that has expired"),
    "NO_PUBKEY": ("unknown-key", "is signed with the OpenPGP key {}, which is not one of --trusted-keys"),
    "ERRSIG": ("bad-signature", "carries a signature by {} that gpg cannot check"),
}
"""By gpg's status words, the worst first."""


class Keyring:
    """A GNUPGHOME of its own.

    Attributes:
        fingerprints: of the primary keys.
    """

    def __init__(self, home: Path, files: tuple[Path, ...]) -> None:
        home.mkdir(mode=0o700)
        (home / "gpg.conf").write_text(_CONFIGURATION)
        self._variables = {"PATH": os.environ.get("PATH", os.defpath), "GNUPGHOME": str(home), "LC_ALL": "C"}
        # Twice, because a revocation certificate may stand before the key that it revokes.
        found = [self._imported(file) for file in (*files, *files)]
        self.fingerprints = frozenset(fingerprint for fingerprints in found for fingerprint in fingerprints)

    def _imported(self, file: Path) -> list[str]:
        try:
            keys = file.read_bytes()
        except OSError as error:
            raise SourceError(f"cannot read --trusted-keys {file}: {error.strerror}") from error
        command = ["gpg", "--status-fd", "1", "--import"]
        done = run(command, environment=self._variables, patience=_PATIENCE, given=keys)
        status = list(_status(done.output.decode(errors="replace")))
        said = [words for words in status if words[0] == "IMPORT_OK"]
        if b"PRIVATE KEY BLOCK" in keys or any(int(words[1]) & _SECRET for words in said):
            raise SourceError(
                f"--trusted-keys {file} holds a private key: give the public one (`gpg --export --armor`)"
            )
        if not any(words[0] == "IMPORT_RES" and int(words[1]) for words in status):
            raise SourceError(f"--trusted-keys {file} holds no OpenPGP public key: `gpg --export --armor WHO > {file}`")
        return [words[2] for words in said]


def openpgp_finding(verified: tuple[int, str], trusted: frozenset[str]) -> Finding:
    """Judge a signature by exit code and status words of git and gpg."""
    code, words = verified
    said = {word[0]: word[1:] for word in _status(words)}
    for word, (rule, message) in _SAID.items():
        if word in said:
            signer = _signer(said, word)
            return Finding(rule, message.format(signer), signer)
    primary = said.get("VALIDSIG", [""])[-1]
    if code or "GOODSIG" not in said or not primary:
        return Finding("bad-signature", "carries an OpenPGP signature that gpg does not accept")
    signer = _signer(said, "GOODSIG")
    if primary not in trusted:
        return Finding("unknown-key", f"is signed by {signer}, whose key is not one of --trusted-keys", signer)
    return Finding("", signer=signer)


def _signer(said: dict[str, list[str]], word: str) -> str:
    """Fingerprint, or the key's id where gpg knows no more, and the name on the key."""
    known = said.get("VALIDSIG", [""])[-1] or (said["ERRSIG"][-1] if "ERRSIG" in said else "")
    key, *name = said[word]
    fingerprint = known if len(known) >= len(key) else key
    return f"{' '.join(name)} ({fingerprint})" if name and word not in {"ERRSIG", "NO_PUBKEY"} else fingerprint


def _status(text: str) -> Iterator[list[str]]:
    mark = "[GNUPG:] "
    return (line.removeprefix(mark).split(" ") for line in text.splitlines() if line.startswith(mark))
