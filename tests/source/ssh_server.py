"""A real sshd on a port of its own, which lets one key of the user that runs the tests in."""

from __future__ import annotations

import getpass
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.source.signers import SshSigner

SSHD = Path("/usr/sbin/sshd")
_CONFIGURATION = """\
ListenAddress 127.0.0.1:{port}
HostKey {host}
AuthorizedKeysFile {authorized}
AuthenticationMethods publickey
KbdInteractiveAuthentication no
PasswordAuthentication no
PidFile none
StrictModes no
UsePAM no
"""


@dataclass(frozen=True)
class SshServer:
    """A running server."""

    port: int
    host_key: SshSigner
    log: Path

    def url(self, repository: Path) -> str:
        """The address of a repository on this machine."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{repository}"

    def known_hosts(self) -> str:
        """The line that tells clients its key."""
        return f"[127.0.0.1]:{self.port} {self.host_key.public}\n"


@contextmanager
def ssh_server(folder: Path, authorized: SshSigner) -> Iterator[SshServer]:
    """Serve until the context ends."""
    if os.geteuid() == 0:
        # Where its service script would make it; sshd wants it of root only.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    host = SshSigner(folder, "host")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    configuration, log = folder / "sshd_config", folder / "sshd.log"
    keys = folder / "authorized_keys"
    keys.write_text(authorized.public + "\n")
    configuration.write_text(_CONFIGURATION.format(port=port, host=host.file, authorized=keys))
    with subprocess.Popen([SSHD, "-D", "-f", configuration, "-E", log], stdin=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process, log)
            yield SshServer(port, host, log)
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it answers; pytest's time limit ends the waiting."""
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError(log.read_text())
