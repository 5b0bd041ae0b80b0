"""Unsigned, wrongly signed and expired-key commits are refused with --require-signed; by every command that reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from gitops.cli import gitops as command_line
from gitops.cli.hook import hook
from tests.cli.conftest import Run
from tests.end_to_end.repository import Repository
from tests.source.signers import Gpg, SshSigner, gpg_home, ran


@dataclass(frozen=True)
class Signers:
    """Ada is trusted, by an ssh and by an OpenPGP key; Mallory is not; Bob was, by a key that has expired."""

    repository: Path
    gpg: Gpg
    ada: SshSigner
    mallory: SshSigner
    options: tuple[str, ...]
    ada_gpg: str
    bob_gpg: str

    def sign(self, settings: list[str]) -> None:
        """Have the newest commit signed."""
        amend = ("commit", "--quiet", "--amend", "--no-edit", "--gpg-sign")
        ran("git", *settings, *amend, cwd=self.repository, GNUPGHOME=str(self.gpg.home))


@pytest.fixture
def signers(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signers]:
    folder = tmp_path_factory.mktemp("t")
    with gpg_home(folder) as gpg:
        ada, mallory = SshSigner(folder, "ada"), SshSigner(folder, "mallory")
        ada_gpg = gpg.key("ada")
        bob_gpg = gpg.key("bob", at="20200101T000000", expires="20200601T000000")
        (folder / "allowed").write_text(ada.allowed())
        (folder / "ada.asc").write_bytes(gpg.public(ada_gpg))
        (folder / "bob.asc").write_bytes(gpg.public(bob_gpg))
        trusted = [word for name in ("ada", "bob") for word in ("--trusted-keys", str(folder / f"{name}.asc"))]
        options = ("--require-signed", "--allowed-signers", str(folder / "allowed"), *trusted)
        yield Signers(repository.path, gpg, ada, mallory, options, ada_gpg, bob_gpg)


RUN = ("reconcile", "--sandbox", "--time-scale", "100000")
READING = (
    ("validate",),
    ("render", "dev"),
    ("plan", "--sandbox"),
    ("diff", "--sandbox"),
    ("status", "--sandbox"),
    ("history",),
    RUN,
    ("explain", "--sandbox", "one"),
    ("image-vector", "check"),
)


def unsigned(signers: Signers) -> str:
    del signers
    return "carries no signature"


def wrongly_signed(signers: Signers) -> str:
    signers.sign(signers.mallory.settings())
    return "which is nobody's in --allowed-signers"


def signed_with_an_expired_key(signers: Signers) -> str:
    signers.sign(signers.gpg.settings(signers.bob_gpg, at="20200201T000000"))
    return f"bob <bob@example.org> ({signers.bob_gpg}), whose key has expired"


@pytest.mark.parametrize(
    ("case", "arguments"),
    [
        *((unsigned, arguments) for arguments in READING),
        *((case, RUN) for case in (wrongly_signed, signed_with_an_expired_key)),
    ],
)
def test_a_commit_that_is_not_well_signed_is_refused(
    gitops: Run, signers: Signers, case: Callable[[Signers], str], arguments: tuple[str, ...]
) -> None:
    says = case(signers)

    done = gitops(*arguments, *signers.options)

    assert done.returncode == (2 if arguments[0] == "diff" else 1)
    assert done.stdout == ""
    assert says in done.stderr
    assert "and a signature is required; " in done.stderr


@pytest.mark.parametrize("way", ["ssh", "openpgp"])
def test_a_well_signed_commit_is_rolled_out(gitops: Run, signers: Signers, way: str) -> None:
    signers.sign(signers.ada.settings() if way == "ssh" else signers.gpg.settings(signers.ada_gpg))

    assert gitops("validate", *signers.options).returncode == 0
    done = gitops(*RUN, *signers.options)

    assert done.returncode == 0, done.stderr
    assert "Converged: dev at " in done.stdout


def test_a_mirrored_commit_must_be_signed_too(gitops: Run, signers: Signers) -> None:
    url = ("--repo", signers.repository.as_uri())
    assert "carries no signature" in gitops("validate", *url, *signers.options).stderr
    signers.sign(signers.ada.settings())

    assert gitops("validate", *url, *signers.options).returncode == 0


def test_a_signed_tag_is_enough_where_tags_are_required(gitops: Run, signers: Signers) -> None:
    allowed = signers.options[1:3]
    ran("git", *signers.ada.settings(), "tag", "--sign", "--message", "one", "v1", cwd=signers.repository)
    url = ("--repo", signers.repository.as_uri())

    for place in ((), url):
        good = gitops("validate", "--require-signed-tag", *allowed, "--revision", "v1", *place)
        assert good.returncode == 0, good.stderr
        bad = gitops("validate", "--require-signed-tag", *allowed, "--revision", "main", *place)
        assert bad.returncode == 1
        assert "main" in bad.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--require-signed",), "whose signature?"),
        (("--require-signed-tag",), "whose signature?"),
        (("--allowed-signers", "x"), "protect only together with --require-signed"),
        (("--trusted-keys", "x"), "protect only together with --require-signed"),
        (("--require-signed", "--trusted-keys", "x", "--revoked-signers", "x"), "goes with --allowed-signers"),
        (("--require-signed", "--trusted-keys", "x", "--worktree"), "nobody signs a working tree"),
        (("--git-timeout", "soon"), "is not a duration"),
    ],
)
def test_half_a_protection_is_wrong_usage(gitops: Run, arguments: tuple[str, ...], says: str) -> None:
    done = gitops("validate", *arguments)

    assert done.returncode == 64
    assert says in " ".join(done.stderr.split())


def test_it_can_be_required_by_the_environment(gitops: Run, signers: Signers) -> None:
    done = gitops("plan", GITOPS_PLAN_REQUIRE_SIGNED="1", GITOPS_PLAN_ALLOWED_SIGNERS=signers.options[2])

    assert done.returncode == 1
    assert "carries no signature" in done.stderr


def test_many_keys_can_be_named_in_the_environment(gitops: Run, signers: Signers) -> None:
    signers.sign(signers.gpg.settings(signers.ada_gpg))
    keys = os.pathsep.join([signers.options[6], signers.options[4]])

    done = gitops("validate", GITOPS_VALIDATE_REQUIRE_SIGNED="1", GITOPS_VALIDATE_TRUSTED_KEYS=keys)

    assert done.returncode == 0, done.stderr


def commands(group: click.Group) -> Iterator[click.Command]:
    for command in group.commands.values():
        yield from commands(command) if isinstance(command, click.Group) else (command,)


def test_every_command_that_reads_a_commit_can_require_a_signature() -> None:
    by_reconcile = set(commands(hook))  # as its own variables, GITOPS_RECONCILE_REQUIRE_SIGNED and others, have it
    for command in set(commands(command_line)) - by_reconcile:
        names = {option for parameter in command.params for option in parameter.opts}
        assert ("--revision" in names) == ("--require-signed" in names) == ("--git-credentials" in names), command.name
