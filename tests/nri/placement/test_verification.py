"""What verification catches, and that it names the pod."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.manifest import Manifest
from gitops.nri.placement.choice import chosen_type
from gitops.nri.placement.told import Told, Voice
from gitops.nri.placement.verification import verify
from gitops.verdict import Status
from tests.nri.placement.scenes import ASSIGNED, PODS, node, plugin, pod, policy, scene, told


def found(**changes: Any) -> list[tuple[str, str, str]]:
    return [(d.rule, d.pod, d.message) for d in verify(scene(**changes)).deviations]


@pytest.mark.parametrize("voice", Voice)
def test_a_shoot_as_it_should_be(voice: Voice) -> None:
    result = verify(scene(told={"w1-0": told(voice=voice)}))

    assert result.deviations == ()
    assert {placed.container: placed.balloon for placed in result.placed} == ASSIGNED
    assert result.verdict.status is Status.CURRENT


CASES: list[Any] = [
    pytest.param(
        {"told": {"w1-0": told({"latency/db-0/main": "default[0]"})}},
        [("wrong-type", "latency/db-0", "it runs in default[0] and belongs in fast, by its namespace latency")],
        id="wrong-type",
    ),
    pytest.param(
        {"told": {"w1-0": told({"kube-system/plugin-0/main": "slow[0]"})}},
        [("wrong-type", "kube-system/plugin-0", "belongs in reserved")],
        id="reserved-namespace-elsewhere",
    ),
    pytest.param(
        {"told": {"w1-0": told(slow_0=(3, 4))}},
        [("shared-cpus", "latency/db-0", "fast[0] and slow[0] share the CPUs 3")],
        id="two-types-share-cpus",
    ),
    pytest.param(
        {"nodes": (node("w1-0"), node("w1-1")), "plugins": (plugin(desired=2, updated=1),)},
        [("plugin-rollout", "", "1 of 2 nodes"), ("plugin-missing", "", "the plugin does not run here")],
        id="missing-node",
    ),
    pytest.param({"plugins": ()}, [("plugin", "", "no plugin runs here")], id="no-plugin"),
    pytest.param(
        {"plugins": (plugin(), plugin("other"))}, [("plugin", "", "more than one plugin runs here")], id="two-plugins"
    ),
    pytest.param({"plugins": (plugin(generation=2),)}, [("plugin-rollout", "", "rolled out")], id="plugin-rolling"),
    pytest.param(
        {"pods": (*PODS, pod("work/new-0"))},
        [("unassigned", "work/new-0", "no word of it in the plugin's NodeResourceTopology: it may run unpinned")],
        id="disconnected-plugin",
    ),
    pytest.param(
        {"told": {"w1-0": told({"work/gone-0/main": "slow[0]"})}},
        [("stale", "", "tells of work/gone-0/main, which does not run here")],
        id="stale-container",
    ),
    pytest.param(
        {"told": {"w1-0": told(old_0=(6,))}},
        [("stale", "", "tells of old[0], which the node's policy does not know")],
        id="stale-balloon",
    ),
    pytest.param(
        {"told": {}, "unheard": {"w1-0": "forbidden: pods/log"}},
        [("unknown", "", "where containers run is not known: forbidden: pods/log")],
        id="unheard",
    ),
    pytest.param(
        {"policies": (policy("group.x"),)}, [("no-policy", "", "no policy, so nothing is pinned")], id="no-policy"
    ),
    pytest.param(
        {"told": {"w1-0": told(fast_0=(2,))}},
        [("size", "latency/db-0", "fast[0] has 1 CPUs and needs")],
        id="too-small",
    ),
    pytest.param(
        {"told": {"w1-0": told(fast_0=(2, 3, 6, 7, 8))}},
        [("size", "latency/db-0", "fast[0] has 5 CPUs and may have 4 at most")],
        id="too-large",
    ),
]


@pytest.mark.parametrize(("changes", "expected"), CASES)
def test_a_deviation_is_found_with_its_pod_and_nothing_else_is(
    changes: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    result = found(**changes)

    assert [(rule, name) for rule, name, _ in result] == [(rule, name) for rule, name, _ in expected]
    for (_, _, message), (_, _, words) in zip(result, expected, strict=True):
        assert words in message
    assert verify(scene(**changes)).verdict.status is Status.IN_PROGRESS


def test_a_plugin_that_is_not_ready_is_a_deviation() -> None:
    broken = pod("kube-system/plugin-0", owner="plugin")
    broken["status"]["containerStatuses"][0]["ready"] = False

    assert ("plugin-not-ready", "") in [(rule, name) for rule, name, _ in found(pods=(broken, *PODS[1:]))]


def test_a_log_tells_of_what_is_gone_and_that_is_no_deviation() -> None:
    said = told({"work/gone-0/main": "old[0]"}, voice=Voice.LOG, old_0=(2, 3))

    assert found(told={"w1-0": said}) == []


def test_parts_of_a_composite_share_its_cpus() -> None:
    types = [{"name": "fast"}, {"name": "slow"}, {"name": "whole", "components": [{"balloonType": "fast"}]}]
    everywhere = policy(balloonTypes=[*types, {"name": "default", "namespaces": ["*"]}])
    said = Told(Voice.TOPOLOGY, told(whole_0=(2, 3)).balloons, {})

    rules = [rule for rule, _, _ in found(policies=(everywhere,), told={"w1-0": said})]

    assert "shared-cpus" not in rules


def test_a_preserved_container_needs_no_balloon() -> None:
    kept = pod("work/kept-0", annotations={"cpu.preserve.resource-policy.nri.io": "true"})

    assert found(pods=(*PODS, kept)) == []


def test_what_only_the_node_can_tell_is_not_guessed() -> None:
    types = [{"name": "odd", "matchExpressions": [{"key": "labels/x", "operator": "Exists"}]}]
    result = [rule for rule, _, _ in found(policies=(policy(balloonTypes=types),))]

    assert "wrong-type" not in [rule for rule in result if rule != "stale"][1:]


EXPRESSIONS: list[Any] = [
    ({"key": "pod/labels/tier", "operator": "Equals", "values": ["batch"]}, True),
    ({"key": "pod/labels/tier", "operator": "NotEqual", "values": ["batch"]}, False),
    ({"key": "pod/labels/none", "operator": "NotEqual", "values": ["x"]}, True),
    ({"key": "pod/labels/none", "operator": "In", "values": ["*"]}, False),
    ({"key": "pod/labels/tier", "operator": "In", "values": ["*"]}, True),
    ({"key": "pod/labels/none", "operator": "NotIn", "values": ["x"]}, True),
    ({"key": "pod/labels/tier", "operator": "Exists"}, True),
    ({"key": "pod/labels/none", "operator": "NotExist"}, True),
    ({"key": "name", "operator": "Matches", "values": ["ma?n"]}, True),
    ({"key": "name", "operator": "MatchesNot", "values": ["m*"]}, False),
    ({"key": "pod/name", "operator": "MatchesAny", "values": ["x*", "job-[0-9]"]}, True),
    ({"key": "pod/name", "operator": "MatchesNone", "values": ["x*", "job-[^0-9]"]}, True),
    ({"key": "pod/name", "operator": "Matches", "values": ["job-[0"]}, False),
    ({"key": "namespace", "operator": "Equals", "values": ["work"]}, True),
    ({"key": "qosclass", "operator": "Equals", "values": ["Burstable"]}, True),
    ({"operator": "AlwaysTrue"}, True),
]


@pytest.mark.parametrize(("expression", "holds"), EXPRESSIONS)
def test_expressions(expression: Manifest, holds: bool) -> None:  # noqa: FBT001 - a table's column
    spec = {"balloonTypes": [{"name": "odd", "matchExpressions": [expression]}]}

    choice = chosen_type(spec, pod("work/job-0", labels={"tier": "batch"}), "main")

    assert choice.type == ("odd" if holds else "default")


KEY = "balloon.balloons.resource-policy.nri.io"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({KEY: "slow"}, "slow"),
        ({KEY: "slow", f"{KEY}/pod": "fast"}, "fast"),
        ({f"{KEY}/pod": "fast", f"{KEY}/container.main": "reserved"}, "reserved"),
        ({f"{KEY}/container.other": "slow"}, "default"),
    ],
)
def test_annotations_go_from_the_container_to_the_pod(annotations: dict[str, str], expected: str) -> None:
    assert chosen_type(policy()["spec"], pod("work/web-0", annotations=annotations), "main").type == expected


@pytest.mark.parametrize(
    ("types", "namespace", "expected"),
    [
        ([], "kube-system", "reserved"),
        ([], "monitoring-a", "reserved"),
        ([{"name": "all", "namespaces": ["*"]}], "kube-system", "reserved"),
        ([{"name": "all", "namespaces": ["*"]}, {"name": "reserved"}], "kube-system", "all"),
        ([{"name": "default"}, {"name": "late", "namespaces": ["*"]}], "work", "late"),
    ],
    ids=["implied", "pool-namespaces", "implied-comes-first", "listed-keeps-its-place", "default-takes-the-rest"],
)
def test_reserved_comes_first_unless_it_is_listed(types: list[Manifest], namespace: str, expected: str) -> None:
    spec = policy(balloonTypes=types)["spec"]

    assert chosen_type(spec, pod(f"{namespace}/x"), "main").type == expected
