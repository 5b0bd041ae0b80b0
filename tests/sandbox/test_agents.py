from typing import Any

import pytest

from gitops.sandbox import Landscape, NodeFault
from tests.sandbox.driving import MERGE_PATCH, POLICIES, apply_policy, declared, enable, shoot


@pytest.fixture
def landscape() -> Landscape:
    """A landscape whose only shoot has two nodes and the policy extension."""
    landscape = Landscape([declared("one")])
    enable(landscape, "one")
    landscape.advance(300)
    assert len(shoot(landscape, "one").get("/api/v1/nodes")["items"]) == 2
    return landscape


def _nodes(landscape: Landscape) -> list[str]:
    return [node["metadata"]["name"] for node in shoot(landscape, "one").get("/api/v1/nodes")["items"]]


def _answers(landscape: Landscape, policy: str) -> dict[str, Any]:
    found = shoot(landscape, "one").get(f"{POLICIES}/{policy}")
    return dict((found.get("status") or {}).get("nodes") or {})


def _label(landscape: Landscape, node: str, group: str | None) -> None:
    patch = {"metadata": {"labels": {"config.nri/group": group}}}
    shoot(landscape, "one").call("PATCH", f"/api/v1/nodes/{node}", patch, MERGE_PATCH)
    landscape.advance(10)


def test_every_node_answers_the_default_policy(landscape: Landscape) -> None:
    apply_policy(landscape, "one", "default")
    assert _answers(landscape, "default") == {}
    landscape.advance(10)
    answers = _answers(landscape, "default")
    assert set(answers) == set(_nodes(landscape))
    assert {(item["status"], item["generation"], item["errors"]) for item in answers.values()} == {("Success", 1, "")}


def test_a_new_generation_is_answered_again_a_new_label_is_not(landscape: Landscape) -> None:
    apply_policy(landscape, "one", "default")
    landscape.advance(10)
    before = shoot(landscape, "one").get(f"{POLICIES}/default")["metadata"]["resourceVersion"]
    landscape.advance(600)
    assert shoot(landscape, "one").get(f"{POLICIES}/default")["metadata"]["resourceVersion"] == before
    apply_policy(landscape, "one", "default", cpu="2")
    landscape.advance(10)
    assert {item["generation"] for item in _answers(landscape, "default").values()} == {2}


def test_a_node_that_changes_otherwise_does_not_answer_again(landscape: Landscape) -> None:
    first, _ = _nodes(landscape)
    apply_policy(landscape, "one", "default")
    landscape.advance(10)
    before = _answers(landscape, "default")
    patch = {"metadata": {"labels": {"rack": "7"}}}
    shoot(landscape, "one").call("PATCH", f"/api/v1/nodes/{first}", patch, MERGE_PATCH)
    landscape.advance(10)
    assert _answers(landscape, "default") == before


def test_a_node_prefers_its_own_policy_and_its_groups_and_leaves_the_other(landscape: Landscape) -> None:
    first, second = _nodes(landscape)
    for name in ("default", "group.a", f"node.{first}"):
        apply_policy(landscape, "one", name)
    landscape.advance(10)
    assert set(_answers(landscape, f"node.{first}")) == {first}
    assert set(_answers(landscape, "default")) == {second}
    _label(landscape, second, "a")
    assert _answers(landscape, "default") == {}
    assert set(_answers(landscape, "group.a")) == {second}


def test_a_group_without_a_policy_does_not_fall_through(landscape: Landscape) -> None:
    first, second = _nodes(landscape)
    apply_policy(landscape, "one", "default")
    landscape.advance(10)
    _label(landscape, first, "lonely")
    apply_policy(landscape, "one", "default", cpu="2")
    landscape.advance(10)
    answers = _answers(landscape, "default")
    assert answers[first]["generation"] == 1, "the old configuration stays in force, and so does its entry"
    assert answers[second]["generation"] == 2


def test_a_node_that_has_gone_leaves_its_entry_behind(landscape: Landscape) -> None:
    first, _ = _nodes(landscape)
    apply_policy(landscape, "one", "default")
    landscape.advance(10)
    shoot(landscape, "one").call("DELETE", f"/api/v1/nodes/{first}")
    landscape.advance(10)
    assert first in _answers(landscape, "default")


def test_more_reserved_cpus_than_there_are_is_a_failure(landscape: Landscape) -> None:
    apply_policy(landscape, "one", "default", cpu="999")
    landscape.advance(10)
    answers = _answers(landscape, "default").values()
    assert {item["status"] for item in answers} == {"Failure"}
    assert all("999" in item["errors"] for item in answers)


def test_a_node_told_to_fail_says_so_and_then_recovers(landscape: Landscape) -> None:
    first, second = _nodes(landscape)
    landscape.faults.nodes.append(NodeFault("garden-dev/one", node=first, message="cannot parse cpuset", times=1))
    apply_policy(landscape, "one", "default")
    landscape.advance(10)
    answers = _answers(landscape, "default")
    assert (answers[first]["status"], answers[first]["errors"]) == ("Failure", "cannot parse cpuset")
    assert answers[second]["status"] == "Success"
    apply_policy(landscape, "one", "default", cpu="2")
    landscape.advance(10)
    assert _answers(landscape, "default")[first]["status"] == "Success"


def test_policies_in_other_namespaces_are_never_seen(landscape: Landscape) -> None:
    path = "/apis/config.nri/v1alpha1/namespaces/default/balloonspolicies"
    body = {
        "apiVersion": "config.nri/v1alpha1",
        "kind": "BalloonsPolicy",
        "metadata": {"name": "default"},
        "spec": {"reservedResources": {"cpu": "1"}},
    }
    shoot(landscape, "one").call("POST", path, body)
    landscape.advance(60)
    assert "status" not in shoot(landscape, "one").get(f"{path}/default")
