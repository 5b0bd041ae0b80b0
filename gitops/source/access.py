"""How remote repositories are reached: credentials, certificates, host keys, and how long anything may take.

Credentials go to git through its credential helper, which is asked for one host only, and never through an argument,
a URL, a configuration file or a log. No helper of the user's hears of them, so none can store them.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from gitops.errors import SourceError
from gitops.source.address import Address
from gitops.source.git import environment

_FILE_HELPER = '!f() { test "$1" = get && git credential-store --file="$SHOOT_GITOPS_CREDENTIALS" get; }; f'
"""Only ever reads: git's own helper would strike out an entry that a server refuses."""
_ANSWERING_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n"'
    ' "$SHOOT_GITOPS_USERNAME" "$SHOOT_GITOPS_PASSWORD"; }; f'
)
_NOT_HANDED_ON = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_SSL_NO_VERIFY",
    "GIT_WORK_TREE",
    "GITOPS_GIT_PASSWORD",
)
"""Would point a git process elsewhere (a hook runs with them), take certificates on trust, or tell a secret."""


@dataclass(frozen=True)
class Access:
    """What it takes to fetch; without any of it the user's own git and ssh configuration decides."""

    credentials: Path | None = None
    """In the format of `git credential-store`: a line `https://user:password@host` for each host."""
    username: str = "git"
    """Goes with `password`; most forges want any name beside a token."""
    password: str = field(default="", repr=False)
    """A password or token for https; sent to the host of the repository's address and to no other."""
    password_file: Path | None = None
    """Holds `password`; read anew for every fetch, so that it may be renewed in place."""
    ca_file: Path | None = None
    """PEM; who may vouch for the server, instead of the system's authorities."""
    ssh_key: Path | None = None
    """A private key, the only one that is offered."""
    known_hosts: Path | None = None
    """The host keys that are believed, and no others."""
    patience: timedelta = timedelta(minutes=5)
    """How long one fetch, or waiting for another process's, may take."""

    def variables(self, address: Address) -> dict[str, str]:
        """The whole environment of a git process that talks to an address.

        Raises:
            SourceError: a file cannot be read or used; the message tells how to get a good one.
        """
        inherited = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
        config = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60", "http.followRedirects": "initial"}
        config["http.sslVerify"] = "true"
        if self.ca_file is not None:  # the variable, since that one wins over any configuration
            inherited["GIT_SSL_CAINFO"] = str(_readable(self.ca_file, "--git-ca-file").absolute())
        extra = self._ssh() if address.protocol == "ssh" else {}
        if address.protocol == "https":
            helper, extra = self._helper(address)
            config |= helper
        return inherited | environment(address.protocol, config) | extra

    def secrets(self, address: Address) -> tuple[str, ...]:
        """What must not stand in any message, longest first."""
        return tuple(sorted(filter(None, {address.password, self._password()}), key=len, reverse=True))

    def _password(self) -> str:
        if self.password_file is None:
            return self.password
        return _readable(self.password_file, "GITOPS_GIT_PASSWORD_FILE").read_text().strip("\r\n")

    def _helper(self, address: Address) -> tuple[dict[str, str], dict[str, str]]:
        """Git configuration, and the variables that its helper reads; both empty where there are no credentials."""
        password = address.password or self._password()
        scoped = f"credential.{address.host}"
        alone = {"credential.helper": ""}
        if password or (address.username and self.credentials is None):
            username = address.username or self.username
            if any(character in username + password for character in "\n\r\0"):
                raise SourceError("the user name or password for git holds a line break: keep it on one line")
            told = {"SHOOT_GITOPS_USERNAME": username, "SHOOT_GITOPS_PASSWORD": password, "GIT_ASKPASS": ""}
            return {**alone, f"{scoped}.helper": _ANSWERING_HELPER}, told
        if self.credentials is not None:
            file = str(_readable(self.credentials, "--git-credentials").absolute())
            user = {f"{scoped}.username": address.username} if address.username else {}
            helper = {**alone, **user, f"{scoped}.helper": _FILE_HELPER}
            return helper, {"SHOOT_GITOPS_CREDENTIALS": file, "GIT_ASKPASS": ""}
        return {}, {}

    def _ssh(self) -> dict[str, str]:
        if self.ssh_key is None and self.known_hosts is None:
            return {}
        if self.known_hosts is None:
            raise SourceError(
                "--ssh-key needs --ssh-known-hosts, so that the key is shown to the right server only: "
                "`ssh-keyscan HOST > known_hosts`, and compare its fingerprint with what the server's owner publishes"
            )
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": "30",
            "GlobalKnownHostsFile": os.devnull,
            "ServerAliveCountMax": "3",
            "ServerAliveInterval": "15",
            "StrictHostKeyChecking": "yes",
            "UpdateHostKeys": "no",
            "UserKnownHostsFile": _ssh_path(_readable(self.known_hosts, "--ssh-known-hosts")),
        }
        if self.ssh_key is not None:
            key = _private(_readable(self.ssh_key, "--ssh-key"))
            options |= {"IdentitiesOnly": "yes", "IdentityAgent": "none", "IdentityFile": _ssh_path(key)}
        words = ["ssh", "-F", os.devnull]
        for name, value in options.items():
            words += ["-o", f"{name}={value}"]
        return {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}


def _readable(file: Path, option: str) -> Path:
    try:
        with file.open("rb") as stream:
            stream.read(1)
    except OSError as error:
        raise SourceError(f"cannot read {option} {file}: {error.strerror}") from error
    return file


def _private(key: Path) -> Path:
    """A key that ssh will use; it ignores, with a warning that nobody sees, one of ours that others may read."""
    facts = key.stat()
    if facts.st_uid == os.getuid() and facts.st_mode & 0o077:
        raise SourceError(f"--ssh-key {key} can be read by others, so ssh will not use it: `chmod 600 {key}`")
    return key


def _ssh_path(file: Path) -> str:
    """A path as an option of ssh takes it: quoted, and with nothing that ssh would replace."""
    return '"' + str(file.absolute()).replace("%", "%%") + '"'
