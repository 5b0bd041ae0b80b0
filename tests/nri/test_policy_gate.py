"""The policy gate's truth table: what the nodes have answered, and what it means."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops.manifest import Manifest, get
from gitops.nri.policy_gate import policy_gate
from gitops.verdict import Status
from tests.shapes import bent, json_values, merged

TABLE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("policy_gate.yaml").read_text())


def node(told: str | dict[str, Any]) -> Manifest:
    """A Node, told by its name alone or by name, group, readiness and deletion."""
    told = {"name": told} if isinstance(told, str) else told
    metadata: Manifest = {"name": told["name"], "labels": {}}
    if "group" in told:
        metadata["labels"]["config.nri/group"] = told["group"]
    if told.get("deleted"):
        metadata["deletionTimestamp"] = "2026-11-30T10:00:00Z"
    conditions = [{"type": "DiskPressure", "status": "False"}]
    conditions += [{"type": "Ready", "status": told["ready"]}] if "ready" in told else []
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"conditions": conditions}}


def policy(name: str, answers: Any = None) -> Manifest:
    """A BalloonsPolicy at generation 5 with the nodes' answers."""
    return {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": name, "namespace": "kube-system", "generation": 5},
        "status": {"nodes": answers or {}},
    }


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in TABLE])
def test_a_policy_is_what_its_nodes_accepted(case: dict[str, Any]) -> None:
    live = merged(policy(case.get("policy", "default"), case.get("answers")), case.get("given", {}))

    verdict = policy_gate(live, nodes=[node(told) for told in case["nodes"]], policy_names=case.get("also", []))

    assert verdict.status is Status(case["status"]), verdict.message
    assert re.search(case.get("message", "."), verdict.message)
    assert re.search(case.get("hint", ""), verdict.hint)


ANSWER = {"status": "Success", "generation": 5}
NODES = [node("a"), node({"name": "b", "group": "gold"}), node({"name": "c", "deleted": True})]
JSON = json_values(["a", "b", "default", "group.gold", "gold", "Success", "Failure", "status", "generation"])


@st.composite
def bent_landscapes(draw: st.DrawFn) -> tuple[Manifest, list[Manifest]]:
    """An accepted policy and its nodes, with a few values anywhere replaced by anything."""
    name = draw(st.sampled_from(["default", "group.gold", "node.a"]))
    landscape = [policy(name, {"a": dict(ANSWER), "b": dict(ANSWER)}), *copy.deepcopy(NODES)]
    first, *rest = (dict(thing) if isinstance(thing, dict) else {} for thing in bent(draw, landscape, JSON))
    return first, rest


def uses(node: Manifest, policy_name: str) -> bool:
    """Whether the node uses the policy, were it and `group.gold` the only ones; stated without the gate."""
    if get(node, "metadata", "deletionTimestamp"):
        return False
    own, group = f"node.{get(node, 'metadata', 'name')}", get(node, "metadata", "labels", "config.nri/group")
    return policy_name == (own if policy_name == own else f"group.{group}" if group else "default")


@given(landscape=bent_landscapes())
def test_no_policy_passes_without_the_success_of_every_node_that_uses_it(
    landscape: tuple[Manifest, list[Manifest]],
) -> None:
    live, nodes = landscape
    name, generation = str(get(live, "metadata", "name") or ""), get(live, "metadata", "generation")

    verdict = policy_gate(live, nodes=nodes, policy_names=["group.gold"])

    assert verdict.message
    if verdict.open:
        assert not get(live, "metadata", "deletionTimestamp")
        for user in (one for one in nodes if uses(one, name)):
            answer = get(live, "status", "nodes", get(user, "metadata", "name"))
            assert (answer["status"], answer["generation"]) == ("Success", generation)


@given(metadata=JSON, status=JSON, nodes=st.lists(st.dictionaries(st.sampled_from(["metadata", "status"]), JSON)))
def test_the_gate_answers_for_whatever_json_there_is(metadata: Any, status: Any, nodes: list[Manifest]) -> None:
    assert policy_gate({"metadata": metadata, "status": status}, nodes=nodes, policy_names=["default"]).message
