"""The node script in a real Debian without systemd: real apt, a real dbus-daemon and its socket."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.nri.prerequisites.scratch_node import SCRIPT

SUITE = "bookworm"
SHELL = r"""
set -e
mkdir -p /run/dbus/system_bus_socket
sh /node.sh probe
sh /node.sh repair dbus
sh /node.sh repair dbus
dbus-send --system --print-reply=literal --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames >&2
"""


def pristine() -> Path:
    """A minimal Debian, made once and kept outside the repository."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shoot-gitops" / "chroot" / SUITE
    if not (cache / "made").exists():
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", SUITE, str(cache / "root")],
            check=False,
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
        (cache / "made").touch()
    return cache / "root"


@pytest.mark.chroot
@pytest.mark.skipif(shutil.which("debootstrap") is None or os.geteuid() != 0, reason="needs debootstrap, as root")
@pytest.mark.timeout(600)
def test_a_directory_becomes_a_bus_that_answers(tmp_path: Path) -> None:
    root = tmp_path / "root"
    subprocess.run(["cp", "--archive", str(pristine()), str(root)], check=True)
    shutil.copy(SCRIPT, root / "node.sh")
    if Path("/etc/resolv.conf").exists():
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    # In a process namespace of its own, so that the daemon ends with the test.
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", str(root), "/bin/sh", "-c", SHELL]

    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    probe, first, second = map(json.loads, done.stdout.splitlines())
    assert (probe["dbus"], probe["dbusDaemon"], probe["systemd"]) == ("directory", "missing", "absent")
    assert first["error"] == ""
    assert first["changed"][:2] == ["removed the directory /run/dbus/system_bus_socket", "installed D-Bus"]
    assert first["dbus"] == "socket"
    assert second == {**first, "changed": []}
    assert "org.freedesktop.DBus" in done.stderr
