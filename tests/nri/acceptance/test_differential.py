"""Our verdicts against the real plugin's, for thousands of generated policies and machines.

`ACCEPTANCE_PAIRS=20000 pytest -s` asks for more of them; the table of rules is printed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest

from gitops.nri.acceptance.check import Acceptance, Verdict, check
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.table import BALLOONS, TOPOLOGY_AWARE
from tests.nri.acceptance import topology_aware
from tests.nri.acceptance.generator import Case, generate
from tests.nri.acceptance.odd_texts import ODD_TEXTS
from tests.nri.oracle import Answer, ask

pytestmark = pytest.mark.oracle("tests/nri/oracle")

_PAIRS = int(os.environ.get("ACCEPTANCE_PAIRS", "1000"))
_BATCH = 500

_DECIDED_ELSEWHERE = {"metrics-exporter-conflict"}
"""The resource manager refuses it before any policy is asked."""


@dataclass
class _Coverage:
    """How often each rule was met, in both directions."""

    refused: Counter[str] = field(default_factory=Counter)
    """We named the rule, and the plugin refused; for what cannot be known, we named it."""
    passed: Counter[str] = field(default_factory=Counter)
    """The policy was brought to the rule's edge, and both accepted it."""

    def count(self, case: Case, ours: Acceptance) -> None:
        self.refused.update({finding.rule for finding in ours.findings})
        if ours.verdict is Verdict.ACCEPTED:
            self.passed.update(case.edges)

    def __str__(self) -> str:
        rows = (f"{rule:34}{self.refused[rule]:>9}{self.passed[rule]:>9}" for rule in BALLOONS.names)
        return "\n".join((f"{'rule':34}{'refused':>9}{'passed':>9}", *rows))


@pytest.mark.timeout(3600)
def test_the_plugin_never_disagrees_where_we_claim_to_know() -> None:
    coverage, verdicts, disagreements = _Coverage(), Counter[tuple[str, bool]](), list[str]()
    for first in range(0, _PAIRS, _BATCH):
        cases = [
            generate(Random(f"policies {number}"))  # noqa: S311 - the same cases every time
            for number in range(first, min(first + _BATCH, _PAIRS))
        ]
        answers = ask((case.spec, case.machine) for case in cases)
        for case, theirs in zip(cases, answers, strict=True):
            ours = check({"kind": "BalloonsPolicy", "spec": case.spec}, case.machine)
            coverage.count(case, ours)
            verdicts[ours.verdict.value, theirs.accepted] += 1
            if _disagree(ours, theirs):
                disagreements.append(f"{case}\n  we: {ours}\n  they: {theirs}")
    sys.stdout.write(f"\n{_PAIRS} pairs: {dict(verdicts)}\n{coverage}\n")

    assert not disagreements, "\n".join(disagreements[:5])
    asked = [rule for rule in BALLOONS.names if rule not in _DECIDED_ELSEWHERE]
    assert {rule: (coverage.refused[rule] > 0, coverage.passed[rule] > 0) for rule in asked} == dict.fromkeys(
        asked, (True, True)
    )


@pytest.mark.parametrize("what", ODD_TEXTS)
def test_the_plugin_reads_odd_texts_as_we_do(what: str) -> None:
    cases = [ODD_TEXTS[what](Random(f"{what} {number}")) for number in range(_PAIRS // 10)]  # noqa: S311
    machine = Machine(packages=1, nodes=1, cores=4, threads=1)
    answers = ask((spec, machine) for spec in cases)

    checked = [check({"kind": "BalloonsPolicy", "spec": spec}, machine) for spec in cases]
    assert [
        f"{spec}: we say {ours.verdict.value}, the plugin {theirs}"
        for spec, ours, theirs in zip(cases, checked, answers, strict=True)
        if _disagree(ours, theirs)
    ] == []
    assert len({answer.accepted for answer in answers}) == 2, "none of them was odd, or all were too odd"


def test_the_topology_aware_plugin_never_disagrees_either() -> None:
    cases = [topology_aware.generate(Random(f"topology {number}")) for number in range(_PAIRS // 2)]  # noqa: S311
    answers = ask(cases, "TopologyAwarePolicy")

    checked = [check({"kind": "TopologyAwarePolicy", "spec": spec}, machine) for spec, machine in cases]
    assert [
        f"{case}: we say {ours}, the plugin {theirs}"
        for case, ours, theirs in zip(cases, checked, answers, strict=True)
        if _disagree(ours, theirs)
    ] == []
    met = {finding.rule for ours in checked for finding in ours.findings}
    own = {"qos-class-unknown", "shared-cpu-class-missing", "cpu-class-undefined", *TOPOLOGY_AWARE.on_machine}
    assert own | {"reserved-missing", "scheduling-class-undefined"} <= met
    assert sum(answer.accepted for answer in answers) > _PAIRS // 20


def _disagree(ours: Acceptance, theirs: Answer) -> bool:
    return ours.verdict is not Verdict.UNKNOWN and (ours.verdict is Verdict.ACCEPTED) is not theirs.accepted
