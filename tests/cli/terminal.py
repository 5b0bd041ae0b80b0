"""A terminal with somebody before it: a pseudo-terminal, and a screen in memory."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyte

from tests.waiting import PATIENCE


class Terminal:
    """A process on a terminal of its own."""

    def __init__(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, rows: int = 60, columns: int = 100
    ) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (rows, columns))
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.received = b""
        """All that the process wrote."""

    @property
    def lines(self) -> list[str]:
        """What stands on the screen now."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    @property
    def cursor_is_hidden(self) -> bool:
        """Whether the terminal would be left without a cursor."""
        return bool(self._screen.cursor.hidden)

    def wait_for(self, text: str) -> None:
        """Until a text stands on the screen."""
        while text not in self.text:
            if not self._receive():
                raise AssertionError(f"{text!r} never came:\n{self.text}")

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def exit_code(self) -> int:
        """The process's, when it has ended."""
        while self._receive():
            pass
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _receive(self) -> bool:
        """Take what the process wrote; False when it has closed its side."""
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        if not ready:
            raise AssertionError(f"nothing came any more:\n{self.text}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux says that nobody holds the other side any more
            return False
        self.received += data
        self._stream.feed(data)
        return bool(data)
