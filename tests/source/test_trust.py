"""Which commits and tags are read when a signature is required: real keys, real git."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gitops.errors import SourceError, Untrusted
from gitops.source.repository import open_artifact
from gitops.source.signature import Signed
from gitops.source.trust import Trust
from tests.source.signers import Gpg, SignedRepository, SshSigner, gpg_home, ran
from tests.waiting import PATIENCE

COMMIT = frozenset({Signed.COMMIT})
TAG = frozenset({Signed.TAG})
LONG_AGO = "20200101T000000"


@dataclass
class Bench:
    """Everything a case needs."""

    folder: Path
    gpg: Gpg
    repository: SignedRepository
    ssh: SshSigner
    stranger: SshSigner

    def signers(self, text: str, name: str = "allowed") -> Trust:
        file = self.folder / name
        file.write_text(text)
        return Trust(COMMIT, allowed_signers=file)

    def keys(self, *keys: bytes) -> Trust:
        files = [self.folder / f"key-{number}" for number in range(len(keys))]
        for file, key in zip(files, keys, strict=True):
            file.write_bytes(key)
        return Trust(COMMIT, trusted_keys=tuple(files))

    def read(self, trust: Trust, revision: str = "HEAD") -> str:
        with open_artifact(str(self.repository.path), revision, cache=self.folder, trust=trust) as artifact:
            assert artifact.read("a.yaml")
            return artifact.revision

    def refusal(self, trust: Trust, revision: str = "HEAD") -> Untrusted:
        with pytest.raises(Untrusted) as refused:
            self.read(trust, revision)
        return refused.value


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("t")
    with gpg_home(folder) as gpg:
        repository = SignedRepository(folder / "repository", gpg)
        yield Bench(folder, gpg, repository, SshSigner(folder, "ada"), SshSigner(folder, "mallory"))


Case = Callable[[Bench], Trust]


def ssh_key(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.ssh.allowed())


def ssh_key_among_others(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.stranger.allowed("eve@example.org") + bench.ssh.allowed("a@b,c@d", 'namespaces="git"'))


def ssh_key_in_its_time(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.ssh.allowed(options='valid-after="20200101",valid-before="29990101"'))


def openpgp_key(bench: Bench) -> Trust:
    key = bench.gpg.key("ada")
    bench.repository.commit(bench.gpg.settings(key))
    return bench.keys(bench.gpg.public(key))


def openpgp_key_in_binary_form(bench: Bench) -> Trust:
    key = bench.gpg.key("ada")
    bench.repository.commit(bench.gpg.settings(key))
    return bench.keys(bench.gpg.run("--export", key))


def openpgp_key_among_others(bench: Bench) -> Trust:
    key, other = bench.gpg.key("ada"), bench.gpg.key("eve")
    bench.repository.commit(bench.gpg.settings(key))
    return bench.keys(bench.gpg.public(other), bench.gpg.public(key))


def ssh_or_openpgp(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    both = bench.keys(bench.gpg.public(bench.gpg.key("ada")))
    return replace(both, allowed_signers=bench.signers(bench.ssh.allowed()).allowed_signers)


def merge_of_unsigned_work(bench: Bench) -> Trust:
    """Whoever merges answers for what the merge holds; parents are not looked at."""
    bench.repository.commit(None)
    bench.repository.git("switch", "--quiet", "--create", "work")
    bench.repository.commit(None, "2")
    bench.repository.git("switch", "--quiet", "main")
    sign = [*bench.ssh.settings(), "merge", "--quiet", "--no-ff", "--gpg-sign", "work"]
    bench.repository.git(*sign)
    return bench.signers(bench.ssh.allowed())


def key_that_is_not_on_the_revocation_list(bench: Bench) -> Trust:
    revoked = bench.folder / "revoked"
    revoked.write_text(bench.stranger.public + "\n")
    return replace(ssh_key(bench), revoked_signers=revoked)


ACCEPTED: list[Case] = [
    ssh_key,
    ssh_key_among_others,
    ssh_key_in_its_time,
    key_that_is_not_on_the_revocation_list,
    openpgp_key,
    openpgp_key_in_binary_form,
    openpgp_key_among_others,
    ssh_or_openpgp,
    merge_of_unsigned_work,
]


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_good_signature_by_a_trusted_key_is_accepted(bench: Bench, case: Case) -> None:
    trust = case(bench)

    assert bench.read(trust) == bench.repository.git("rev-parse", "HEAD")


def unsigned(bench: Bench) -> Trust:
    bench.repository.commit(None)
    return bench.signers(bench.ssh.allowed())


def unsigned_on_top_of_signed(bench: Bench) -> Trust:
    trust = ssh_key(bench)
    bench.repository.commit(None, "2")
    return trust


def unsigned_merge_of_signed_work(bench: Bench) -> Trust:
    trust = ssh_key(bench)
    bench.repository.git("switch", "--quiet", "--create", "work")
    bench.repository.commit(bench.ssh.settings(), "2")
    bench.repository.git("switch", "--quiet", "main")
    bench.repository.git("merge", "--quiet", "--no-ff", "--no-gpg-sign", "work")
    return trust


def stranger_s_ssh_key(bench: Bench) -> Trust:
    bench.repository.commit(bench.stranger.settings())
    return bench.signers(bench.ssh.allowed())


def nobody_is_allowed(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers("# nobody yet\n")


def ssh_key_for_files_only(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.ssh.allowed(options='namespaces="file"'))


def expired_ssh_key(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.ssh.allowed(options='valid-before="20200101"'))


def expired_ssh_key_and_a_commit_that_claims_to_be_older(bench: Bench) -> Trust:
    dates = {"GIT_COMMITTER_DATE": "2019-06-01T12:00:00Z", "GIT_AUTHOR_DATE": "2019-06-01T12:00:00Z"}
    bench.repository.commit(bench.ssh.settings(), **dates)
    return bench.signers(bench.ssh.allowed(options='valid-before="20200101"'))


def ssh_key_that_has_expired_for_git_and_not_for_files(bench: Bench) -> Trust:
    trust = expired_ssh_key_and_a_commit_that_claims_to_be_older(bench)
    for_git = bench.ssh.allowed(options='namespaces="git",valid-before="20200101"')
    assert trust.allowed_signers is not None
    trust.allowed_signers.write_text(for_git + bench.ssh.allowed(options='namespaces="file"'))
    return trust


def ssh_key_that_is_not_valid_yet(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.signers(bench.ssh.allowed(options='valid-after="29990101"'))


def ssh_key_that_is_not_valid_yet_and_a_commit_from_the_future(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings(), GIT_COMMITTER_DATE="2099-06-01T12:00:00Z")
    return bench.signers(bench.ssh.allowed(options='valid-after="20980101"'))


def revoked_ssh_key(bench: Bench) -> Trust:
    revoked = bench.folder / "revoked"
    revoked.write_text(bench.ssh.public + "\n")
    return replace(ssh_key(bench), revoked_signers=revoked)


def ssh_key_on_a_binary_revocation_list(bench: Bench) -> Trust:
    revoked = bench.folder / "revoked.krl"
    ran("ssh-keygen", "-q", "-k", "-f", revoked, f"{bench.ssh.file}.pub", cwd=bench.folder)
    return replace(ssh_key(bench), revoked_signers=revoked)


def changed_after_it_was_signed_with_ssh(bench: Bench) -> Trust:
    return changed(bench, ssh_key(bench))


def changed_after_it_was_signed_with_openpgp(bench: Bench) -> Trust:
    return changed(bench, openpgp_key(bench))


def changed(bench: Bench, trust: Trust) -> Trust:
    content = bench.repository.content("HEAD").replace(b"\nchange\n", b"\nchanged\n")
    bench.repository.git("reset", "--quiet", "--soft", bench.repository.raw("commit", content))
    return trust


def other_files_under_a_signed_commit(bench: Bench) -> Trust:
    trust = ssh_key(bench)
    old = bench.repository.git("rev-parse", "HEAD^{tree}").encode()
    signed = bench.repository.content("HEAD")
    bench.repository.commit(None, "evil")
    new = bench.repository.git("rev-parse", "HEAD^{tree}").encode()
    forged = bench.repository.raw("commit", signed.replace(old, new))
    bench.repository.git("reset", "--quiet", "--soft", forged)
    return trust


def two_signatures(bench: Bench) -> Trust:
    """Which of them git looks at must not be a riddle."""
    trust = ssh_key(bench)
    content = bench.repository.content("HEAD")
    start = content.index(b"gpgsig ")
    header = content[start : content.index(b"\n\n")] + b"\n"
    doubled = content[:start] + header + content[start:]
    bench.repository.git("reset", "--quiet", "--soft", bench.repository.raw("commit", doubled))
    return trust


def x509(bench: Bench) -> Trust:
    trust = ssh_key(bench)
    content = bench.repository.content("HEAD").replace(b"SSH SIGNATURE", b"SIGNED MESSAGE")
    bench.repository.git("reset", "--quiet", "--soft", bench.repository.raw("commit", content))
    return trust


def garbage_for_a_signature(bench: Bench) -> Trust:
    trust = ssh_key(bench)
    content = bench.repository.content("HEAD").replace(b"-----BEGIN SSH SIGNATURE-----", b"trust me")
    bench.repository.git("reset", "--quiet", "--soft", bench.repository.raw("commit", content))
    return trust


def stranger_s_openpgp_key(bench: Bench) -> Trust:
    key, other = bench.gpg.key("ada"), bench.gpg.key("mallory")
    bench.repository.commit(bench.gpg.settings(other))
    return bench.keys(bench.gpg.public(key))


def expired_openpgp_key(bench: Bench) -> Trust:
    key = bench.gpg.key("ada", at=LONG_AGO, expires="20200601T000000")
    bench.repository.commit(bench.gpg.settings(key, at="20200201T000000"))
    return bench.keys(bench.gpg.public(key))


def revoked_openpgp_key(bench: Bench) -> Trust:
    key = bench.gpg.key("ada")
    bench.repository.commit(bench.gpg.settings(key))
    return bench.keys(bench.gpg.revocation(key), bench.gpg.public(key))


def openpgp_key_whose_owner_revoked_it(bench: Bench) -> Trust:
    key = bench.gpg.key("ada")
    bench.repository.commit(bench.gpg.settings(key))
    bench.gpg.run("--import", given=bench.gpg.revocation(key))
    return bench.keys(bench.gpg.public(key))


def expired_subkey(bench: Bench) -> Trust:
    key = bench.gpg.key("ada", at=LONG_AGO)
    bench.gpg.run("--quick-add-key", key, "ed25519", "sign", "20200601T000000", at=LONG_AGO)
    bench.repository.commit(bench.gpg.settings(key, at="20200201T000000"))
    return bench.keys(bench.gpg.public(key))


def expired_openpgp_signature(bench: Bench) -> Trust:
    key = bench.gpg.key("ada", at=LONG_AGO)
    expiring = ("--default-sig-expire", "20200301T000000")
    bench.repository.commit(bench.gpg.settings(key, at="20200201T000000", more=expiring))
    return bench.keys(bench.gpg.public(key))


def ssh_signature_where_only_openpgp_is_trusted(bench: Bench) -> Trust:
    bench.repository.commit(bench.ssh.settings())
    return bench.keys(bench.gpg.public(bench.gpg.key("ada")))


def openpgp_signature_where_only_ssh_is_trusted(bench: Bench) -> Trust:
    bench.repository.commit(bench.gpg.settings(bench.gpg.key("ada")))
    return bench.signers(bench.ssh.allowed())


REFUSED: list[tuple[Case, str]] = [
    (unsigned, "unsigned"),
    (unsigned_on_top_of_signed, "unsigned"),
    (unsigned_merge_of_signed_work, "unsigned"),
    (stranger_s_ssh_key, "unknown-key"),
    (nobody_is_allowed, "unknown-key"),
    (ssh_key_for_files_only, "wrong-namespace"),
    (expired_ssh_key, "expired-key"),
    (expired_ssh_key_and_a_commit_that_claims_to_be_older, "expired-key"),
    (ssh_key_that_has_expired_for_git_and_not_for_files, "expired-key"),
    (ssh_key_that_is_not_valid_yet, "not-yet-valid-key"),
    (ssh_key_that_is_not_valid_yet_and_a_commit_from_the_future, "not-yet-valid-key"),
    (revoked_ssh_key, "revoked-key"),
    (ssh_key_on_a_binary_revocation_list, "revoked-key"),
    (changed_after_it_was_signed_with_ssh, "bad-signature"),
    (changed_after_it_was_signed_with_openpgp, "bad-signature"),
    (other_files_under_a_signed_commit, "bad-signature"),
    (two_signatures, "several-signatures"),
    (x509, "x509-signature"),
    (garbage_for_a_signature, "several-signatures"),
    (stranger_s_openpgp_key, "unknown-key"),
    (expired_openpgp_key, "expired-key"),
    (revoked_openpgp_key, "revoked-key"),
    (openpgp_key_whose_owner_revoked_it, "revoked-key"),
    (expired_subkey, "expired-key"),
    (expired_openpgp_signature, "expired-signature"),
    (ssh_signature_where_only_openpgp_is_trusted, "unknown-key"),
    (openpgp_signature_where_only_ssh_is_trusted, "unknown-key"),
]


@pytest.mark.parametrize(("case", "rule"), REFUSED)
def test_everything_else_is_refused_and_told_why(bench: Bench, case: Case, rule: str) -> None:
    trust = case(bench)

    refused = bench.refusal(trust)

    assert refused.rule == rule, refused
    assert f"commit {bench.repository.git('rev-parse', 'HEAD')[:12]} " in str(refused)


def test_a_refusal_names_the_signer_and_what_to_do(bench: Bench) -> None:
    fingerprint = ran("ssh-keygen", "-l", "-f", bench.stranger.file, cwd=bench.folder).decode().split()[1]
    refused = bench.refusal(stranger_s_ssh_key(bench))
    assert refused.signer == fingerprint
    assert "add the key to --trusted-keys or --allowed-signers" in str(refused)
    key = bench.gpg.key("ada", at=LONG_AGO, expires="20200601T000000")
    bench.repository.commit(bench.gpg.settings(key, at="20200201T000000"))

    refused = bench.refusal(bench.keys(bench.gpg.public(key)))

    assert refused.signer == f"ada <ada@example.org> ({key})"
    assert "sign" in str(refused).split(";")[1]


def tagged(bench: Bench, *arguments: str) -> Trust:
    """Of tags only the tag is verified, so the commit need not be signed."""
    bench.repository.commit(None)
    bench.repository.git(*bench.ssh.settings(), "tag", *arguments)
    return replace(bench.signers(bench.ssh.allowed()), signed=TAG)


@pytest.mark.parametrize("revision", ["v1", "refs/tags/v1"])
def test_a_signed_tag_stands_for_its_commit(bench: Bench, revision: str) -> None:
    trust = tagged(bench, "--sign", "--message", "one", "v1")
    expected = bench.repository.git("rev-parse", "HEAD")
    bench.repository.commit(None, "2")

    assert bench.read(trust, revision) == expected


def test_a_tag_signed_with_openpgp_stands_for_its_commit(bench: Bench) -> None:
    key = bench.gpg.key("ada")
    expected = bench.repository.commit(None)
    bench.repository.git(*bench.gpg.settings(key), "tag", "--sign", "--message", "one", "v1")

    assert bench.read(replace(bench.keys(bench.gpg.public(key)), signed=TAG), "v1") == expected


@pytest.mark.parametrize(
    ("arguments", "revision", "rule"),
    [
        (("--annotate", "--message", "one", "v1"), "v1", "unsigned"),
        (("v1",), "v1", "not-a-signed-tag"),
        (("--sign", "--message", "one", "v1"), "HEAD", "not-a-signed-tag"),
        (("--sign", "--message", "one", "v1"), "main", "not-a-signed-tag"),
        (("--sign", "--message", "one", "v1"), "v1~0", "not-a-signed-tag"),
        (("--sign", "--message", "one", "v1"), "v2", "not-a-signed-tag"),
    ],
    ids=["annotated only", "lightweight", "HEAD", "branch", "expression", "unknown"],
)
def test_what_is_no_signed_tag_is_refused(bench: Bench, arguments: tuple[str, ...], revision: str, rule: str) -> None:
    trust = tagged(bench, *arguments)

    assert bench.refusal(trust, revision).rule == rule


def test_a_signed_tag_that_was_put_under_another_name_is_refused(bench: Bench) -> None:
    """Else whoever may push could have an old release taken for a new one."""
    trust = tagged(bench, "--sign", "--message", "one", "v1")
    bench.repository.git("update-ref", "refs/tags/v2", bench.repository.git("rev-parse", "v1"))

    refused = bench.refusal(trust, "v2")

    assert refused.rule == "tag-name"
    assert "was signed as tag v1" in str(refused)


def test_a_tag_by_a_stranger_is_refused(bench: Bench) -> None:
    bench.repository.commit(bench.ssh.settings())
    bench.repository.git(*bench.stranger.settings(), "tag", "--sign", "--message", "one", "v1")
    trust = replace(bench.signers(bench.ssh.allowed()), signed=TAG)

    assert bench.refusal(trust, "v1").rule == "unknown-key"


def test_both_may_be_required(bench: Bench) -> None:
    trust = replace(tagged(bench, "--sign", "--message", "one", "v1"), signed=COMMIT | TAG)
    assert bench.refusal(trust, "v1").rule == "unsigned"
    expected = bench.repository.commit(bench.ssh.settings(), "2")
    bench.repository.git(*bench.ssh.settings(), "tag", "--sign", "--message", "two", "v2")

    assert bench.read(trust, "v2") == expected


def test_neither_the_repository_nor_the_user_has_a_say(bench: Bench) -> None:
    """Programs that find everything good, and a keyring that trusts the signer, change nothing."""
    says_good = bench.folder / "says-good"
    said = "[GNUPG:] GOODSIG 0 me\\n[GNUPG:] VALIDSIG 0 0 0 0 0 0 0 0 0 0\\n[GNUPG:] TRUST_ULTIMATE"
    says_good.write_text(f"#!/bin/sh\nprintf '{said}\\nGood \"git\" signature for ada with ED25519 key SHA256:x\\n'\n")
    says_good.chmod(0o755)
    mallory = bench.gpg.key("mallory")
    bench.repository.commit(bench.gpg.settings(mallory))
    trust = bench.keys(bench.gpg.public(bench.gpg.key("ada")))
    for name in ("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"):
        bench.repository.git("config", name, str(says_good))
    assert bench.refusal(trust).rule == "unknown-key"

    bench.repository.commit(["-c", "gpg.ssh.program=ssh-keygen", *bench.stranger.settings()], "2")
    everybody = bench.folder / "everybody"
    everybody.write_text(bench.stranger.allowed("*"))
    bench.repository.git("config", "gpg.ssh.allowedSignersFile", str(everybody))
    assert bench.refusal(bench.signers(bench.ssh.allowed())).rule == "unknown-key"


def test_configuration_cannot_make_a_good_signature_bad_either(bench: Bench) -> None:
    trust = openpgp_key(bench)
    bench.repository.git("config", "gpg.minTrustLevel", "ultimate")
    bench.repository.git("config", "gpg.program", "/nonexistent")

    bench.read(trust)


@pytest.mark.parametrize("place", ["object", "blob", "tree"])
def test_objects_that_are_not_what_their_ids_stand_for_are_refused(bench: Bench, place: str) -> None:
    """The signature covers ids; whoever can write to the object store could put anything under them."""
    trust = ssh_key(bench)
    names = {"object": "HEAD", "blob": "HEAD:a.yaml", "tree": "HEAD^{tree}"}
    signed = bench.repository.git("rev-parse", "HEAD")
    genuine = bench.repository.git("rev-parse", names[place])
    bench.repository.commit(bench.ssh.settings(), "evil")
    objects = bench.repository.path / ".git" / "objects"
    forged = bench.repository.git("rev-parse", names[place])
    target = objects / genuine[:2] / genuine[2:]
    target.chmod(0o644)
    target.write_bytes((objects / forged[:2] / forged[2:]).read_bytes())

    with pytest.raises(SourceError, match=r"damaged|unknown"):
        bench.read(trust, signed)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "holds no OpenPGP public key"), (b"hello", "holds no OpenPGP public key")],
    ids=["empty", "text"],
)
def test_a_file_without_keys_is_an_error(bench: Bench, content: bytes, says: str) -> None:
    bench.repository.commit(None)

    with pytest.raises(SourceError, match=says):
        bench.read(bench.keys(content))


def test_a_private_key_among_the_trusted_ones_is_an_error(bench: Bench) -> None:
    key = bench.gpg.key("ada")
    bench.repository.commit(None)

    with pytest.raises(SourceError, match="holds a private key"):
        bench.read(bench.keys(bench.gpg.run("--armor", "--export-secret-keys", key)))


@pytest.mark.parametrize("option", ["allowed_signers", "revoked_signers", "trusted_keys"])
def test_a_file_that_is_not_there_is_an_error(bench: Bench, option: str) -> None:
    trust = ssh_key(bench)
    nothing = bench.folder / "nothing"
    files = {option: (nothing,) if option == "trusted_keys" else nothing}

    with pytest.raises(SourceError, match=f"cannot read --{option.replace('_', '-')} .*nothing: No such file"):
        bench.read(replace(trust, **files))  # type: ignore[arg-type]


def test_keys_in_the_work_tree_of_the_repository_are_refused(bench: Bench) -> None:
    (bench.repository.path / "allowed").write_text(bench.ssh.allowed())
    bench.repository.commit(bench.ssh.settings())

    refused = bench.refusal(Trust(COMMIT, allowed_signers=bench.repository.path / "allowed"))

    assert refused.rule == "keys-in-repository"


@pytest.mark.parametrize("program", ["gpg", "ssh-keygen"])
def test_a_program_that_is_missing_is_named(bench: Bench, program: str, tmp_path: Path) -> None:
    """In a process of its own, whose PATH leads to git and to nothing else."""
    trust = openpgp_key(bench) if program == "gpg" else ssh_key(bench)
    file = trust.trusted_keys[0] if program == "gpg" else trust.allowed_signers
    option = "--trusted-keys" if program == "gpg" else "--allowed-signers"
    tools = tmp_path / "tools"
    tools.mkdir()
    git = ran("/bin/sh", "-c", "command -v git", cwd=tmp_path).decode().strip()
    (tools / "git").symlink_to(git)

    done = gitops("render", "dev", "--require-signed", option, str(file), cwd=bench.repository.path, PATH=str(tools))

    assert done.returncode == 1
    assert f"{program} is not installed" in done.stderr


def test_nothing_is_left_behind(bench: Bench, tmp_path: Path) -> None:
    """No key, no agent, no folder; neither in the user's home nor among the temporary files."""
    trust = openpgp_key(bench)
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    arguments = ("validate", "--require-signed", "--trusted-keys", str(trust.trusted_keys[0]))

    done = gitops(*arguments, cwd=bench.repository.path, HOME=str(home), TMPDIR=str(temporary))

    assert "no overlays/" in done.stderr, "the commit itself was accepted"
    assert list(home.iterdir()) == []
    assert list(temporary.iterdir()) == []
    lines = [Path(entry, "cmdline") for entry in os.scandir("/proc") if entry.name.isdigit()]
    assert not [line for line in lines if str(temporary).encode() in _bytes(line)]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def test_the_private_keyring_is_nobody_else_s_to_read(bench: Bench, tmp_path: Path) -> None:
    trust = openpgp_key(bench)
    seen = tmp_path / "seen"
    tools = tmp_path / "tools"
    tools.mkdir()
    gpg = ran("/bin/sh", "-c", "command -v gpg", cwd=tmp_path).decode().strip()
    (tools / "gpg").write_text(f'#!/bin/sh\nstat -c %a "$GNUPGHOME" >> {seen}\nexec {gpg} "$@"\n')
    (tools / "gpg").chmod(0o755)
    arguments = ("validate", "--require-signed", "--trusted-keys", str(trust.trusted_keys[0]))

    gitops(*arguments, cwd=bench.repository.path, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")

    assert set(seen.read_text().split()) == {f"{stat.S_IRWXU:o}"}


def gitops(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The console script in a process of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-m", "gitops", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
