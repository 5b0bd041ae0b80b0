"""Real keys, made for one test, and git repositories that they sign."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def ran(*command: str | Path, cwd: Path, given: bytes = b"", **variables: str) -> bytes:
    """What a program prints; fails the test where the program fails."""
    environment = ENVIRONMENT | variables
    done = subprocess.run(command, cwd=cwd, env=environment, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def _need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")


class SshSigner:
    """An ed25519 key."""

    def __init__(self, folder: Path, name: str) -> None:
        _need("ssh-keygen")
        self.file = folder / name
        ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", self.file, cwd=folder)
        self.public = " ".join((folder / f"{name}.pub").read_text().split()[:2])

    def allowed(self, principal: str = "ada@example.org", options: str = "") -> str:
        """The line of an allowed-signers file that trusts it."""
        return " ".join(filter(None, (principal, options, self.public))) + "\n"

    def settings(self) -> list[str]:
        """Options that make git sign with it."""
        return ["-c", "gpg.format=ssh", "-c", f"user.signingKey={self.file}"]


class Gpg:
    """A GnuPG home with secret keys, and a clock that is set."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(mode=0o700)

    def run(self, *arguments: str, at: str = "", given: bytes = b"") -> bytes:
        """Run gpg.

        Args:
            arguments: of gpg.
            at: the time that it takes for now, such as `20200101T000000`; really now when it is empty.
            given: standard input.
        """
        faked = ["--faked-system-time", f"{at}!"] if at else []
        command = ["gpg", "--batch", "--quiet", "--no-tty", "--pinentry-mode", "loopback", "--passphrase", ""]
        return ran(*command, *faked, *arguments, cwd=self.home.parent, given=given, GNUPGHOME=str(self.home))

    def key(self, name: str, *, at: str = "", expires: str = "never") -> str:
        """A new signing key; returns its fingerprint."""
        self.run("--quick-generate-key", f"{name} <{name}@example.org>", "ed25519", "sign", expires, at=at)
        listing = self.run("--with-colons", "--list-keys", f"{name}@example.org").decode()
        return next(line.split(":")[9] for line in listing.splitlines() if line.startswith("fpr"))

    def public(self, fingerprint: str) -> bytes:
        """A public key, armoured."""
        return self.run("--armor", "--export", fingerprint)

    def revocation(self, fingerprint: str) -> bytes:
        """The certificate that GnuPG made together with a key, with the safety colon taken out."""
        text = (self.home / "openpgp-revocs.d" / f"{fingerprint}.rev").read_text()
        return text.replace(":-----BEGIN", "-----BEGIN").encode()

    def program(self, at: str, *more: str) -> Path:
        """A gpg for git to sign with, at a time in the past."""
        script = self.home / f"gpg-{at}"
        options = ["--batch", "--pinentry-mode", "loopback", "--passphrase", "''", *more]
        faked = ["--faked-system-time", f"{at}!"] if at else []
        script.write_text(f'#!/bin/sh\nexec gpg {" ".join([*options, *faked])} "$@"\n')
        script.chmod(0o755)
        return script

    def settings(self, fingerprint: str, *, at: str = "", more: tuple[str, ...] = ()) -> list[str]:
        """Options that make git sign with a key."""
        return ["-c", f"user.signingKey={fingerprint}", "-c", f"gpg.program={self.program(at, *more)}"]


@contextmanager
def gpg_home(folder: Path) -> Iterator[Gpg]:
    """A GnuPG home whose agent ends with it; its path is short, as its sockets' names must be."""
    _need("gpg")
    gpg = Gpg(folder / "g")
    try:
        yield gpg
    finally:
        ran("gpgconf", "--homedir", str(gpg.home), "--kill", "all", cwd=folder)


class SignedRepository:
    """A repository to which signed and unsigned commits and tags are added."""

    def __init__(self, path: Path, gpg: Gpg | None = None) -> None:
        self.path = path
        self._gpg = gpg
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments: str, **variables: str) -> str:
        """What git prints."""
        home = {"GNUPGHOME": str(self._gpg.home)} if self._gpg else {}
        return ran("git", *arguments, cwd=self.path, given=b"", **home, **variables).decode().strip()

    def commit(self, settings: list[str] | None, content: str = "1", **variables: str) -> str:
        """A commit, signed where there are settings to sign with; returns its id."""
        (self.path / "a.yaml").write_text(content)
        self.git("add", "--all")
        sign = ["--gpg-sign"] if settings else ["--no-gpg-sign"]
        message = ("--quiet", "--allow-empty", "--message", "change")
        self.git(*(settings or []), "commit", *sign, *message, **variables)
        return self.git("rev-parse", "HEAD")

    def raw(self, kind: str, content: bytes) -> str:
        """An object with this content; returns its id."""
        command = ("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
        return ran(*command, cwd=self.path, given=content).decode().strip()

    def content(self, found: str) -> bytes:
        """An object as it is stored."""
        kind = self.git("cat-file", "-t", found)
        return ran("git", "cat-file", kind, found, cwd=self.path)
