"""What the nodes of shoots are and lack, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Target
from gitops.nri.prerequisites.facts import NodeFacts
from gitops.nri.prerequisites.findings import Evidence, verdicts
from gitops.nri.prerequisites.wanted import Demand, Need, Prerequisites
from gitops.plan.document import API_VERSION
from gitops.report.style import Style, Tone
from gitops.report.table import table_lines
from gitops.report.words import counted, wrapped
from gitops.rollout.preflight import Preflight, everything_of
from gitops.verdict import Status, Verdict

_HEADING = ("NODE", "READY", "RUNTIME", "KUBELET", "CGROUP", "D-BUS", "NRI", "CPU MANAGER", "GROUP", "OS IMAGE")
_WORDS = {Status.CURRENT: "ok", Status.FAILED: "missing", Status.UNKNOWN: "unknown"}


@dataclass(frozen=True)
class ShootPreflight:
    """One shoot."""

    shoot: Target
    found: Preflight | None
    """None where it could not be observed."""
    unobserved: str
    """Why not; empty where it was."""
    static_pools: tuple[str, ...]
    """Worker pools with the static CPU manager."""


@dataclass(frozen=True)
class _Row:
    """One node."""

    facts: NodeFacts
    verdicts: dict[Need, Verdict]
    cgroup: str
    static: bool


def is_ready(shoot: ShootPreflight, wanted: Prerequisites) -> bool:
    """Whether every node is known to have what the overlay asks for."""
    if shoot.found is None:
        return False
    return all(
        row.verdicts[need].open
        for row in _rows(shoot, wanted)
        for need in Need
        if wanted.demand(need) is not Demand.IGNORE
    )


def preflight_document(overlay: str, wanted: Prerequisites, shoots: Sequence[ShootPreflight]) -> dict[str, Any]:
    """The answer of `preflight -o json`."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Preflight",
        "overlay": overlay,
        "ready": all(is_ready(shoot, wanted) for shoot in shoots),
        "shoots": [
            {
                "shoot": shoot.shoot,
                "ready": is_ready(shoot, wanted),
                "message": shoot.unobserved or (shoot.found.message if shoot.found else ""),
                "nodes": [_node(row) for row in _rows(shoot, wanted)],
            }
            for shoot in shoots
        ],
    }


def preflight_text(wanted: Prerequisites, shoots: Sequence[ShootPreflight], style: Style) -> str:
    """A table per shoot, what is missing below it, and totals."""
    lines = [line for shoot in shoots for line in (*_shoot(shoot, wanted, style), "")]
    ready = sum(is_ready(shoot, wanted) for shoot in shoots)
    lines.append(style.paint(f"{ready} of {counted(len(shoots), 'shoot')} ready.", Tone.STRONG))
    return "\n".join(lines)


def shoot_lines(shoot: ShootPreflight, wanted: Prerequisites, style: Style) -> Iterator[str]:
    """The table of one shoot."""
    rows = list(_rows(shoot, wanted))
    cells = [_cells(row) for row in rows]
    if cells:
        yield from table_lines(_HEADING, cells, style)
    for row in rows:
        for need, verdict in row.verdicts.items():
            asked = wanted.demand(need) is not Demand.IGNORE
            if verdict.status is Status.FAILED or (asked and not verdict.open):
                text = f"{row.facts.name}: {need.value}: {verdict.message}{'' if asked else ' (not asked for)'}"
                yield from wrapped(text, width=style.width, indent="    ", first="  ! " if asked else "    ")
    if shoot.static_pools:
        pools = ", ".join(shoot.static_pools)
        text = f"the kubelets of {pools} have the static CPU manager, which competes with NRI plugins for cpusets"
        yield from wrapped(text, width=style.width, indent="    ", first="  ! ")


def _shoot(shoot: ShootPreflight, wanted: Prerequisites, style: Style) -> Iterator[str]:
    yield style.paint(shoot.shoot, Tone.PLACE)
    yield from shoot_lines(shoot, wanted, style)
    message = shoot.unobserved or (shoot.found.message if shoot.found else "")
    yield from wrapped(message, width=style.width, indent="  ")


def _rows(shoot: ShootPreflight, wanted: Prerequisites) -> Iterator[_Row]:
    """Everything is shown, also what the overlay does not ask for."""
    found = shoot.found
    for facts in found.nodes if found else ():
        entry = found.entries.get(facts.name) if found else None
        evidence = Evidence(facts, None) if entry is None else Evidence(facts, entry.report, entry.repaired)
        cgroup = "?" if entry is None else f"v{entry.report.cgroup} {entry.report.cgroup_driver}"
        yield _Row(facts, verdicts(everything_of(wanted), evidence), cgroup, facts.pool in shoot.static_pools)


def _cells(row: _Row) -> tuple[str, ...]:
    dbus, nri = (_WORDS.get(row.verdicts[need].status, "?") for need in (Need.DBUS, Need.NRI))
    facts = row.facts
    return (
        facts.name,
        "yes" if facts.ready else "no",
        facts.runtime or "?",
        facts.kubelet or "?",
        row.cgroup,
        dbus,
        nri,
        "static" if row.static else "-",
        facts.group or "-",
        facts.os_image or "?",
    )


def _node(row: _Row) -> dict[str, Any]:
    facts = row.facts
    return {
        "node": facts.name,
        "ready": facts.ready,
        "runtime": facts.runtime,
        "kubelet": facts.kubelet,
        "osImage": facts.os_image,
        "kernel": facts.kernel,
        "pool": facts.pool,
        "group": facts.group,
        "cgroup": row.cgroup,
        "staticCPUManager": row.static,
        "prerequisites": {
            need.name.lower(): {"verdict": verdict.status.value, "message": verdict.message}
            for need, verdict in row.verdicts.items()
        },
    }
