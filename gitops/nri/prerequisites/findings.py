"""Does one node have what is asked of it? From its Node object and its report, per prerequisite."""

from __future__ import annotations

from dataclasses import dataclass

from gitops.nri.prerequisites.facts import NodeFacts, no_nri
from gitops.nri.prerequisites.node_report import NodeReport
from gitops.nri.prerequisites.wanted import Demand, Need, Prerequisites
from gitops.verdict import Status, Verdict, current, failed, in_progress

_UNREPORTED = Verdict(Status.UNKNOWN, "the node was not looked at")

_DBUS_PATH = {
    "directory": "a directory is at /run/dbus/system_bus_socket",
    "dangling": "a link to nothing is at /run/dbus/system_bus_socket",
    "file": "a plain file is at /run/dbus/system_bus_socket",
    "absent": "/run/dbus/system_bus_socket is not there",
    "socket": "/run/dbus/system_bus_socket is there",
}
_DBUS_DAEMON = {
    "missing": "D-Bus is not installed",
    "masked": "its units are masked",
    "inactive": "it does not run",
    "active": "it runs",
}
_NRI = {
    "enabled": "enabled in {runtime}'s configuration",
    "disabled": "disabled in {runtime}'s configuration",
    "disabled-plugin": "listed in disabled_plugins of {runtime}'s configuration",
    "broken": "{runtime} cannot read its configuration",
    "unreadable": "{runtime}'s configuration cannot be read",
}


@dataclass(frozen=True)
class Evidence:
    """What is known of a node."""

    facts: NodeFacts
    report: NodeReport | None
    """None while nobody has looked at the node."""
    repaired: bool = False
    """Whether the report was made by a repair, after which nothing more can be done."""


def verdicts(wanted: Prerequisites, evidence: Evidence) -> dict[Need, Verdict]:
    """The verdict per prerequisite that is asked for.

    CURRENT: it is there. IN_PROGRESS: it is missing, and a repair is asked for and still to be tried. FAILED: it is
    missing. UNKNOWN: nobody looked, which is never good enough.
    """
    return {need: _verdict(wanted, need, evidence) for need in Need if wanted.demand(need) is not Demand.IGNORE}


def _verdict(wanted: Prerequisites, need: Need, evidence: Evidence) -> Verdict:
    if need is Need.NRI and (why := no_nri(evidence.facts)):
        return failed(why)
    report = evidence.report
    if report is None:
        return _UNREPORTED
    there, message = _LOOKS[need](report)
    if there:
        return current(message)
    if evidence.repaired and report.error:
        message += f"; the node says: {report.error}"
    if wanted.demand(need) is Demand.REPAIR and not evidence.repaired:
        return in_progress(message)
    return failed(message)


def _dbus(report: NodeReport) -> tuple[bool, str]:
    where = _DBUS_PATH.get(report.dbus, f"/run/dbus/system_bus_socket is {report.dbus!r}")
    daemon = _DBUS_DAEMON.get(report.dbus_daemon, f"D-Bus is {report.dbus_daemon!r}")
    # Without systemd nothing but the socket can be seen.
    runs = report.dbus_daemon == "active" or report.systemd == "absent"
    return report.dbus == "socket" and runs, f"{where}, {daemon}"


def _nri(report: NodeReport) -> tuple[bool, str]:
    words = _NRI.get(report.nri, "its configuration does not tell").format(runtime=report.runtime)
    socket = "" if report.nri_socket else ", and /run/nri/nri.sock is not there"
    return report.nri_socket and report.nri in {"enabled", "unknown"}, words + socket


def _cgroup(report: NodeReport) -> tuple[bool, str]:
    version = f"cgroup v{report.cgroup}" if report.cgroup else "no cgroups are mounted"
    return report.cgroup == 2, f"{version}, driver {report.cgroup_driver}"


_LOOKS = {Need.DBUS: _dbus, Need.NRI: _nri, Need.CGROUP_V2: _cgroup}
