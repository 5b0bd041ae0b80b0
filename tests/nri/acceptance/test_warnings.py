from __future__ import annotations

from typing import Any

import pytest

from gitops.nri.acceptance.ignored import possible_group
from gitops.nri.acceptance.warnings import NAMES, warnings


def _warnings(name: str = "default", **spec: Any) -> list[tuple[str, str]]:
    policy = {
        "kind": "BalloonsPolicy",
        "metadata": {"name": name},
        "spec": {"reservedResources": {"cpu": "1"}, **spec},
    }
    return [(found.rule, ".".join(str(step) for step in found.at)) for found in warnings(policy)]


def _type(**fields: Any) -> dict[str, Any]:
    return {"balloonTypes": [{"name": "fast", "namespaces": ["fast"], **fields}]}


def _expression(key: str, operator: str = "Equals", *values: str) -> dict[str, Any]:
    return _type(matchExpressions=[{"key": key, "operator": operator, "values": list(values or ["x"])}])


_CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "key-ignored": (_type(MinCpus=2), _type(minCPUs=2), "spec.balloonTypes.0.MinCpus"),
    "policy-unused": ({"name": "balloons"}, {"name": "group.fast"}, "metadata.name"),
    "constraint-ignored": (
        {"availableResources": {"CPU": "cpuset:1-3"}},
        {"availableResources": {"cpu": "cpuset:1-3"}},
        "spec.availableResources.CPU",
    ),
    "cpu-class-unknown": (
        _type(cpuClass="turbo"),
        {"cpuClasses": [{"name": "turbo"}], **_type(cpuClass="turbo")},
        "spec.balloonTypes.0.cpuClass",
    ),
    "irq-mode-unknown": (_type(irqMode="Sink"), _type(irqMode="sink"), "spec.balloonTypes.0.irqMode"),
    "namespace-glob-impossible": (
        _type(namespaces=["ok", "Team-*"]),
        _type(namespaces=["ok", "team-[a-c]?*"]),
        "spec.balloonTypes.0.namespaces.1",
    ),
    "expression-key-never-found": (
        _expression("uid"),
        _expression("pod/uid"),
        "spec.balloonTypes.0.matchExpressions.0.key",
    ),
    "expression-container-label": (
        _expression("labels/app"),
        _expression("pod/labels/app"),
        "spec.balloonTypes.0.matchExpressions.0.key",
    ),
    "expression-glob-malformed": (
        _expression("name", "Matches", "[a"),
        _expression("name", "Matches", "[a]"),
        "spec.balloonTypes.0.matchExpressions.0.values.0",
    ),
    "type-unreachable": (
        {"balloonTypes": [{"name": "all", "namespaces": ["*"]}, {"name": "few", "namespaces": ["few"]}]},
        {"balloonTypes": [{"name": "few", "namespaces": ["few"]}, {"name": "all", "namespaces": ["*"]}]},
        "spec.balloonTypes.1",
    ),
    "type-by-annotation-only": (_type(namespaces=[]), _type(), "spec.balloonTypes.0"),
}


def test_every_warning_is_shown() -> None:
    assert set(_CASES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_ignored_is_told_once(name: str) -> None:
    ignored, _, place = _CASES[name]

    assert _warnings(**ignored) == [(name, place)]


@pytest.mark.parametrize("name", NAMES)
def test_what_counts_is_not_warned_of(name: str) -> None:
    assert _warnings(**_CASES[name][1]) == []


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(_expression("pod/qosclass"), id="the plugin compares a pod's class with a string of its own type"),
        pytest.param(_expression("/name"), id="a slash in front"),
        pytest.param(_expression("pod/pod/name"), id="a pod has no pod"),
    ],
)
def test_a_key_that_passes_the_check_may_still_never_be_found(spec: dict[str, Any]) -> None:
    assert [rule for rule, _ in _warnings(**spec)] == ["expression-key-never-found"]


def test_labels_that_the_runtime_sets_are_fine() -> None:
    assert _warnings(**_expression("labels/io.kubernetes.container.name")) == []


def test_a_type_that_only_a_composite_uses_is_fine() -> None:
    types = [{"name": "part"}, {"name": "all", "namespaces": ["a"], "components": [{"balloonType": "part"}]}]

    assert _warnings(balloonTypes=types) == []


def test_reserved_after_a_type_that_takes_everything_loses_kube_system() -> None:
    types = [{"name": "all", "matchExpressions": [{"key": "name", "operator": "AlwaysTrue"}]}, {"name": "reserved"}]

    assert _warnings(balloonTypes=types) == [("type-unreachable", "spec.balloonTypes.1")]


@pytest.mark.parametrize(
    ("group", "possible"), [("fast", True), ("Fast", False), ("low_latency", False), ("a.b", True)]
)
def test_a_group_label_may_have_a_value_that_no_policy_can_be_named_after(group: str, *, possible: bool) -> None:
    assert possible_group(group) is possible
    assert _warnings(name=f"group.{group}") == ([] if possible else [("policy-unused", "metadata.name")])


def test_a_spec_that_cannot_be_read_still_tells_its_ignored_keys() -> None:
    assert _warnings(MinCpus=1, pinCPU="yes", irqMode=1) == [
        ("key-ignored", "spec.MinCpus"),
        ("key-ignored", "spec.irqMode"),
    ]
