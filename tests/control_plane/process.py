"""Server processes that end with us, and the ports they listen on."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.waiting import PATIENCE

_LEASH = Path(__file__).with_name("leash.py")
# Below the range that Linux gives to outgoing connections, so that none of them takes a port between our choice
# and the server's bind.
_PORTS = range(20_000, 32_000)


class ServerDied(Exception):  # noqa: N818 - reads as what happened
    """A server ended, or did not become ready; the message carries the end of its log."""


class Process:
    """A command on a leash (see `leash.py`) that writes to a log file."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._log = log
        with log.open("wb") as output:
            # A session of its own: Ctrl-C is for pytest, which then ends its servers in order.
            self._leash = subprocess.Popen(
                [sys.executable, "-I", str(_LEASH), *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def wait_until(self, ready: Callable[[], bool], timeout: float = PATIENCE) -> None:
        """Poll `ready` until it is true.

        Raises:
            ServerDied: the process ended first, or `timeout` seconds passed.
        """
        deadline = time.monotonic() + timeout
        while not ready():
            if self._leash.poll() is not None:
                raise ServerDied(f"ended with {self._leash.returncode}: {self._last_words()}")
            if time.monotonic() > deadline:
                raise ServerDied(f"not ready after {timeout:.0f} s: {self._last_words()}")
            time.sleep(0.05)

    @property
    def alive(self) -> bool:
        return self._leash.poll() is None

    def stop(self) -> None:
        """Kill the command. Not SIGTERM: an API server whose etcd is gone outlives it for long."""
        if self._leash.stdin is not None:
            self._leash.stdin.close()
        self._leash.wait(timeout=PATIENCE)

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()[-12:]
        return "\n".join([str(self._log), *lines])


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on."""
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
