from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from hypothesis import given

from gitops.manifest import Element
from gitops.ownership.merge import ABSENT
from gitops.plan.changes import Action, Change, FieldChange, Plan, ShootPlan, WavePlan
from gitops.plan.masking import MASK
from gitops.report.plan_diff import diff_files, plan_diff
from gitops.report.style import PLAIN, Colour, Style
from tests.report.approval import approve
from tests.report.plans import PLANS, example_plan, policy_ref


def plan_of(action: Action, *fields: FieldChange) -> Plan:
    """A plan in which one object changes."""
    change = Change(policy_ref("garden-a/s"), action, fields)
    return Plan("dev", "0" * 40, (WavePlan("canary", (ShootPlan("garden-a/s", (change,)),)),))


def documents(plan: Plan) -> list[tuple[Any, Any]]:
    """The two files of every object, read again."""
    return [(yaml.safe_load(pair.live), yaml.safe_load(pair.desired)) for pair in diff_files(plan)]


def test_a_plan_is_a_unified_diff_as_approved() -> None:
    canary = replace(example_plan(), waves=example_plan().waves[:1])

    approve("plan.diff", plan_diff(canary, PLAIN))


def test_colours_only_repeat_what_the_plain_diff_says() -> None:
    coloured = plan_diff(example_plan(), Style(colour=Colour.ANSI))

    assert coloured != click.unstyle(coloured)
    assert click.unstyle(coloured) == plan_diff(example_plan(), PLAIN)


def test_files_hold_what_changes_at_its_place() -> None:
    element = ("spec", "workers", Element("name", "w1"))
    plan = plan_of(
        Action.CONFIGURED,
        FieldChange((*element, "max"), 3, 5, ""),
        FieldChange((*element, "min"), ABSENT, 1, ""),
        FieldChange(("spec", "workers", Element("name", "w2")), {"name": "w2", "max": 1}, ABSENT, ""),
        FieldChange(("spec", "kept"), 1, 2, "", ignored="ignored by the overlay"),
    )

    [(live, desired)] = documents(plan)

    head = {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": "default", "namespace": "kube-system"},
    }
    assert live == {**head, "spec": {"workers": [{"name": "w1", "max": 3}, {"name": "w2", "max": 1}]}}
    assert desired == {**head, "spec": {"workers": [{"name": "w1", "max": 5, "min": 1}]}}


@pytest.mark.parametrize(
    ("action", "side"), [(Action.CREATED, "live"), (Action.PRUNED, "desired")], ids=["created", "pruned"]
)
def test_an_object_that_comes_or_goes_is_an_empty_file_on_one_side(action: Action, side: str) -> None:
    [pair] = diff_files(plan_of(action, FieldChange(("spec",), ABSENT, {"a": 1}, "")))

    assert (pair.live == "", pair.desired == "") == (side == "live", side == "desired")


@pytest.mark.parametrize("action", [Action.UNCHANGED, Action.DEFERRED, Action.SKIPPED])
def test_what_is_not_written_is_no_difference(action: Action) -> None:
    plan = plan_of(action, FieldChange(("spec",), 1, 2, ""))

    assert diff_files(plan) == []
    assert plan_diff(plan, PLAIN) == ""


def test_a_secret_that_changes_is_a_difference_and_is_not_shown() -> None:
    text = plan_diff(plan_of(Action.CONFIGURED, FieldChange(("data",), {"k": MASK}, {"k": MASK}, "")), PLAIN)

    assert "-  k: (sensitive) before\n+  k: (sensitive) after\n" in text


def test_the_files_give_the_same_diff_to_another_program(tmp_path: Path) -> None:
    for side in ("live", "desired"):
        (tmp_path / side).mkdir()
    for pair in diff_files(example_plan()):
        (tmp_path / "live" / pair.name).write_text(pair.live)
        (tmp_path / "desired" / pair.name).write_text(pair.desired)

    command = ["git", "diff", "--no-index", "--no-color", "--diff-algorithm=myers", "live", "desired"]
    peer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    assert peer.count("diff --git") == len(diff_files(example_plan()))
    assert _changed(peer) == _changed(plan_diff(example_plan(), PLAIN))


def _changed(diff: str) -> list[str]:
    lines = (line for line in diff.splitlines() if line[:1] in {"+", "-"})
    return sorted(line for line in lines if not line.startswith(("---", "+++")))


@given(plan=PLANS)
def test_any_plan_gives_harmless_files_with_names_of_their_own(plan: Plan) -> None:
    pairs = diff_files(plan)

    assert len({pair.name for pair in pairs}) == len({pair.ref for pair in pairs})
    assert all(pair.name not in {"", ".", ".."} and "/" not in pair.name and len(pair.name) < 250 for pair in pairs)
    assert all(line.isprintable() for pair in pairs for line in f"{pair.live}{pair.desired}".split("\n"))
    assert all(line.isprintable() for line in plan_diff(plan, PLAIN).split("\n"))
