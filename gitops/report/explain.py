"""One shoot on one screen: where it stands, why, what happens next by itself, and what a person would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Target
from gitops.nri.prerequisites.wanted import Prerequisites
from gitops.plan.changes import Action, Change
from gitops.plan.document import API_VERSION
from gitops.report.control import Controlled
from gitops.report.placement import ShootPlacement, placement_document
from gitops.report.preflight import ShootPreflight, is_ready, preflight_document, shoot_lines
from gitops.report.standing import Standing
from gitops.report.status import ShootStatus, next_action
from gitops.report.style import Style, Tone
from gitops.report.words import SIGNS, counted, wrapped
from gitops.verdict import Verdict

_SHOWN = 5


@dataclass(frozen=True)
class Explanation:
    """Everything that decides about one shoot."""

    overlay: str
    revision: str
    shoot: Target
    status: ShootStatus
    changes: tuple[Change, ...]
    gates: tuple[tuple[str, Verdict], ...]
    """What is gated, such as `Shoot garden-dev/one`, with the gate's verdict."""
    wanted: Prerequisites
    preflight: ShootPreflight
    placement: ShootPlacement | None
    """None where no policy is in the shoot."""
    control: Controlled | None = None
    """What people ask, and what shoots wait for; None where nobody looked."""


def command(explanation: Explanation) -> str:
    """What a person would type now."""
    if explanation.control is not None and (typed := explanation.control.command(explanation.shoot)):
        return typed
    overlay, shoot, status = explanation.overlay, explanation.shoot, explanation.status
    preflight = explanation.preflight
    if explanation.wanted.any and preflight.found is not None and not is_ready(preflight, explanation.wanted):
        return f"gitops preflight {overlay} {shoot}"
    unproven = explanation.placement is not None and not explanation.placement.proven
    if unproven and status.standing in {Standing.FAILED, Standing.IN_PROGRESS}:
        return f"gitops verify {overlay} {shoot}"
    namespace, _, name = shoot.partition("/")
    commands = {
        Standing.CURRENT: f"gitops verify {overlay} {shoot}",
        Standing.PENDING: f"gitops reconcile {overlay}",
        Standing.DEFERRED: f"kubectl -n {namespace} get shoot {name}",
    }
    return commands.get(status.standing, f"kubectl -n {namespace} describe shoot {name}")


def explain_document(explanation: Explanation) -> dict[str, Any]:
    """The answer of `explain -o json`."""
    status = explanation.status
    overlay, placement = explanation.overlay, explanation.placement
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "overlay": overlay,
        "revision": explanation.revision,
        "shoot": explanation.shoot,
        "wave": status.wave,
        "verdict": status.standing.value,
        "message": status.message,
        "lastOutcome": status.last_outcome,
        "changes": [
            {"object": str(change.ref), "action": change.action.value, "reason": change.reason}
            for change in explanation.changes
        ],
        "gates": [
            {"object": name, "verdict": verdict.status.value, "message": verdict.message}
            for name, verdict in explanation.gates
        ],
        "preflight": preflight_document(overlay, explanation.wanted, [explanation.preflight])["shoots"][0],
        "placement": placement_document(overlay, [placement])["shoots"][0] if placement is not None else None,
        "next": next_action(explanation.status, explanation.control),
        "command": command(explanation),
    }


def explain_text(explanation: Explanation, style: Style) -> str:
    """The one screen."""
    status = explanation.status
    lines = [
        style.paint(f"{explanation.shoot}: {status.standing.value}", Tone.STRONG),
        *_said(f"wave {status.wave}, last run: {status.last_outcome or '-'}", style),
        "",
        *_section("Changes", _changes(explanation.changes), style),
        *_section("Prerequisites", list(_preflight(explanation, style)), style),
        *_section("Gates", [_gate(name, verdict) for name, verdict in explanation.gates], style),
        *_section("Placement", list(_placement(explanation.placement)), style),
        *_said(f"Next:    {next_action(explanation.status, explanation.control)}", style),
        f"Command: {command(explanation)}",
    ]
    return "\n".join(lines)


def _section(title: str, lines: Sequence[str], style: Style) -> Iterator[str]:
    if lines:
        yield style.paint(title, Tone.STRONG)
        for line in lines:
            yield from (
                [line] if len(line) <= style.width else wrapped(line, width=style.width, indent="    ", first="  ")
            )
        yield ""


def _said(text: str, style: Style) -> list[str]:
    return wrapped(text, width=style.width, indent="         ", first="")


def _changes(changes: Sequence[Change]) -> list[str]:
    pending = [change for change in changes if change.action is not Action.UNCHANGED]
    unchanged = len(changes) - len(pending)
    lines = [
        f"  {SIGNS[change.action]} {change.ref}{f': {change.reason}' if change.reason else ''}"
        for change in pending[:_SHOWN]
    ]
    if len(pending) > _SHOWN:
        lines.append(f"  and {len(pending) - _SHOWN} more")
    return [*lines, f"  = {counted(unchanged, 'object')} as declared"] if unchanged else lines


def _preflight(explanation: Explanation, style: Style) -> Iterator[str]:
    shoot, wanted = explanation.preflight, explanation.wanted
    if shoot.found is None:
        yield f"  not observed: {shoot.unobserved}"
    elif not wanted.any:
        yield f"  none are asked for of {counted(len(shoot.found.nodes), 'node')}"
    else:
        yield from (f"  {line}" for line in shoot_lines(shoot, wanted, style))


def _gate(name: str, verdict: Verdict) -> str:
    return f"  {'open  ' if verdict.open else 'closed'} {name}: {verdict.message}"


def _placement(placement: ShootPlacement | None) -> Iterator[str]:
    if placement is None:
        return
    if placement.verification is None:
        yield f"  not observed: {placement.unobserved}"
        return
    deviations = placement.verification.deviations
    yield from (f"  ! {deviation}" for deviation in deviations[:_SHOWN])
    if len(deviations) > _SHOWN:
        yield f"  and {len(deviations) - _SHOWN} more"
    if not deviations:
        yield f"  {placement.verification.verdict.message}"
