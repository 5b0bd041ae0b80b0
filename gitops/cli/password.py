"""`gitops password`: a line for the file of those who may look at the dashboard."""

from __future__ import annotations

import secrets

import click

from gitops.cli.exits import Exit


@click.command()
@click.argument("name")
@click.password_option(help="Asked for where it is not given, which is better: others see what is typed here.")
def password(name: str, password: str) -> int:
    """Print a line for --dashboard-password-file that lets NAME look at the dashboard of `gitops serve`.

    It holds a hash of the password (scrypt), and not the password.
    """
    from gitops.serve.board.passwords import password_line  # noqa: PLC0415 - a web server is no load for other commands

    click.echo(password_line(name, password, secrets.token_bytes(16)))
    return Exit.OK
