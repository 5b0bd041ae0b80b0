"""What `node.sh` says of its node: one line of JSON, read with suspicion, as it comes from the node."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gitops.nri.cpu_topology import CpuTopology, read_topology

VERSION = 1
"""The `v` of the lines that this code reads."""


@dataclass(frozen=True)
class NodeReport:
    """One node at one moment."""

    dbus: str
    """What is at /run/dbus/system_bus_socket: socket, directory, dangling, file or absent."""
    dbus_daemon: str
    """active, inactive, masked or missing."""
    systemd: str
    """running, silent or absent."""
    runtime: str
    """containerd, cri-o or unknown."""
    runtime_version: str
    nri: str
    """By the runtime's configuration: enabled, disabled, disabled-plugin, broken, unreadable or unknown."""
    nri_socket: bool
    config_version: int
    """Of containerd's configuration; 0 where there is none."""
    cgroup: int
    """1 or 2; 0 where neither is mounted."""
    cgroup_driver: str
    """systemd, cgroupfs or unknown."""
    cpus: CpuTopology | None = None
    """None where the node's kernel does not tell, or tells nonsense."""
    changed: tuple[str, ...] = ()
    """What a repair did, in order."""
    error: str = ""
    """Why a repair could not do the rest, in the node's own words."""

    def document(self) -> dict[str, Any]:
        """As JSON has it; `read_report` reads it back."""
        return {
            "v": VERSION,
            "dbus": self.dbus,
            "dbusDaemon": self.dbus_daemon,
            "systemd": self.systemd,
            "runtime": self.runtime,
            "runtimeVersion": self.runtime_version,
            "nri": self.nri,
            "nriSocket": self.nri_socket,
            "configVersion": self.config_version,
            "cgroup": self.cgroup,
            "cgroupDriver": self.cgroup_driver,
            "cpus": self.cpus.document() if self.cpus else None,
            "changed": list(self.changed),
            "error": self.error,
        }


def parse_report(text: str) -> NodeReport | None:
    """A report out of a line of text; None where it is none that this code reads."""
    try:
        return read_report(json.loads(text))
    except (ValueError, RecursionError):
        return None


def read_report(said: Any) -> NodeReport | None:
    """A report out of parsed JSON; None where it is none that this code reads."""
    if not isinstance(said, dict) or said.get("v") != VERSION:
        return None
    texts = ("dbus", "dbusDaemon", "systemd", "runtime", "runtimeVersion", "nri", "cgroupDriver", "error")
    changed = said.get("changed")
    sound = (
        all(isinstance(said.get(key), str) for key in texts)
        and all(type(said.get(key)) is int for key in ("configVersion", "cgroup"))
        and isinstance(said.get("nriSocket"), bool)
        and isinstance(changed, list)
        and all(isinstance(entry, str) for entry in changed)
    )
    if not sound:
        return None
    return NodeReport(
        dbus=said["dbus"],
        dbus_daemon=said["dbusDaemon"],
        systemd=said["systemd"],
        runtime=said["runtime"],
        runtime_version=said["runtimeVersion"],
        nri=said["nri"],
        nri_socket=said["nriSocket"],
        config_version=said["configVersion"],
        cgroup=said["cgroup"],
        cgroup_driver=said["cgroupDriver"],
        cpus=read_topology(said.get("cpus")),
        changed=tuple(said["changed"]),
        error=said["error"],
    )
