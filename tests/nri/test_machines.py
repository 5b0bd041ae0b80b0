from __future__ import annotations

from typing import Any

import pytest

from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.check import Verdict
from gitops.nri.acceptance.machine import Machine
from gitops.nri.machines import Pool, machines_of
from gitops.nri.pools import accepted_by_pools

_PROFILE = {"kind": "CloudProfile", "spec": {"machineTypes": [{"name": "large", "cpu": "16", "memory": "64Gi"}]}}
_DECLARED = Machine(packages=1, nodes=2, cores=4, threads=2)


def _shoot(provider: str = "aws", machine_type: str = "large", **labels: str) -> dict[str, Any]:
    worker = {"name": "pool", "machine": {"type": machine_type}, "labels": labels}
    return {"kind": "Shoot", "spec": {"provider": {"type": provider, "workers": [worker]}}}


def _node(cpu: str, pool: str = "pool") -> dict[str, Any]:
    labels = {"worker.gardener.cloud/pool": pool}
    return {"metadata": {"name": "n", "labels": labels}, "status": {"capacity": {"cpu": cpu, "memory": "63Gi"}}}


def _only(pools: tuple[Pool, ...]) -> Pool:
    (pool,) = pools
    return pool


def test_a_machine_type_tells_cpus_and_memory_and_not_the_topology() -> None:
    pool = _only(machines_of(_shoot(), _PROFILE, {}))

    assert pool.machine == Machine(packages=1, nodes=1, cores=16, threads=1, memory=64 * 2**30)
    assert pool.open_questions == (
        "which CPUs share a core or a NUMA node, and which are isolated, is not known; declare the machine type large",
    )


def test_a_namespaced_profile_tells_the_merged_types_in_its_status() -> None:
    namespaced = {
        "kind": "NamespacedCloudProfile",
        "spec": {"machineTypes": [{"name": "large", "cpu": "1"}]},
        "status": {"cloudProfileSpec": {"machineTypes": [{"name": "large", "cpu": "8"}]}},
    }
    pool = _only(machines_of(_shoot(), namespaced, {}))

    assert pool.machine is not None
    assert pool.machine.cpu_count == 8


def test_a_declared_machine_leaves_no_question() -> None:
    pool = _only(machines_of(_shoot(), _PROFILE, {"large": _DECLARED}))

    assert pool.machine is not None
    assert (pool.machine.nodes, pool.machine.memory) == (2, 64 * 2**30)
    assert pool.open_questions == ()


@pytest.mark.parametrize(
    ("profile_cpus", "nodes", "who"),
    [("32", [], "the CloudProfile says 32 CPUs"), ("16", [_node("8")], "nodes report 8 CPUs")],
)
def test_a_declaration_that_others_contradict_is_told(profile_cpus: str, nodes: list[dict[str, Any]], who: str) -> None:
    profile = {"spec": {"machineTypes": [{"name": "large", "cpu": profile_cpus}]}}
    (question,) = _only(machines_of(_shoot(), profile, {"large": _DECLARED}, nodes)).open_questions

    assert question == f"{who} and the declared machine 1x2x4x2 has 16: correct the declaration"


def test_live_nodes_know_better_than_the_profile() -> None:
    pool = _only(machines_of(_shoot(), _PROFILE, {}, [_node("12"), _node("4", pool="another")]))

    assert pool.machine is not None
    assert (pool.machine.cpu_count, pool.machine.memory) == (12, 63 * 2**30)


def test_live_nodes_that_disagree_say_nothing() -> None:
    pool = _only(machines_of(_shoot(), _PROFILE, {}, [_node("12"), _node("4")]))

    assert pool.machine is not None
    assert pool.machine.cpu_count == 16


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(None, id="nobody may read it"),
        pytest.param({"spec": {}}, id="it has no types"),
        pytest.param({"spec": {"machineTypes": [{"name": "large"}]}}, id="it says nothing of CPUs"),
        pytest.param({"spec": {"machineTypes": [{"name": "large", "cpu": "0"}]}}, id="it says nonsense"),
    ],
)
def test_without_cpus_nothing_can_be_concluded(profile: dict[str, Any] | None) -> None:
    pool = _only(machines_of(_shoot(), profile, {}))

    assert pool.machine is None
    assert pool.open_questions[0].startswith("whether policies are accepted is not known")


def test_the_faked_capacity_of_provider_local_is_recognised() -> None:
    profile = {"spec": {"machineTypes": [{"name": "local", "cpu": "1", "memory": "2Gi"}]}}
    nodes = [_node("100")]
    undeclared = _only(machines_of(_shoot("local", "local"), profile, {}, nodes))
    declared = _only(machines_of(_shoot("local", "local"), profile, {"local": _DECLARED}, nodes))

    assert undeclared.machine is None
    assert "fakes the capacity" in undeclared.open_questions[0]
    assert declared.machine == _DECLARED
    assert declared.open_questions == ()


def test_a_workerless_shoot_has_no_pools() -> None:
    assert machines_of({"kind": "Shoot", "spec": {}}, _PROFILE, {}) == ()


def test_every_pool_is_asked_about_the_policy_it_will_use() -> None:
    policies = {
        name: {"kind": "BalloonsPolicy", "metadata": {"name": name}, "spec": {"reservedResources": {"cpu": cpu}}}
        for name, cpu in (("default", "1"), ("group.big", "cpuset:31"))
    }

    def asked(**labels: str) -> tuple[str | None, Verdict | None]:
        (found,) = accepted_by_pools(machines_of(_shoot(**labels), _PROFILE, {}), policies, Answers())
        return found.policy, found.answer.verdict if found.answer else None

    assert asked() == ("default", Verdict.ACCEPTED)
    assert asked(**{"config.nri/group": "big"}) == ("group.big", Verdict.REFUSED)
    assert asked(**{"config.nri/group": "absent"}) == (None, None)
    assert asked(**{"config.nri/group": "Impossible_1"}) == (None, None)


def test_where_the_machine_is_not_known_only_what_is_true_of_all_is_said() -> None:
    policies = {"default": {"kind": "BalloonsPolicy", "spec": {"reservedResources": {"cpu": "cpuset:999"}}}}
    (found,) = accepted_by_pools(machines_of(_shoot(), None, {}), policies, Answers())

    assert found.answer is not None
    assert found.answer.verdict is Verdict.ACCEPTED
