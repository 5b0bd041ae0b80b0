"""A node in a scratch folder: its files, and stand-ins for its systemctl, containerd and package managers.

The stand-ins log what they were asked to change, and keep their state in files. Sockets are real: a shell cannot make
one, so each is made beforehand and moved into place by the stand-in that stands for its daemon.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

SCRIPT = str(resources.files("gitops.nri.prerequisites") / "node.sh")
DBUS = "run/dbus/system_bus_socket"
NRI = "run/nri/nri.sock"
CONFIG = "etc/containerd/config.toml"
DROP_IN = "etc/containerd/conf.d/zz-shoot-gitops-nri.toml"
COREUTILS = (
    "awk",
    "cat",
    "cp",
    "cut",
    "find",
    "grep",
    "head",
    "mkdir",
    "mv",
    "rm",
    "rmdir",
    "sed",
    "sort",
    "paste",
    "sleep",
    "tail",
    "tr",
    "chmod",
)

_SYSTEMCTL = r"""#!/bin/sh
units=$STATE/units
verb=$1
[ "$verb" = is-system-running ] && { cat "$STATE/system"; exit 0; }
shift
for unit in "$@"; do
    case $verb in
    is-active) cat "$units/$unit.active" 2>/dev/null || echo inactive ;;
    is-enabled) cat "$units/$unit.enabled" 2>/dev/null || echo not-found ;;
    *)
        echo "systemctl $verb $unit" >>"$STATE/log"
        if [ -e "$units/$unit.fails" ]; then cat "$units/$unit.fails" >&2; exit 1; fi
        case $verb in
        unmask) echo enabled >"$units/$unit.enabled" ;;
        stop) echo inactive >"$units/$unit.active" ;;
        start | restart)
            if [ ! -e "$units/$unit.enabled" ]; then echo "Unit $unit not found." >&2; exit 5; fi
            echo active >"$units/$unit.active"
            case $unit in
            dbus.socket) [ -e "$STATE/dbus.sock" ] && mkdir -p "$NODE_ROOT/run/dbus" &&
                mv -n "$STATE/dbus.sock" "$NODE_ROOT/run/dbus/system_bus_socket" ;;
            containerd.service) [ -e "$STATE/nri.sock" ] && mkdir -p "$NODE_ROOT/run/nri" &&
                mv -n "$STATE/nri.sock" "$NODE_ROOT/run/nri/nri.sock" ;;
            esac ;;
        esac ;;
    esac
done
exit 0
"""
_CONTAINERD = r"""#!/bin/sh
case $* in
--version) echo "containerd github.com/containerd/containerd $(cat "$STATE/containerd") abcdef" ;;
*"config dump") if grep -q BROKEN "$2" 2>/dev/null; then echo "toml: line 1: expected '='" >&2; exit 1; fi ;;
esac
"""
_MANAGER = r"""#!/bin/sh
echo "${0##*/} $*" >>"$STATE/log"
case $* in *update*) : >"$STATE/updated"; exit 0 ;; esac
if [ -e "$STATE/stale" ] && [ ! -e "$STATE/updated" ]; then echo "E: Unable to locate package" >&2; exit 100; fi
if [ -e "$STATE/offline" ]; then echo "Could not resolve the mirror's name" >&2; exit 100; fi
printf '#!/bin/sh\n' >"$STATE/bin/dbus-daemon"
chmod +x "$STATE/bin/dbus-daemon"
echo static >"$STATE/units/dbus.socket.enabled"
echo static >"$STATE/units/dbus.service.enabled"
"""


class ScratchNode:
    """A healthy node with a containerd that has NRI switched off, until a test makes it otherwise."""

    def __init__(self, folder: Path, containerd: str = "1.7.27") -> None:
        self.root = folder / "root"
        self.state = folder / "state"
        for path in (self.root / "run/systemd/system", self.state / "bin", self.state / "units"):
            path.mkdir(parents=True)
        for tool in COREUTILS:
            (self.state / "bin" / tool).symlink_to(_found(tool))
        self._sockets: list[socket.socket] = []
        self.say("system", "running\n")
        self.say("containerd", f"v{containerd}\n")
        self.tool("systemctl", _SYSTEMCTL)
        self.tool("containerd", _CONTAINERD)
        self.tool("dbus-daemon", "#!/bin/sh\n")
        for unit in ("dbus.socket", "dbus.service", "containerd.service"):
            self.unit(unit, active="active", enabled="static")
        self.bind(self.root / DBUS)
        self.bind(self.state / "dbus.sock")
        self.bind(self.state / "nri.sock")
        self.file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n")
        self.file("var/lib/kubelet/config/kubelet", "cgroupDriver: systemd\n")

    def file(self, path: str, content: str) -> None:
        """Write a file of the node."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def read(self, path: str) -> str:
        """A file of the node."""
        return (self.root / path).read_text()

    def say(self, name: str, content: str = "") -> None:
        """Set what the stand-ins go by."""
        (self.state / name).write_text(content)

    def tool(self, name: str, script: str = _MANAGER) -> None:
        """Install a stand-in; without a script, a package manager."""
        file = self.state / "bin" / name
        file.write_text(script)
        file.chmod(0o755)

    def without(self, *tools: str) -> None:
        """Remove tools."""
        for tool in tools:
            (self.state / "bin" / tool).unlink()

    def unit(self, name: str, **states: str) -> None:
        """Set what systemd says of a unit."""
        for key, value in states.items():
            (self.state / "units" / f"{name}.{key}").write_text(value + "\n")

    def no_dbus(self) -> None:
        """D-Bus was never installed."""
        (self.root / DBUS).unlink()
        self.without("dbus-daemon")
        for file in (self.state / "units").glob("dbus.*"):
            file.unlink()

    def dbus_stopped(self) -> None:
        """D-Bus is installed and does not run."""
        (self.root / DBUS).unlink()
        for unit in ("dbus.socket", "dbus.service"):
            self.unit(unit, active="inactive")

    def bind(self, path: Path) -> None:
        """Make a socket; several may share one path's short name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        made = socket.socket(socket.AF_UNIX)
        here = os.open(path.parent, os.O_PATH)
        try:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
        finally:
            os.close(here)
        self._sockets.append(made)

    def run(self, *arguments: str, shell: str = "/bin/sh") -> dict[str, Any]:
        """Run the script with its own file system and tools, and read its line."""
        environment = {
            "PATH": str(self.state / "bin"),
            "STATE": str(self.state),
            "NODE_ROOT": str(self.root),
            "NODE_PATIENCE": "0",
            "NODE_PATH": str(self.state / "bin"),
        }
        command = [shell, SCRIPT, *arguments]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert done.stderr == ""
        (line,) = done.stdout.splitlines()
        report: dict[str, Any] = json.loads(line)
        return report

    @property
    def log(self) -> list[str]:
        """What the stand-ins were asked to change, in order."""
        file = self.state / "log"
        return file.read_text().splitlines() if file.exists() else []

    def snapshot(self) -> dict[str, str]:
        """Every file of the node with what it holds."""
        return {str(path.relative_to(self.root)): _content(path) for path in sorted(self.root.rglob("*"))}

    def close(self) -> None:
        """Let go of the sockets."""
        for made in self._sockets:
            made.close()


def _found(tool: str) -> str:
    return subprocess.run(
        ["/bin/sh", "-c", f"command -v {tool}"], check=True, capture_output=True, text=True
    ).stdout.strip()


def _content(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    if path.is_socket():
        return "socket"
    return "folder" if path.is_dir() else path.read_text(errors="replace")
