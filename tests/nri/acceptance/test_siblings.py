"""TopologyAwarePolicy and TemplatePolicy, on both sides of what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.nri.acceptance.check import Acceptance, Verdict, check
from gitops.nri.acceptance.cpuset import parse_cpuset
from gitops.nri.acceptance.machine import Machine
from gitops.nri.acceptance.table import BALLOONS, TOPOLOGY_AWARE

_MACHINE = Machine(packages=1, nodes=1, cores=4, threads=1, isolated=parse_cpuset("2-3"))


def _check(kind: str = "TopologyAwarePolicy", machine: Machine | None = _MACHINE, **spec: Any) -> Acceptance:
    return check({"kind": kind, "spec": {"reservedResources": {"cpu": "1"}, **spec}}, machine)


def _classes(**others: Any) -> dict[str, Any]:
    return {"cpuClasses": [{"name": "slow"}], **others}


def _reserved(cpu: str, **others: Any) -> dict[str, Any]:
    return {"reservedResources": {"cpu": cpu}, **others}


_SIDES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "qos-class-unknown": (
        {"schedulingClasses": [{"name": "rt"}], "podQoSSchedulingClasses": {"guarantied": "rt"}},
        {"schedulingClasses": [{"name": "rt"}], "podQoSSchedulingClasses": {"GUARANTEED": "rt"}},
    ),
    "scheduling-class-undefined": (
        {"namespaceSchedulingClasses": {"kube-system": "rt"}},
        {"namespaceSchedulingClasses": {"kube-system": "rt"}, "schedulingClasses": [{"name": "rt"}]},
    ),
    "shared-cpu-class-missing": (_classes(), _classes(sharedPoolCPUClass="slow")),
    "cpu-class-undefined": (
        _classes(sharedPoolCPUClass="slow", reservedPoolCPUClass="fast"),
        _classes(sharedPoolCPUClass="slow", reservedPoolCPUClass="slow"),
    ),
    "reserved-missing": ({"reservedResources": {}}, _reserved("1")),
    "reserved-outside-available": (
        _reserved("cpuset:0", availableResources={"cpu": "cpuset:1-3"}),
        _reserved("cpuset:1", availableResources={"cpu": "cpuset:1-3"}),
    ),
    "reserved-isolated": (_reserved("cpuset:1-2"), _reserved("cpuset:2")),
    "reserved-empty": (_reserved("exclude-cpuset:0-3"), _reserved("exclude-cpuset:1-3")),
    "not-enough-cpus": (_reserved("2500m"), _reserved("2")),
}


def test_every_rule_of_its_own_is_shown() -> None:
    own = {name for name in TOPOLOGY_AWARE.names if _rule(TOPOLOGY_AWARE, name) is not _rule(BALLOONS, name)}

    assert set(_SIDES) == own | {"reserved-outside-available"}


@pytest.mark.parametrize("rule", _SIDES)
def test_a_rule_names_itself(rule: str) -> None:
    found = _check(**_SIDES[rule][0])

    assert found.verdict is Verdict.REFUSED
    assert [finding.rule for finding in found.findings] == [rule]


@pytest.mark.parametrize("rule", _SIDES)
def test_a_rule_lets_its_neighbour_pass(rule: str) -> None:
    assert _check(**_SIDES[rule][1]) == Acceptance(Verdict.ACCEPTED)


def test_without_a_machine_nothing_is_isolated_and_all_cpus_exist() -> None:
    assert _check(machine=None, **_reserved("cpuset:2-9")).verdict is Verdict.ACCEPTED


def test_speed_select_cannot_be_known_from_here() -> None:
    classes = [{"name": "fast", "pctPriority": "high"}]

    assert _check(cpuClasses=classes, sharedPoolCPUClass="fast").verdict is Verdict.UNKNOWN


def test_the_template_policy_accepts_what_it_can_read() -> None:
    assert _check("TemplatePolicy", **_reserved("cpuset:99")).verdict is Verdict.ACCEPTED
    assert _check("TemplatePolicy", reservedResources={"cpu": 1}).verdict is Verdict.REFUSED


def _rule(rules: Any, name: str) -> Any:
    return {**rules.refusing, **rules.on_machine, **rules.after, **rules.unknowable}.get(name)
