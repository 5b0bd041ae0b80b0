"""Which policy a node uses, by the rules of nri-plugins pkg/agent/agent.go."""

from __future__ import annotations

import pytest

from gitops.manifest import Manifest
from gitops.nri.resolution import (
    Stage,
    effective_policy,
    is_policy,
    live_nodes,
    node_name,
    nodes_of,
    resolve,
    shared_policy,
    stage,
    unconfigured_nodes,
)


def node(name: str, **labels: str) -> Manifest:
    keys = {"group": "config.nri/group", "v03": "group.config.nri", "oldest": "resource-policy.nri.io/group"}
    return {"metadata": {"name": name, "labels": {keys[label]: value for label, value in labels.items()}}}


@pytest.mark.parametrize(
    ("of", "policy_names", "expected"),
    [
        pytest.param(node("a"), ["default"], "default", id="outside all groups"),
        pytest.param({"metadata": {"name": "a"}}, ["default"], "default", id="no labels at all"),
        pytest.param(node("a"), [], None, id="no policy at all"),
        pytest.param(node("a"), ["group.gold"], None, id="only policies of others"),
        pytest.param(node("a", group="gold"), ["default", "group.gold"], "group.gold", id="in a group"),
        pytest.param(node("a", group="gold"), ["default"], None, id="a group does not fall through to default"),
        pytest.param(node("a", group="gold"), ["default", "node.a"], "node.a", id="its own, without the group's"),
        pytest.param(node("a", group="gold"), ["group.gold", "node.a"], "node.a", id="its own before the group's"),
        pytest.param(node("a"), ["default", "node.a"], "node.a", id="its own before the default"),
        pytest.param(node("a"), ["default", "node.b"], "default", id="another node's own"),
        pytest.param(node("a.example.org"), ["node.a.example.org"], "node.a.example.org", id="a name with dots"),
        pytest.param(node("a", v03="gold"), ["group.gold"], "group.gold", id="the label of v0.3"),
        pytest.param(node("a", oldest="gold"), ["group.gold"], "group.gold", id="the oldest label"),
        pytest.param(node("a", oldest="x", v03="gold"), ["group.gold"], "group.gold", id="the newer of the old labels"),
        pytest.param(
            node("a", v03="x", group="gold"), ["group.gold"], "group.gold", id="the label before the old ones"
        ),
        pytest.param(node("a", group="", v03="gold"), ["group.gold"], "group.gold", id="an empty label is none"),
        pytest.param(node("a", group=""), ["default"], "default", id="an empty label alone"),
        pytest.param(node("a", group="Gold"), ["default", "group.Gold"], None, id="upper case can never match"),
        pytest.param(node("a", group="g_1"), ["default", "group.g_1"], None, id="an underscore can never match"),
        pytest.param(node("a", group="g..1"), ["default", "group.g..1"], None, id="two dots can never match"),
        pytest.param(node("a", group="g.1"), ["group.g.1"], "group.g.1", id="one dot can"),
    ],
)
def test_a_node_uses_the_most_special_policy_and_nothing_falls_through(
    of: Manifest, policy_names: list[str], expected: str | None
) -> None:
    assert effective_policy(of, policy_names) == expected


NODES = [node("a"), node("b", group="gold"), node("c", group="silver"), node("d", group="Gold")]
POLICIES = {"default", "group.gold"}


def test_every_node_is_resolved_by_name() -> None:
    assert resolve(NODES, POLICIES) == {"a": "default", "b": "group.gold", "c": None, "d": None}


def test_the_nodes_of_a_policy() -> None:
    assert [node_name(one) for one in nodes_of("group.gold", NODES, POLICIES)] == ["b"]
    assert nodes_of("node.z", NODES, POLICIES) == ()


def test_nodes_without_configuration_miss_a_policy_or_can_have_none() -> None:
    leaving: Manifest = {"metadata": {"name": "e", "deletionTimestamp": "2026-11-30T10:00:00Z"}}

    missing = {node_name(one): shared_policy(one) for one in unconfigured_nodes([*NODES, leaving], {"group.gold"})}

    assert missing == {"a": "default", "c": "group.silver", "d": None}


def test_a_node_that_is_being_deleted_is_not_live() -> None:
    assert live_nodes([{"metadata": {"name": "e", "deletionTimestamp": "2026-11-30T10:00:00Z"}}, NODES[0]]) == (
        NODES[0],
    )


@pytest.mark.parametrize(
    ("policy_name", "expected"),
    [
        ("default", Stage.DEFAULT),
        ("group.gold", Stage.GROUP),
        ("node.a.example.org", Stage.NODE),
        ("group.", Stage.UNUSED),
        ("node", Stage.UNUSED),
        ("default.x", Stage.UNUSED),
        ("production", Stage.UNUSED),
        ("", Stage.UNUSED),
    ],
)
def test_policies_are_written_in_stages(policy_name: str, expected: Stage) -> None:
    assert stage(policy_name) is expected


def test_what_most_nodes_share_is_written_first() -> None:
    assert sorted(["node.a", "x", "default", "group.b"], key=stage) == ["default", "group.b", "node.a", "x"]


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        ("config.nri/v1alpha1", "BalloonsPolicy", True),
        ("config.nri/v1alpha1", "TopologyAwarePolicy", True),
        ("config.nri/v1alpha1", "TemplatePolicy", True),
        ("config.nri/v1alpha1", "Something", False),
        ("example.org/v1", "BalloonsPolicy", False),
        ("config.nri", "BalloonsPolicy", False),
    ],
)
def test_policies_are_known_by_group_and_kind(api_version: str, kind: str, *, expected: bool) -> None:
    assert is_policy({"apiVersion": api_version, "kind": kind}) is expected
