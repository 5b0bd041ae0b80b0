"""What people ask and what shoots wait for, in plans and statuses."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gitops.control.control import NOTHING_ASKED, Control, Hold, Suspension
from gitops.desired.overlay import ApprovalRule
from gitops.desired.windows import parse_window
from gitops.plan.document import digest
from gitops.plan.observed import NO_REGISTRATIONS, Observed, Unobserved
from gitops.plan.outlook import Outlook
from gitops.plan.planning import make_plan
from gitops.report.control import Controlled, control_document, control_lines, controlled
from gitops.report.status import OverlayStatus, overlay_status, status_document
from gitops.report.status_text import status_text
from gitops.report.style import PLAIN
from gitops.rollout.approval import approval_of, approved
from tests.report.rollouts import NOON, SUCCEEDED, desired_of, live_shoot, overlay_of

JANE = Suspension("jane", NOON, "disks are failing")
NIGHT = parse_window("0 22 * * *", timedelta(hours=4), "UTC")


def drifted(*, confined: bool = False) -> Outlook:
    """Two shoots that need approval, two that need a window, one that needs nothing, and all of them drifted."""
    overlay = overlay_of(["asked", "timed", "free"])
    asked, timed, free = overlay.waves
    waves = (replace(asked, approval=ApprovalRule.REQUIRED), replace(timed, windows=(NIGHT,)), free)
    desired = desired_of(replace(overlay, waves=waves), {"asked": 2, "timed": 2, "free": 1})
    live = {target: live_shoot(shoot, SUCCEEDED, "evaluation") for target, shoot in desired.shoots.items()}
    if confined:
        window = {"begin": "120000+0000", "end": "130000+0000"}
        live["garden-local/timed-00"]["spec"]["maintenance"] = {"confineSpecUpdateRollout": True, "timeWindow": window}
    seen = {target: Observed(shoot, NOON, Unobserved("nobody looked inside")) for target, shoot in live.items()}
    return Outlook(desired, seen, NO_REGISTRATIONS)


def look(outlook: Outlook, control: Control = NOTHING_ASKED, now: datetime = NOON) -> tuple[Controlled, OverlayStatus]:
    plan = make_plan(outlook.desired, outlook.shoots).plan
    found = controlled(plan, outlook, control, control.hold, now)
    return found, replace(overlay_status(outlook.desired, outlook.shoots, plan, None), control=found)


def next_of(status: OverlayStatus, shoot: str) -> dict[str, Any]:
    document = json.loads(json.dumps(status_document(status)))
    found: dict[str, Any] = next(s["next"] for s in document["shoots"] if s["shoot"] == f"garden-local/{shoot}")
    return found


def test_every_shoot_says_what_happens_next_and_when_and_what_to_type() -> None:
    found, status = look(drifted())

    command = f"gitops approve dev --digest {found.digest}"
    assert next_of(status, "asked-00") == {"message": "nothing: waits for approval", "at": None, "command": command}
    timed = next_of(status, "timed-01")
    assert (timed["at"], timed["command"]) == ("2026-11-30T22:00:00Z", None)
    assert "0 22 * * * for 4h (UTC)" in timed["message"]
    assert next_of(status, "free") == {"message": "the Shoot is to be patched", "at": None, "command": None}


def test_what_is_waited_for_is_told_above_the_table() -> None:
    found, status = look(drifted())

    text = status_text(status, PLAIN)
    assert f"2 shoots not written before an approval: `gitops approve dev --digest {found.digest}`\n" in text
    assert "2 shoots not written before a window opens: the next one at 2026-11-30T22:00:00Z.\n" in text


def test_time_that_passes_changes_no_digest_and_neither_does_what_people_ask() -> None:
    outlook = drifted()
    before, _ = look(outlook)
    suspended = Control(JANE, {"garden-local/free": JANE}, hold=Hold("1" * 40, "2" * 40, "jane", NOON))

    assert look(outlook, now=NOON + timedelta(hours=11))[0].digest == before.digest
    assert look(outlook, suspended)[0].digest == before.digest


def test_an_approval_and_an_open_window_let_everybody_go_on() -> None:
    outlook = drifted()
    plan = make_plan(outlook.desired, outlook.shoots).plan
    control = approved(NOTHING_ASKED, approval_of(plan, digest(plan), outlook, "jane", NOON), outlook)

    found, _ = look(outlook, control, NOON + timedelta(hours=11))

    assert found.held == {}
    assert control_lines(found) == []
    document = control_document(found)
    assert document == {"suspended": None, "rollback": None, "approval": None, "nextWindow": None, "held": []}


def test_a_suspended_overlay_has_one_way_on() -> None:
    found, status = look(drifted(), Control(JANE))

    expected = "gitops resume dev"
    assert {next_of(status, name)["command"] for name in ("asked-00", "timed-00", "free")} == {expected}
    assert next_of(status, "timed-00")["at"] is None
    assert control_lines(found)[0] == (
        "Suspended by jane since 2026-11-30T12:00:00Z: disks are failing. `gitops resume dev` lets it go on."
    )


def test_a_suspended_shoot_is_loud_though_nothing_is_to_be_done() -> None:
    found, status = look(drifted(), Control(shoots={"garden-local/free": JANE}))

    assert next_of(status, "free")["command"] == "gitops resume dev garden-local/free"
    assert "1 shoot suspended, and left out of every run." in control_lines(found)
    assert "suspended by jane" in status_text(status, PLAIN)


def test_a_rollback_says_until_when() -> None:
    found, _ = look(drifted(), Control(hold=Hold("1" * 40, "2" * 40, "jane", NOON)))

    (line, *_) = control_lines(found)
    assert line.startswith("Until git moves on, or `gitops resume dev`, revision 222222222222 holds instead of 1111")
    rollback = {"from": "1" * 40, "to": "2" * 40, "by": "jane", "at": "2026-11-30T12:00:00Z"}
    assert control_document(found)["rollback"] == rollback


def test_windows_that_never_meet_are_a_problem() -> None:
    found, _ = look(drifted(confined=True))

    (line,) = [line for line in control_lines(found) if line.startswith("Problem: ")]
    assert "garden-local/timed-00 would wait for ever" in line
    assert "12:00-12:45 UTC" in line
    assert [held["until"] for held in control_document(found)["held"] if held["by"] == "window"] == [
        None,
        "2026-11-30T22:00:00Z",
    ]


def test_a_name_from_outside_is_shown_harmless() -> None:
    found, _ = look(drifted(), Control(Suspension("jane\x1b[2J", NOON, "two\nlines")))

    assert "jane\\x1b[2J" in control_lines(found)[0]
    assert "two\\nlines" in control_lines(found)[0]


def test_once_something_was_written_no_digest_is_named_that_would_be_refused() -> None:
    found, _ = look(drifted())

    after = found.after_writes({"garden-local/asked-00"})

    assert control_lines(after)[0] == (
        "1 shoot not written before an approval: `gitops approve dev --digest sha256:…` with the digest that "
        "`gitops plan dev` shows"
    )
    assert after.command("garden-local/asked-01") == "gitops plan dev"
    assert after.command("garden-local/asked-00") == ""
