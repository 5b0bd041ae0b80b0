from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from gitops.desired.compose import DesiredShoot, Origin
from gitops.manifest import Manifest, Target
from gitops.plan.observed import Observed, Unobserved
from gitops.plan.planning import make_plan
from gitops.report.standing import Standing
from gitops.report.status import OverlayStatus, ShootStatus, overlay_status, status_document
from gitops.report.status_text import status_text
from gitops.report.style import PLAIN, Detail, Style
from tests.report.approval import approve
from tests.report.plans import REVISION, policy_ref
from tests.report.rollouts import NOON, SUCCEEDED, desired_of, live_shoot, operation, overlay_of

LAST: dict[str, Any] = {
    "revision": "0" * 40,
    "outcome": "Stopped",
    "finished": "2026-11-29T10:00:00Z",
    "waves": [
        {
            "name": "fleet",
            "outcome": "Stopped",
            "shoots": [
                {"shoot": "garden-local/fleet-00", "outcome": "Converged", "writes": 1, "message": ""},
                {"shoot": "garden-local/fleet-03", "outcome": "Failed", "writes": 1, "message": "no"},
            ],
        }
    ],
}


def example_status(last: dict[str, Any] | None) -> OverlayStatus:
    """A wave in which every shoot stands somewhere else."""
    desired = desired_of(overlay_of(["fleet"]), {"fleet": 7})
    well, drifted, busy, failed, absent, new, unlooked = desired.shoots.values()
    unlooked = _holding_a_policy(unlooked)
    desired = replace(desired, shoots={**desired.shoots, unlooked.target: unlooked})
    live: dict[Target, Manifest | None] = {
        well.target: live_shoot(well, SUCCEEDED),
        drifted.target: live_shoot(drifted, SUCCEEDED, "evaluation"),
        busy.target: live_shoot(busy, operation("Processing", 42)),
        failed.target: live_shoot(failed, operation("Failed", 42, "quota\nexceeded")),
        absent.target: None,
        new.target: live_shoot(new, {}),
        unlooked.target: live_shoot(unlooked, SUCCEEDED),
    }
    observed = {target: Observed(shoot, NOON, Unobserved("nobody looked inside")) for target, shoot in live.items()}
    return overlay_status(desired, observed, make_plan(desired, observed).plan, last)


def _holding_a_policy(shoot: DesiredShoot) -> DesiredShoot:
    ref = policy_ref(shoot.target)
    metadata = {"name": ref.name, "namespace": ref.namespace}
    manifest = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata}
    return replace(shoot, objects={ref: manifest}, origins={**shoot.origins, ref: Origin("policies/default.yaml", 1)})


def test_every_shoot_stands_somewhere() -> None:
    found = [(s.shoot[-2:], s.in_sync, s.standing.value, s.last_outcome) for s in example_status(LAST).shoots]

    assert found == [
        ("00", True, "Current", "Converged"),
        ("01", False, "Pending", None),
        ("02", True, "InProgress", None),
        ("03", True, "Failed", "Failed"),
        ("04", False, "Failed", None),
        ("05", True, "InProgress", None),
        ("06", None, "Unknown", None),
    ]


def test_a_status_reads_as_approved() -> None:
    approve("status.txt", status_text(example_status(LAST), PLAIN))


def test_a_status_is_json_by_contract() -> None:
    document = json.loads(json.dumps(status_document(example_status(LAST))))

    assert {key: document[key] for key in ("apiVersion", "kind", "overlay", "revision")} == {
        "apiVersion": "shoot-gitops/v1alpha1",
        "kind": "Status",
        "overlay": "dev",
        "revision": REVISION,
    }
    assert document["shoots"][1] == {
        "shoot": "garden-local/fleet-01",
        "wave": "fleet",
        "inSync": False,
        "verdict": "Pending",
        "message": "the Shoot is to be patched",
        "lastOutcome": None,
    }
    assert document["lastRun"]["outcome"] == "Stopped"


def test_an_overlay_that_never_ran_has_no_last_outcomes() -> None:
    status = example_status(None)

    assert {shoot.last_outcome for shoot in status.shoots} == {None}
    assert status_document(status)["lastRun"] is None
    assert status_text(status, PLAIN).startswith("Overlay dev at 1a2b3c4d5e6f; never reconciled.\n")


def test_shoots_that_an_abridged_record_left_out_had_converged() -> None:
    last = {**LAST, "waves": [{**LAST["waves"][0], "abridged": True}]}

    assert example_status(last).shoots[1].last_outcome == "Converged"


def test_of_many_shoots_those_that_are_well_are_counted() -> None:
    well = tuple(ShootStatus(f"a/s-{n}", "fleet", True, Standing.CURRENT, "", "Converged") for n in range(4999))  # noqa: FBT003 - a field's value
    bad = ShootStatus("a/bad", "fleet", None, Standing.UNKNOWN, "connection refused\nCurrent", None)
    status = OverlayStatus("dev", REVISION, (*well, bad), None)

    text = status_text(status, PLAIN)

    assert "a/s-17" not in text
    assert "a/bad" in text
    assert "4999 shoots in sync and current not shown." in text
    assert text.splitlines()[-1] == "4999 of 5000 shoots in sync: 4999 Current, 1 Unknown."
    assert "a/s-17" in status_text(status, Style(detail=Detail.EVERYTHING))
