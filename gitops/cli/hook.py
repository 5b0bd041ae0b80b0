"""`gitops hook`: a plain git server tells of pushes, without a forge."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import click

from gitops.cli.exits import Exit
from gitops.cli.hook_delivery import deliver, run_here
from gitops.errors import CredentialsError
from gitops.source.git import open_repository
from gitops.source.hook_file import Foreign, install_hook
from gitops.trigger.following import following
from gitops.trigger.post_receive import CHAINED, LOG, MARK, Update, hook_text, read_updates
from gitops.trigger.push import Ignored, Push
from gitops.trigger.secrets_file import read_secrets

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def hook() -> None:
    """Let pushes to a plain git repository start runs."""


def _url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        sound = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise click.BadParameter("it is no http or https address such as https://gitops.example/hooks/generic")
    if "@" in parts.netloc:
        raise click.BadParameter("it holds a user or a password, which the hook and its log would show to others")
    return value


@hook.command()
@click.argument("repo", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("overlays", nargs=-1)
@click.option("--url", callback=_url, metavar="URL", help="Tell the `gitops serve` there: …/hooks/generic.")
@click.option("--secret-file", type=_FILE, metavar="FILE", help="With --url: the file whose first line signs.")
@click.option("--revision", default="HEAD", show_default=True, metavar="REF", help="Without --url: what is followed.")
@click.option("--kubeconfig", type=_FILE, metavar="FILE", help="Without --url: the garden's kubeconfig.")
@click.option("--chain", "foreign", flag_value=Foreign.CHAIN, type=Foreign, help="Keep another's hook; it runs first.")
@click.option("--force", "foreign", flag_value=Foreign.REPLACE, type=Foreign, help="Replace another's hook.")
def install(
    repo: Path,
    overlays: tuple[str, ...],
    url: str | None,
    secret_file: Path | None,
    revision: str,
    kubeconfig: Path | None,
    foreign: Foreign | None,
) -> int:
    """Write the post-receive hook of REPO, bare or not.

    With --url it tells a running `gitops serve`; without, it runs `gitops reconcile` for OVERLAYS on this machine. The
    push neither waits for it nor fails with it: what happens is in shoot-gitops.log of the repository's git folder.
    """
    if (url is None) != (secret_file is None):
        raise click.UsageError("--url and --secret-file go together")
    command = [sys.executable, "-P", "-m", "gitops", "hook", "received"]
    if url is not None and secret_file is not None:
        if overlays or kubeconfig:
            raise click.UsageError("with --url, overlays and kubeconfig are those of the `gitops serve` there")
        _secret(secret_file)
        command += ["--url", url, "--secret-file", str(secret_file.resolve())]
    else:
        command += ["--revision", revision]
        command += ["--kubeconfig", str(kubeconfig.resolve())] if kubeconfig else []
        command += [part for name in overlays for part in ("--overlay", name)]
    hook_file = install_hook(repo, hook_text(command), mark=MARK, chained=CHAINED, foreign=foreign or Foreign.REFUSE)
    click.echo(f"{hook_file} is written; what it does is told in {LOG} of the repository")
    return Exit.OK


@hook.command(hidden=True)
@click.option("--repo", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--url", callback=_url)
@click.option("--secret-file", type=_FILE)
@click.option("--revision", default="HEAD")
@click.option("--kubeconfig", type=_FILE)
@click.option("--overlay", "overlays", multiple=True)
def received(
    repo: Path,
    url: str | None,
    secret_file: Path | None,
    revision: str,
    kubeconfig: Path | None,
    overlays: tuple[str, ...],
) -> int:
    """Hand on the updates on standard input; for the hook."""
    updates = list(read_updates(os.fsdecode(sys.stdin.buffer.read())))  # git takes any bytes for a name
    told = ", ".join(update.ref for update in updates)
    click.echo(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} received {told}", err=True)
    if url is not None and secret_file is not None:
        secret, repository = _secret(secret_file), (str(repo.resolve()), _head(repo))
        for update in updates:
            if update.change is not None:
                deliver(url, secret, repository, update)
        return Exit.OK
    if not _followed(repo, revision, updates):
        click.echo(f"nothing to run: {revision} did not move", err=True)
        return Exit.OK
    arguments = ["--trigger", "push", "--repo", str(repo), "--revision", revision]
    arguments += ["--kubeconfig", str(kubeconfig)] if kubeconfig else []
    return run_here(repo, arguments, overlays)


def _followed(repo: Path, revision: str, updates: Sequence[Update]) -> bool:
    """Whether what is followed moved, and is still there."""
    changes = tuple(update.change for update in updates if update.change is not None)
    push = Push((str(repo.resolve()),), changes, _head(repo))
    return bool(changes) and not isinstance(following([str(repo.resolve())], revision).concern(push), Ignored)


def _head(repo: Path) -> str:
    """The branch that HEAD stands for; empty where it stands for none."""
    repository = open_repository(repo)
    try:
        return "" if repository.head.is_detached else repository.active_branch.name
    finally:
        repository.close()


def _secret(file: Path) -> str:
    """The first secret of a file.

    Raises:
        CredentialsError: the file cannot be read, or holds none.
    """
    try:
        secrets = read_secrets(file.read_text())
    except (OSError, ValueError) as error:
        raise CredentialsError(f"the secret in {file} cannot be read: {error}") from None
    if not secrets:
        raise CredentialsError(f"{file} holds no secret: write one on its first line")
    return secrets[0]
