"""Whose signature a commit must carry before anything of it is read.

Git itself verifies (`git verify-commit`, `git verify-tag`), with settings, keys and programs that are given here. The
repository's configuration and the user's have no say, nor has the user's keyring.

A commit's signature covers its id, and with it every file; it says nothing about its parents, which are not looked at.
A merge is the commit of whoever merged. That the commit is the newest one is not proven either: an older one that was
signed is signed for good.
"""

from __future__ import annotations

import logging
import os
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gitops.errors import SourceError, Untrusted
from gitops.source.git import environment
from gitops.source.openpgp import Keyring, openpgp_finding
from gitops.source.process import Done, GitFailed, found, git, run
from gitops.source.signature import Finding, Form, Signed, form_of, signature_of, signed_by
from gitops.source.ssh_signature import ssh_finding

_LOG = logging.getLogger(__name__)
_PATIENCE = timedelta(minutes=1)
_ADVICE = {
    "unsigned": "sign it (`git commit -S`, `git tag -s`), or let a trusted person merge it",
    "x509-signature": "sign with an OpenPGP or an ssh key",
    "unknown-key": "if the signer is trusted, add the key to --trusted-keys or --allowed-signers",
    "expired-key": "have it signed anew with a key that is valid today",
    "revoked-key": "have it signed anew with a key that is trusted",
    "expired-signature": "have it signed anew",
    "not-yet-valid-key": "have it signed with a key that is valid today",
    "wrong-namespace": 'the line in --allowed-signers is for other signatures: it lacks namespaces="git"',
    "several-signatures": "sign it once",
    "bad-signature": "it was changed after it was signed, or never was: find out by whom",
}

_NEVER = {
    Form.NONE: Finding("unsigned", "carries no signature"),
    Form.SEVERAL: Finding("several-signatures", "carries more than one signature, and which one counts is unclear"),
    Form.X509: Finding("x509-signature", "is signed with an X.509 certificate, and no authorities for those are known"),
}


@dataclass(frozen=True)
class Trust:
    """What is required of the commit that is read, and whose keys count."""

    signed: frozenset[Signed]
    """What must be signed; both is possible."""
    allowed_signers: Path | None = None
    """Ssh keys, in the format of ssh-keygen(1) ALLOWED SIGNERS."""
    revoked_signers: Path | None = None
    """Ssh keys that do not count any more: a key revocation list, or public keys, one a line."""
    trusted_keys: tuple[Path, ...] = ()
    """OpenPGP public keys, armoured or binary."""


@dataclass(frozen=True)
class Tag:
    """An annotated tag by its exact name, and the object that it was when it was looked up."""

    name: str
    object: str


def require_signed(git_dir: Path, trust: Trust, *, commit: str, tag: Tag | None, shown: str) -> None:
    """Let nothing pass that does not carry a good signature by a trusted key.

    Args:
        git_dir: the repository.
        trust: what is required.
        commit: the id that will be read.
        tag: what `--revision` names, where a signed tag is required.
        shown: the repository as messages call it.

    Raises:
        Untrusted: it does not; the message names the commit, the signer, the rule and what to do.
        SourceError: keys cannot be read, or gpg or ssh-keygen is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="shoot-gitops-trust-") as folder:
        judge = _Judge(git_dir, trust, Path(folder), shown)
        if Signed.TAG in trust.signed and tag is not None:
            judge.require_tag(tag)
        if Signed.COMMIT in trust.signed:
            judge.require(Signed.COMMIT, commit, f"commit {commit[:12]}")


class _Judge:
    """Verifies objects of one repository; keys are copied first, so that all of it sees the same ones."""

    def __init__(self, git_dir: Path, trust: Trust, folder: Path, shown: str) -> None:
        self._shown = shown
        self._folder = folder
        self._trust = trust
        self._keyring = Keyring(folder / "gnupg", trust.trusted_keys) if trust.trusted_keys else None
        self._allowed = _copied(trust.allowed_signers, folder / "allowed_signers", "--allowed-signers")
        self._revoked = _copied(trust.revoked_signers, folder / "revoked_signers", "--revoked-signers")
        self._nobody = _copied(None, folder / "nobody", "")
        self._variables = {
            # The zone is that of dates in allowed signers, where they do not end in Z.
            **{name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ},
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "GNUPGHOME": str(folder / "gnupg"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_DIR": str(git_dir.resolve()),
        }

    def require_tag(self, tag: Tag) -> None:
        """A tag's name is not its object's name by itself: a signed tag can be pushed under any other."""
        what = f"tag {tag.name}"
        if self._git("cat-file", "-t", tag.object).strip() != b"tag":
            message = "is not an annotated tag, so nobody signed it"
            raise self._refusal(what, Finding("not-a-signed-tag", message), "make it with `git tag -s`")
        self.require(Signed.TAG, tag.object, what)
        raw = self._git("cat-file", "tag", tag.object)
        named = next(line[4:] for line in raw.splitlines() if line.startswith(b"tag ")).decode(errors="replace")
        if named != tag.name:
            finding = Finding("tag-name", f"was signed as tag {named}, and put under another name afterwards")
            raise self._refusal(what, finding, "name the tag that was signed")

    def require(self, kind: Signed, found_object: str, what: str) -> None:
        raw = self._git("cat-file", kind.value, found_object)
        finding = self._finding(kind, found_object, raw)
        if finding.rule:
            raise self._refusal(what, finding, _ADVICE[finding.rule])
        _LOG.info("%s: %s is signed by %s", self._shown, what, finding.signer)

    def _finding(self, kind: Signed, found_object: str, raw: bytes) -> Finding:
        form = form_of(signature_of(kind, raw))
        if form in _NEVER:
            return _NEVER[form]
        if form is Form.OPENPGP:
            if self._keyring is None:
                return Finding("unknown-key", "is signed with an OpenPGP key, and no --trusted-keys are given")
            return openpgp_finding(self._verified(kind, found_object, self._revoked), self._keyring.fingerprints)
        if self._trust.allowed_signers is None:
            return Finding("unknown-key", "is signed with an ssh key, and no --allowed-signers are given")
        return self._ssh_finding(kind, found_object, raw)

    def _ssh_finding(self, kind: Signed, found_object: str, raw: bytes) -> Finding:
        verified = self._verified(kind, found_object, self._revoked)
        unrevoked = verified if verified[0] == 0 else self._verified(kind, found_object, self._nobody)
        return ssh_finding(verified, unrevoked, lambda principal: self._today(kind, raw, principal))

    def _today(self, kind: Signed, raw: bytes, principal: str) -> Done:
        """Git takes the commit's own word for when it was made; whoever holds an expired key could write any date.

        All else is verified again with today's date: a line of allowed signers that is still valid may be for another
        purpose than git, and must not stand in for the one that has expired.
        """
        file = self._folder / "signature"
        file.write_bytes(signature_of(kind, raw))
        asking = ["ssh-keygen", "-Y", "verify", "-n", "git", "-I", principal, "-s", str(file)]
        asking += ["-f", str(self._allowed), "-r", str(self._revoked)]
        return run(asking, environment=self._variables, patience=_PATIENCE, given=signed_by(kind, raw))

    def _verified(self, kind: Signed, found_object: str, revoked: Path) -> tuple[int, str]:
        settings = {
            "gpg.minTrustLevel": "undefined",
            "gpg.ssh.allowedSignersFile": str(self._allowed),
            "gpg.ssh.revocationFile": str(revoked),
            "gpg.ssh.program": found("ssh-keygen") if self._trust.allowed_signers else "false",
            "gpg.x509.program": "false",
        }
        program = found("gpg") if self._trust.trusted_keys else "false"
        settings["gpg.program"] = program  # gpg.openpgp.program is another name for it; what comes last counts
        command = ["git", f"verify-{kind.value}", "--raw", found_object]
        variables = self._variables | environment(config=settings)
        done = run(command, environment=variables, patience=_PATIENCE)
        return done.code, done.errors

    def _git(self, *arguments: str) -> bytes:
        try:
            return git(arguments, environment=self._variables | environment(), patience=_PATIENCE)
        except GitFailed as failure:
            raise SourceError(f"cannot read what is to be verified in {self._shown}: {failure.reason}") from failure

    def _refusal(self, what: str, finding: Finding, advice: str) -> Untrusted:
        message = f"{what} {finding.message}, and a signature is required; {advice} ({self._shown})"
        return Untrusted(message, rule=finding.rule, signer=finding.signer)


def _copied(file: Path | None, copy: Path, option: str) -> Path:
    """A copy that nobody changes meanwhile; an empty file where there is none."""
    try:
        copy.write_bytes(file.read_bytes() if file is not None else b"")
    except OSError as error:
        raise SourceError(f"cannot read {option} {file}: {error.strerror}") from error
    return copy
