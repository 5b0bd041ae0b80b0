"""Who will use which policy, told before it is written."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.nri.machines import POOL_LABEL, Pool
from gitops.nri.resolution import GROUP_LABELS
from gitops.nri.usage import as_declared, remarks, used_by

GROUP, OLD, OLDER = GROUP_LABELS
D = "default"


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def grouped(name: str, value: str, label: str = GROUP) -> dict[str, Any]:
    return node(name, **{label: value})


def pool(name: str, **labels: str) -> Pool:
    return Pool(name, "m", labels, None)


A, B, C = node("a"), node("b"), node("c")
FAST, SLOW, UPPER = grouped("f", "fast"), grouped("s", "slow"), grouped("u", "Fast")
LEAVING = {"metadata": {"name": "l", "deletionTimestamp": "2026-11-30T12:00:00Z"}}

BARE1 = "1 node would have no configuration"
USES = [
    ("everybody uses default", [A, B, C], [D], "3 nodes: 3 default"),
    ("one node", [A], [D], "1 node: 1 default"),
    ("no policy at all", [A, B], [], "2 nodes would have no configuration"),
    ("a group with its policy", [A, FAST], [D, "group.fast"], "2 nodes: 1 default, 1 group.fast"),
    ("a group never falls through to default", [A, FAST], [D], f"1 node: 1 default; {BARE1}"),
    ("only a group has a policy", [A, FAST], ["group.fast"], f"1 node: 1 group.fast; {BARE1}"),
    ("two groups, one policy", [FAST, SLOW], ["group.fast"], f"1 node: 1 group.fast; {BARE1}"),
    ("two groups, two policies", [FAST, SLOW], ["group.slow", "group.fast"], "2 nodes: 1 group.fast, 1 group.slow"),
    ("a node of its own", [A, B], [D, "node.a"], "2 nodes: 1 default, 1 node.a"),
    ("a node of its own in a group", [FAST], [D, "group.fast", "node.f"], "1 node: 1 node.f"),
    ("a node of its own is enough", [FAST, A], ["node.f"], f"1 node: 1 node.f; {BARE1}"),
    ("another node's policy", [A], ["node.b"], BARE1),
    ("upper case matches nothing", [UPPER], [D, "group.fast", "group.Fast"], BARE1),
    ("upper case with a policy of its own", [UPPER], ["node.u"], "1 node: 1 node.u"),
    ("an underscore matches nothing", [grouped("n", "a_b")], [D, "group.a_b"], BARE1),
    ("an empty value names no group", [grouped("n", "")], [D], "1 node: 1 default"),
    ("a dot in a group", [grouped("n", "a.b")], ["group.a.b"], "1 node: 1 group.a.b"),
    ("a deprecated label counts", [grouped("n", "fast", OLD)], [D, "group.fast"], "1 node: 1 group.fast"),
    ("the oldest label counts", [grouped("n", "fast", OLDER)], [D, "group.fast"], "1 node: 1 group.fast"),
    ("the new label wins", [node("n", **{GROUP: "a", OLD: "b"})], ["group.a", "group.b"], "1 node: 1 group.a"),
    ("the older of two wins over the oldest", [node("n", **{OLD: "a", OLDER: "b"})], ["group.a"], "1 node: 1 group.a"),
    ("default first, then groups, then nodes", [FAST, A, B], ["node.b", "group.fast", D],
     "3 nodes: 1 default, 1 group.fast, 1 node.b"),
    ("a name nobody looks for", [A], ["balloons"], BARE1),
    ("a nameless group", [A], ["group."], BARE1),
    ("no nodes", [], [D], ""),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "names", "expected"), [row[1:] for row in USES], ids=[row[0] for row in USES])
def test_nodes_are_counted_by_the_policy_they_will_use(nodes: list[Any], names: list[str], expected: str) -> None:
    assert used_by(nodes, (), names) == expected


POOLS = [
    ("one pool", [pool("w")], [D], "worker pool w will use default"),
    ("two pools", [pool("v"), pool("w")], [D], "worker pools v, w will use default"),
    ("a group", [pool("v"), pool("w", **{GROUP: "fast"})], [D, "group.fast"],
     "worker pool v will use default; worker pool w will use group.fast"),
    ("no fall-through", [pool("w", **{GROUP: "fast"})], [D], "worker pool w would have no configuration"),
    ("some without", [pool("v"), pool("w", **{GROUP: "x"})], [D],
     "worker pool v will use default; worker pool w would have no configuration"),
]  # fmt: skip


@pytest.mark.parametrize(("pools", "names", "expected"), [row[1:] for row in POOLS], ids=[row[0] for row in POOLS])
def test_worker_pools_speak_for_nodes_to_come(pools: list[Pool], names: list[str], expected: str) -> None:
    assert used_by((), pools, names) == expected


REMARKS: list[tuple[str, list[Any], list[Pool], list[str], list[str]]] = [
    ("nothing to remark", [A, FAST], [], [D, "group.fast"], []),
    ("a group without policy", [FAST], [], [D], ["node f: no policy group.fast, and nothing falls back to another"]),
    ("no default", [A, B, C], [], [], ["node a and 2 more: no policy default, and nothing falls back to another"]),
    ("a leaving node does not matter", [LEAVING], [], ["group.x"],
     ["group.x: no node is in that group: label a worker pool config.nri/group=x"]),
    ("an upper case value", [UPPER], [], [D],
     [("node u: label config.nri/group=Fast can match no policy, as names have lower case letters, digits, - and . "
      "only")]),
    ("a pool without policy", [], [pool("w", **{GROUP: "x"})], [D],
     ["worker pool w: no policy group.x, and nothing falls back to another"]),
    ("an upper case value of a pool", [], [pool("w", **{OLD: "A"})], [D],
     [("worker pool w: label group.config.nri=A can match no policy, as names have lower case letters, digits, - and . "
      "only"), "the label group.config.nri is deprecated: name groups by config.nri/group"]),
    ("a deprecated label", [grouped("n", "fast", OLD)], [], ["group.fast"],
     ["the label group.config.nri is deprecated: name groups by config.nri/group"]),
    ("the oldest label", [grouped("n", "fast", OLDER)], [], ["group.fast"],
     ["the label resource-policy.nri.io/group is deprecated: name groups by config.nri/group"]),
    ("an old label behind the new one", [node("n", **{GROUP: "a", OLD: "b"})], [], ["group.a"], []),
    ("a group policy without nodes", [A], [], [D, "group.x"],
     ["group.x: no node is in that group: label a worker pool config.nri/group=x"]),
    ("a group policy of a pool without nodes", [A], [pool("w", **{GROUP: "x"})], [D, "group.x"], []),
    ("a policy of an unknown node", [A], [], [D, "node.z"], ["node.z: there is no such node"]),
    ("a policy of a node nobody can see", [], [pool("w")], [D, "node.z"], []),
    ("a name of no node", [A], [], [D, "fast"],
     ["fast: no node will ever use it: policies are named default, group.<GROUP> or node.<NODE>"]),
    ("a default that nobody uses is a precaution", [FAST], [], [D, "group.fast"], []),
    ("nothing is known", [], [], [D, "group.x", "node.z"], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "pools", "names", "expected"), [row[1:] for row in REMARKS], ids=[row[0] for row in REMARKS]
)
def test_what_is_probably_not_meant_is_remarked(
    nodes: list[Any], pools: list[Pool], names: list[str], expected: list[str]
) -> None:
    assert list(remarks(nodes, pools, names)) == expected


def test_labels_that_a_pool_declares_come_to_its_nodes() -> None:
    nodes = [node("a", **{POOL_LABEL: "w"}), node("b", **{POOL_LABEL: "v", GROUP: "x"}), LEAVING]

    declared = as_declared(nodes, [pool("w", **{GROUP: "fast"}), pool("v")])

    assert used_by(declared, (), ["group.fast", "group.x"]) == "2 nodes: 1 group.fast, 1 group.x"
