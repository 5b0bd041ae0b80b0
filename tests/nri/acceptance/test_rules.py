"""Each rule, on both sides of its edge; what the plugin itself says is asked by the differential test."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.nri.acceptance.check import Acceptance, Verdict, check
from gitops.nri.acceptance.machine import Machine, parse_machine
from gitops.nri.acceptance.table import BALLOONS
from gitops.nri.schema.fields import fields_of

_MACHINE = Machine(packages=1, nodes=1, cores=4, threads=2)


def _check(machine: Machine | None = _MACHINE, **spec: Any) -> Acceptance:
    return check({"kind": "BalloonsPolicy", "spec": {"reservedResources": {"cpu": "1"}, **spec}}, machine)


def _type(**fields: Any) -> dict[str, Any]:
    return {"balloonTypes": [{"name": "fast", **fields}]}


def _expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return _type(matchExpressions=[{"key": key, "operator": operator, "values": list(values)}])


def _class(**fields: Any) -> dict[str, Any]:
    return {"cpuClasses": [{"name": "turbo", **fields}]}


def _composite(**fields: Any) -> dict[str, Any]:
    return {"balloonTypes": [{"name": "part"}, {"name": "all", "components": [{"balloonType": "part"}], **fields}]}


_SIDES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "undecodable-value": (_type(minCPUs="2"), _type(minCPUs=2), "balloonTypes.0.minCPUs"),
    "expression-operator-unknown": (
        _expression("name", "NotExists"),
        _expression("name", "NotExist"),
        "balloonTypes.0.matchExpressions.0.operator",
    ),
    "expression-values": (
        _expression("name", "Equals", "a", "b"),
        _expression("name", "In", "a", "b"),
        "balloonTypes.0.matchExpressions.0.values",
    ),
    "expression-key-unknown": (
        _expression("image", "Exists"),
        _expression("pod/labels/image", "Exists"),
        "balloonTypes.0.matchExpressions.0.key",
    ),
    "expression-key-trailing": (
        _expression("name/x", "Exists"),
        _expression("labels/name/x", "Exists"),
        "balloonTypes.0.matchExpressions.0.key",
    ),
    "expression-key-missing": (
        _expression(":name:pod/labels", "Exists"),
        _expression(":name:pod/labels/app", "Exists"),
        "balloonTypes.0.matchExpressions.0.key",
    ),
    "metrics-exporter-conflict": (
        {"instrumentation": {"prometheusExport": True, "metricsExporter": "otlp-http"}},
        {"instrumentation": {"prometheusExport": True, "metricsExporter": "prometheus"}},
        "instrumentation.metricsExporter",
    ),
    "available-cpuset-malformed": (
        {"availableResources": {"cpu": "cpuset:3-1"}},
        {"availableResources": {"cpu": "cpuset:1-3"}},
        "availableResources.cpu",
    ),
    "available-quantity": (
        {"availableResources": {"cpu": "0-3"}},
        {"availableResources": {"cpu": "exclude-cpuset:0-3"}},
        "availableResources.cpu",
    ),
    "interrupt-glob-malformed": (
        {"controllableInterrupts": ["*", "[a-"]},
        {"controllableInterrupts": ["*", "[a-c]"]},
        "controllableInterrupts.1",
    ),
    "reserved-cpuset-malformed": (
        {"reservedResources": {"cpu": "cpuset:0,"}},
        {"reservedResources": {"cpu": "cpuset:0"}},
        "reservedResources.cpu",
    ),
    "reserved-quantity-malformed": (
        {"reservedResources": {"cpu": "0-1"}},
        {"reservedResources": {"cpu": "750m"}},
        "reservedResources.cpu",
    ),
    "reserved-max-cpus": (
        {"reservedResources": {"cpu": "1500m"}, "balloonTypes": [{"name": "reserved", "maxCPUs": 1}]},
        {"reservedResources": {"cpu": "1500m"}, "balloonTypes": [{"name": "reserved", "maxCPUs": 2}]},
        "balloonTypes.0.maxCPUs",
    ),
    "reserved-min-cpus": (
        {"reservedResources": {"cpu": "1500m"}, "balloonTypes": [{"name": "reserved", "minCPUs": 1}]},
        {"reservedResources": {"cpu": "1500m"}, "balloonTypes": [{"name": "reserved", "minCPUs": 2}]},
        "balloonTypes.0.minCPUs",
    ),
    "reserved-outside-available": (
        {"reservedResources": {"cpu": "cpuset:0"}, "availableResources": {"cpu": "cpuset:1-7"}},
        {"reservedResources": {"cpu": "cpuset:1"}, "availableResources": {"cpu": "cpuset:1-7"}},
        "reservedResources.cpu",
    ),
    "type-name-missing": (_type(name=""), _type(), "balloonTypes.0.name"),
    "type-name-duplicate": (
        {"balloonTypes": [{"name": "a"}, {"name": "a"}]},
        {"balloonTypes": [{"name": "a"}, {"name": "b"}]},
        "balloonTypes.1.name",
    ),
    "type-min-cpus": (_type(maxCPUs=-1), _type(minCPUs=2, maxCPUs=0), "balloonTypes.0.maxCPUs"),
    "type-min-balloons": (
        _type(minBalloons=2, maxBalloons=1),
        _type(minBalloons=2, maxBalloons=0),
        "balloonTypes.0.maxBalloons",
    ),
    "memory-type-unknown": (_type(memoryTypes=["CXL"]), _type(memoryTypes=["hbm"]), "balloonTypes.0.memoryTypes.0"),
    "composite-cpu-class": (_composite(cpuClass="turbo"), _composite(cpuClass=""), "balloonTypes.1.cpuClass"),
    "composite-allocation-option": (
        _composite(preferSpreadOnPhysicalCores=False),
        _composite(preferIsolCpus=False),
        "balloonTypes.1.preferSpreadOnPhysicalCores",
    ),
    "component-creation-alone": (
        _type(componentCreation="all"),
        _composite(componentCreation="all"),
        "balloonTypes.0.componentCreation",
    ),
    "component-creation-unknown": (
        _composite(componentCreation="some"),
        _composite(componentCreation="balance-balloons"),
        "balloonTypes.1.componentCreation",
    ),
    "load-class-name-missing": (
        {"loadClasses": [{"name": "", "level": "core"}]},
        {"loadClasses": [{"name": "avx", "level": "core"}]},
        "loadClasses.0.name",
    ),
    "load-class-level-missing": (
        {"loadClasses": [{"name": "avx"}]},
        {"loadClasses": [{"name": "avx", "level": "l2cache"}]},
        "loadClasses.0.level",
    ),
    "load-undefined": (
        {"loadClasses": [{"name": "avx", "level": "core"}], **_type(loads=["mem"])},
        {"loadClasses": [{"name": "avx", "level": "core"}], **_type(loads=["avx"])},
        "balloonTypes.0.loads.0",
    ),
    "scheduling-class-undefined": (
        {"schedulingClasses": [{"name": "rt"}], **_type(schedulingClass="fifo")},
        {"schedulingClasses": [{"name": "rt"}], **_type(schedulingClass="rt")},
        "balloonTypes.0.schedulingClass",
    ),
    "cpu-class-name-missing": (_class(name=""), _class(), "cpuClasses.0.name"),
    "cpu-class-deprecated-name-missing": (
        {"control": {"cpu": {"classes": {"": {}}}}},
        {"control": {"cpu": {"classes": {"slow": {}}}}},
        "control.cpu.classes.",
    ),
    "cpu-class-name-duplicate": (
        {"cpuClasses": [{"name": "a"}, {"name": "a"}]},
        {"cpuClasses": [{"name": "a"}, {"name": "b"}]},
        "cpuClasses.1.name",
    ),
    "pct-priority-and-clos": (_class(pctPriority="high", sstClosID=0), _class(), "cpuClasses.0.sstClosID"),
    "pct-priority-unknown": (_class(pctPriority="medium"), _class(pctPriority=""), "cpuClasses.0.pctPriority"),
    "pct-clos-negative": (_class(sstClosID=-1), _class(sstClosID=None), "cpuClasses.0.sstClosID"),
    "pct-frequency-alone": (_class(pctMinFreq="1GHz"), _class(pctMinFreq="0"), "cpuClasses.0.pctMinFreq"),
    "pct-publish-alone": (
        _class(publishExtendedResource=True),
        _class(publishExtendedResource=False),
        "cpuClasses.0.publishExtendedResource",
    ),
    "pct-modes-mixed": (
        {"cpuClasses": [{"name": "a", "pctPriority": "high"}, {"name": "b", "sstClosID": 1}]},
        {"cpuClasses": [{"name": "a"}, {"name": "b"}]},
        "cpuClasses.1.sstClosID",
    ),
    "pct-priority-twice": (
        {"cpuClasses": [{"name": "a", "pctPriority": "low"}, {"name": "b", "pctPriority": "low"}]},
        {"cpuClasses": [{"name": "a"}, {"name": "b"}]},
        "cpuClasses.1.pctPriority",
    ),
    "component-name-missing": (
        _composite(components=[{"balloonType": "part"}, {}]),
        _composite(components=[{"balloonType": "part"}]),
        "balloonTypes.1.components.1.balloonType",
    ),
    "component-undefined": (
        _composite(components=[{"balloonType": "elsewhere"}]),
        _composite(components=[{"balloonType": "default"}]),
        "balloonTypes.1.components.0.balloonType",
    ),
    "component-circular": (
        _composite(components=[{"balloonType": "all"}]),
        _composite(components=[{"balloonType": "part"}, {"balloonType": "part"}]),
        "balloonTypes.1.components",
    ),
    "turbo-domain-unknown": ({"turboDomain": "die"}, {"turboDomain": "system"}, "turboDomain"),
    "not-enough-cpus": (_type(minBalloons=2, minCPUs=4), _type(minBalloons=2, minCPUs=3), "reservedResources.cpu"),
    "uncore-driver": (_class(uncoreMaxFreq="2GHz"), _class(uncoreMaxFreq="0"), "cpuClasses.0.uncoreMaxFreq"),
    "speed-select": (_class(sstClosID=0), _class(), "cpuClasses.0.sstClosID"),
    "cache-allocation": ({"control": {"rdt": {"enable": True}}}, {"control": {"rdt": {}}}, "control.rdt.enable"),
    "interrupt-claim": (
        {"controllableInterrupts": ["nvme*"], **_type(irqClaim=["eth*"])},
        {"controllableInterrupts": ["nvme*"], **_type(irqClaim=["nvme*"])},
        "balloonTypes.0.irqClaim.0",
    ),
}


def test_every_rule_is_shown_on_both_sides() -> None:
    assert set(_SIDES) == set(BALLOONS.names)


@pytest.mark.parametrize("rule", BALLOONS.names)
def test_a_rule_names_itself_the_place_and_a_way_out(rule: str) -> None:
    wrong, _, place = _SIDES[rule]
    found = _check(**wrong)

    assert found.verdict is (Verdict.UNKNOWN if rule in BALLOONS.unknowable else Verdict.REFUSED)
    assert [finding.rule for finding in found.findings] == [rule]
    assert ".".join(str(step) for step in found.findings[0].at[1:]) == place
    assert found.findings[0].message
    assert found.findings[0].hint


@pytest.mark.parametrize("rule", BALLOONS.names)
def test_a_rule_lets_its_neighbour_pass(rule: str) -> None:
    assert _check(**_SIDES[rule][1]) == Acceptance(Verdict.ACCEPTED)


def test_a_certain_refusal_outweighs_what_cannot_be_known() -> None:
    assert _check(**_class(uncoreMinFreq="1GHz"), turboDomain="die").verdict is Verdict.REFUSED


def test_the_refusal_for_want_of_cpus_says_who_has_them() -> None:
    refusal = _check(**_type(minBalloons=2, minCPUs=4)).findings[0]

    assert refusal.message == (
        "the balloon type 'reserved' starts with 1 balloon of 1 CPU: one of 'reserved' needs 1 CPU and 0 are free "
        "(taken before: fast 8)"
    )


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        pytest.param(_type(minBalloons=100, minCPUs=100), Verdict.ACCEPTED, id="some machine has that many CPUs"),
        pytest.param({"reservedResources": {"cpu": "cpuset:999"}}, Verdict.ACCEPTED, id="some machine has that CPU"),
        pytest.param(
            {"reservedResources": {"cpu": "cpuset:5"}, "availableResources": {"cpu": "cpuset:0-4"}},
            Verdict.REFUSED,
            id="no machine makes the sets agree",
        ),
        pytest.param(
            {"availableResources": {"cpu": "cpuset:0-3"}, **_type(minBalloons=2, minCPUs=2)},
            Verdict.REFUSED,
            id="no machine makes four CPUs five",
        ),
    ],
)
def test_without_a_machine_only_what_is_true_of_all_machines_is_said(spec: dict[str, Any], verdict: Verdict) -> None:
    assert _check(None, **spec).verdict is verdict


def test_many_balloons_cost_no_time() -> None:
    assert _check(**_type(minBalloons=10**9, minCPUs=1)).verdict is Verdict.REFUSED
    assert _check(**_type(minBalloons=10**9)).verdict is Verdict.ACCEPTED


def test_a_range_of_billions_of_cpus_costs_no_memory() -> None:
    assert _check(availableResources={"cpu": "cpuset:0-9223372036854775807"}).verdict is Verdict.ACCEPTED


_FIELD_NAMES = sorted(
    {
        key
        for field in ("balloonTypes", "cpuClasses")
        for key in fields_of("BalloonsPolicy").children[field].children["[]"].children
    }
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELD_NAMES) | st.text(max_size=3), inner)
    ),
    max_leaves=10,
)


@given(st.none() | st.dictionaries(st.sampled_from(sorted(fields_of("BalloonsPolicy").children)), _JSON) | _JSON)
def test_nothing_that_json_can_say_breaks_the_check(spec: Any) -> None:
    check({"kind": "BalloonsPolicy", "spec": spec}, _MACHINE)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("2x2x8x2", Machine(2, 2, 8, 2)),
        ("1x1x4x1:64Gi", Machine(1, 1, 4, 1, memory=64 * 2**30)),
    ],
)
def test_a_machine_is_written_as_its_shape(text: str, machine: Machine) -> None:
    assert parse_machine(text) == machine


@pytest.mark.parametrize("text", ["", "2x2x8", "0x1x1x1", "2x2x8x2:", "2x2x8x2:lots", "2x2x8x2x1", "-1x1x1x1"])
def test_what_is_not_a_machine_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is not a machine such as 2x2x8x2"):
        parse_machine(text)
