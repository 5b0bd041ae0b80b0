"""Run a command that must not outlive us: `python leash.py COMMAND ARG…`.

The command is killed when our standard input ends. Whoever starts us holds the other end of that pipe, so that the
kernel lets go of it however that process ends, SIGKILL included. Also killed on SIGTERM. Exits as the command does.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading


def main() -> int:
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: command.kill())

    def kill_when_let_go() -> None:
        sys.stdin.buffer.read()
        command.kill()

    threading.Thread(target=kill_when_let_go, daemon=True).start()
    return command.wait()


if __name__ == "__main__":
    sys.exit(main())
