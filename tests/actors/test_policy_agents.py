from typing import Any

import pytest

from tests.actors import crds, nodes
from tests.actors.policy_agents import PolicyAgents, refuse
from tests.control_plane.client import Client
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"


@pytest.fixture
def client(garden: Garden) -> Client:
    """A shoot that knows the policies and has nodes `a`, in group `fast`, and `b`, in none."""
    garden.create_shoot(shoot("one"))
    client = garden.shoot_server("one").client
    crds.install(client, crds.nri())
    crds.wait_until_established(client, crds.nri())
    nodes.create(client, "a", {"config.nri/group": "fast"})
    nodes.create(client, "b", {})
    return client


def declare(client: Client, name: str, cpu: str = "1") -> None:
    spec = {"reservedResources": {"cpu": cpu}}
    manifest = {"apiVersion": "config.nri/v1alpha1", "kind": "BalloonsPolicy", "spec": spec}
    client.apply(f"{POLICIES}/{name}", {**manifest, "metadata": {"name": name}}, "test", force=True)


def entries(client: Client, name: str) -> dict[str, Any]:
    status = client.get(f"{POLICIES}/{name}").get("status", {"nodes": {}})
    return {node: (entry["status"], entry["generation"]) for node, entry in status["nodes"].items()}


def test_a_node_in_a_group_never_uses_the_default(client: Client) -> None:
    declare(client, "default")

    assert PolicyAgents(client).step() == ["b: default 1 Success"]
    assert entries(client, "default") == {"b": ("Success", 1)}


def test_the_nodes_own_policy_wins_over_its_groups(client: Client) -> None:
    declare(client, "group.fast")
    declare(client, "node.a")

    assert PolicyAgents(client).step() == ["a: node.a 1 Success"]


def test_switching_takes_the_entry_out_of_the_previous_policy(client: Client) -> None:
    agents = PolicyAgents(client)
    declare(client, "group.fast")
    declare(client, "default")
    agents.step()
    client.merge_patch(f"{nodes.COLLECTION}/a", {"metadata": {"labels": {"config.nri/group": None}}})
    agents.step()

    assert entries(client, "group.fast") == {}
    assert set(entries(client, "default")) == {"a", "b"}


def test_a_group_without_a_policy_leaves_the_old_entry(client: Client) -> None:
    agents = PolicyAgents(client)
    declare(client, "default")
    agents.step()
    client.merge_patch(f"{nodes.COLLECTION}/b", {"metadata": {"labels": {"config.nri/group": "none"}}})

    assert agents.step() == []
    assert entries(client, "default") == {"b": ("Success", 1)}


def test_a_refusal_carries_the_nodes_words_until_the_policy_is_fixed(client: Client) -> None:
    too_much = refuse("b", "not enough CPUs", when=lambda policy: policy["spec"]["reservedResources"]["cpu"] == "99")
    agents = PolicyAgents(client, verdict=too_much)
    declare(client, "default", cpu="99")
    agents.step()
    failure = client.get(f"{POLICIES}/default")["status"]["nodes"]["b"]
    assert (failure["status"], failure["errors"]) == ("Failure", "not enough CPUs")

    declare(client, "default", cpu="2")
    assert agents.step() == ["b: default 2 Success"]


def test_changes_of_status_and_metadata_are_ignored(client: Client) -> None:
    agents = PolicyAgents(client)
    declare(client, "default")
    agents.step()
    client.merge_patch(f"{POLICIES}/default", {"metadata": {"labels": {"some": "label"}}})

    assert agents.step() == []


def test_without_the_definitions_nobody_acts(garden: Garden) -> None:
    garden.create_shoot(shoot("one"))
    client = garden.shoot_server("one").client
    nodes.create(client, "a", {})

    assert PolicyAgents(client).step() == []
