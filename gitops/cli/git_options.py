"""Options about git itself: who must have signed, and how a remote repository is reached."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from gitops.source.access import Access
from gitops.source.signature import Signed
from gitops.source.trust import Trust

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(dir_okay=False, path_type=Path)
GIT_OPTIONS = (
    click.option("--require-signed", is_flag=True, help="Read a commit only with a good signature by a trusted key."),
    click.option(
        "--require-signed-tag",
        is_flag=True,
        help="Read only what a signed tag, named by --revision, stands for.",
    ),
    click.option("--allowed-signers", type=_FILE, metavar="FILE", help="Trusted ssh keys; see ssh-keygen(1)."),
    click.option("--revoked-signers", type=_FILE, metavar="FILE", help="Ssh keys that are trusted no longer."),
    click.option(
        "--trusted-keys",
        type=_FILE,
        multiple=True,
        metavar="FILE",
        help="Trusted OpenPGP public keys; repeatable.",
    ),
    click.option(
        "--git-credentials",
        type=_FILE,
        metavar="FILE",
        envvar="GITOPS_GIT_CREDENTIALS",
        help="For https, as of `git credential-store`. Or, in the environment: GITOPS_GIT_USERNAME, and "
        "GITOPS_GIT_PASSWORD_FILE or GITOPS_GIT_PASSWORD.",
    ),
    click.option(
        "--git-ca-file",
        type=_FILE,
        metavar="FILE",
        envvar="GITOPS_GIT_CA_FILE",
        help="Who vouches for the git server.",
    ),
    click.option("--ssh-key", type=_FILE, metavar="FILE", envvar="GITOPS_SSH_KEY", help="The only key shown over ssh."),
    click.option(
        "--ssh-known-hosts",
        type=_FILE,
        metavar="FILE",
        envvar="GITOPS_SSH_KNOWN_HOSTS",
        help="The only ssh host keys that are believed.",
    ),
)


def git_settings(function: F) -> F:
    """What GIT_OPTIONS and `--git-timeout` say, handed over as one `trust`, which may be None, and one `access`."""

    @functools.wraps(function)
    def with_both(
        *,
        require_signed: bool,
        require_signed_tag: bool,
        allowed_signers: Path | None,
        revoked_signers: Path | None,
        trusted_keys: tuple[Path, ...],
        git_credentials: Path | None,
        git_ca_file: Path | None,
        ssh_key: Path | None,
        ssh_known_hosts: Path | None,
        git_timeout: timedelta,
        **others: Any,
    ) -> Any:
        required = {Signed.COMMIT: require_signed, Signed.TAG: require_signed_tag}
        signed = frozenset(kind for kind, wanted in required.items() if wanted)
        access = Access(
            credentials=git_credentials,
            username=os.environ.get("GITOPS_GIT_USERNAME", Access.username),
            # No option: a command line can be read by everybody on the machine.
            password=os.environ.get("GITOPS_GIT_PASSWORD", ""),
            password_file=Path(file) if (file := os.environ.get("GITOPS_GIT_PASSWORD_FILE")) else None,
            ca_file=git_ca_file,
            ssh_key=ssh_key,
            known_hosts=ssh_known_hosts,
            patience=git_timeout,
        )
        trust = _trust(Trust(signed, allowed_signers, revoked_signers, trusted_keys))
        return function(trust=trust, access=access, **others)

    return cast("F", with_both)


def _trust(given: Trust) -> Trust | None:
    """What is given, if it makes sense: a half-given protection is none, and looks like one."""
    keys = given.allowed_signers is not None or given.trusted_keys
    if given.signed and not keys:
        raise click.UsageError("whose signature? Name --allowed-signers FILE, --trusted-keys FILE, or both.")
    if keys and not given.signed:
        raise click.UsageError("trusted keys protect only together with --require-signed or --require-signed-tag")
    if given.revoked_signers is not None and given.allowed_signers is None:
        raise click.UsageError("--revoked-signers goes with --allowed-signers")
    return given if given.signed else None
