"""The command line: the only reader of environment variables; errors become exit codes here."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from gitops.cli.comment import comment
from gitops.cli.control import approve, resume, rollback, suspend
from gitops.cli.exits import Exit, run
from gitops.cli.hook import hook
from gitops.cli.image_vector import image_vector
from gitops.cli.live import diff, history, plan, status
from gitops.cli.manifests import manifests
from gitops.cli.migrate import migrate
from gitops.cli.nodes import explain, preflight, verify
from gitops.cli.offline import render, schema, validate
from gitops.cli.password import password
from gitops.cli.policy import policy
from gitops.cli.promote import promote
from gitops.cli.reconcile import reconcile
from gitops.cli.sandbox_server import sandbox
from gitops.cli.serve import serve
from gitops.cli.unlock import unlock


@click.group(context_settings={"auto_envvar_prefix": "GITOPS", "help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shoot-gitops", prog_name="gitops")
def gitops() -> None:
    """Reconcile Gardener Shoots and NRI resource policies from git, in gated waves."""


for _command in (
    validate,
    render,
    plan,
    diff,
    reconcile,
    approve,
    suspend,
    resume,
    rollback,
    status,
    history,
    unlock,
    preflight,
    verify,
    explain,
    image_vector,
    promote,
    manifests,
    schema,
    sandbox,
    policy,
    migrate,
    serve,
    hook,
    password,
    comment,
):
    gitops.add_command(_command)


def main() -> NoReturn:
    """The console script."""
    arguments = sys.argv[1:]
    # For `diff`, 1 means differences, as for kubectl: an error must be something else.
    error_code = Exit.PENDING if "diff" in arguments[:1] else Exit.ERROR
    run(lambda: gitops.main(arguments, prog_name="gitops", standalone_mode=False), error_code)
