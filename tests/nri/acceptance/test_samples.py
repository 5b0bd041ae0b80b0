"""Policies from the field, on four machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops.nri.acceptance.check import Verdict, check
from gitops.nri.acceptance.machine import parse_machine
from tests.nri.oracle import ask

pytestmark = pytest.mark.oracle("tests/nri/oracle")

_SAMPLES = sorted((Path(__file__).parents[2] / "data" / "samples" / "balloons").glob("*.yaml"))
_MACHINES = [parse_machine(text) for text in ("1x1x2x1:4Gi", "1x1x4x2:32Gi", "2x2x2x2:64Gi", "2x2x8x2:256Gi")]


def _policy(path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load(path.read_text())
    return manifest


def test_every_sample_gets_the_verdict_of_the_plugin() -> None:
    pairs = [(path, _policy(path), machine) for path in _SAMPLES for machine in _MACHINES]
    answers = ask((policy["spec"], machine) for _, policy, machine in pairs)
    wrong = []
    for (path, policy, machine), theirs in zip(pairs, answers, strict=True):
        ours = check(policy, machine)
        if ours.verdict is not Verdict.UNKNOWN and (ours.verdict is Verdict.ACCEPTED) is not theirs.accepted:
            wrong.append(f"{path.name} on {machine}\n  we: {ours}\n  they: {theirs}")

    assert len(_SAMPLES) == 62
    assert not wrong, "\n".join(wrong)


def test_only_samples_that_touch_hardware_leave_us_in_doubt() -> None:
    doubts = {path.name: check(_policy(path), _MACHINES[-1]) for path in _SAMPLES}
    rules = {
        name: {finding.rule for finding in found.findings}
        for name, found in doubts.items()
        if found.verdict is Verdict.UNKNOWN
    }

    assert set().union(*rules.values()) <= {"speed-select", "interrupt-claim", "cache-allocation", "uncore-driver"}
    assert len(rules) == 11


def test_the_sample_that_is_broken_on_purpose_says_what_is_broken() -> None:
    broken = next(path for path in _SAMPLES if path.name.endswith("broken-balloons-config.yaml"))

    assert [(finding.rule, finding.message) for finding in check(_policy(broken)).findings] == [
        ("type-min-cpus", "minCPUs 33 is more than maxCPUs 32 in balloon type 'dynamic'")
    ]
