"""JSON by contract."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_the_plan(gitops: Run) -> None:
    plan = json.loads(gitops("plan", "--sandbox", "-o", "json").stdout)

    assert plan["apiVersion"] == "shoot-gitops/v1alpha1"
    assert (plan["kind"], plan["overlay"], len(plan["revision"])) == ("Plan", "dev", 40)
    assert plan["digest"].startswith("sha256:")
    assert set(plan["summary"]) == {"created", "configured", "pruned", "unchanged", "deferred", "skipped"}
    assert [wave["name"] for wave in plan["waves"]] == ["canary", "fleet"]
    (shoot,) = plan["waves"][0]["shoots"]
    assert shoot["shoot"] == "garden-dev/one"
    change = shoot["changes"][0]
    assert set(change) >= {"target", "apiVersion", "kind", "namespace", "name", "action", "cost", "reason", "fields"}
    assert (change["target"], change["kind"], change["action"], change["cost"]) == (
        "garden",
        "Shoot",
        "configured",
        "none",
    )
    assert set(change["fields"][0]) >= {"path", "live", "desired", "manager"}
    assert shoot["changes"][1]["target"] == "garden-dev/one"


def test_status_and_history_of_an_overlay_that_never_ran(gitops: Run) -> None:
    status = json.loads(gitops("status", "--sandbox", "-o", "json").stdout)

    assert status["kind"] == "Status"
    assert [(shoot["shoot"], shoot["wave"], shoot["inSync"]) for shoot in status["shoots"]] == [
        ("garden-dev/one", "canary", False),
        ("garden-dev/two", "fleet", False),
    ]


def test_the_plan_as_markdown_fits_a_comment(gitops: Run) -> None:
    text = gitops("plan", "--sandbox", "-o", "markdown").stdout

    assert text.startswith("###")
    assert "<details>" in text
