"""What the nodes of a shoot need next, played to the end on a toy shoot."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitops.manifest import Manifest, get
from gitops.nri.prerequisites.course import Do, Move, Situation, Stop, Wait, next_move
from gitops.nri.prerequisites.facts import node_facts
from gitops.nri.prerequisites.jobs import Job, job_of, nodes_of_job
from gitops.nri.prerequisites.ledger import NAME, read_ledger
from gitops.nri.prerequisites.wanted import Demand, Prerequisites
from tests.actors.node_jobs import FINE
from tests.nri.prerequisites.nodes import node, pod

REQUIRE = Prerequisites(Demand.REQUIRE, Demand.REQUIRE, Demand.REQUIRE)
REPAIR = Prerequisites(Demand.REPAIR, Demand.REPAIR, Demand.REQUIRE)
BROKEN = {**FINE, "dbus": "directory"}
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class ToyShoot:
    """Nodes that answer every job at once with what they are."""

    def __init__(self, **said: dict[str, Any]) -> None:
        self.nodes = {name.replace("_", "-"): node(name.replace("_", "-")) for name in said}
        self.said = {name.replace("_", "-"): dict(words) for name, words in said.items()}
        self.ledger: Manifest | None = None
        self.standing: dict[Job, Manifest] = {}
        self.pods: list[Manifest] = []
        self.log: list[str] = []
        self.now, self.runs = NOON, 1
        self.repair: Callable[[str], dict[str, Any]] = lambda _: {**FINE, "changed": ["repaired it"]}

    def situation(self) -> Situation:
        facts = [node_facts(found) for found in self.nodes.values()]
        return Situation(facts, read_ledger(self.ledger), self.standing, self.pods, f"run-{self.runs}", self.now)

    def do(self, move: Do) -> None:
        for manifest in move.apply:
            if manifest["metadata"]["name"] == NAME:
                self.ledger = manifest
                continue
            job = job_of(manifest)
            assert job is not None
            made = {**manifest, "metadata": {**manifest["metadata"], "uid": f"uid-{len(self.log)}"}}
            self.standing[job] = made
            on = sorted(nodes_of_job(made) or self.nodes)
            self.log.append(f"{job.value} {' '.join(on)}")
            if job is Job.REPAIR:
                self.said[on[0]] = self.repair(on[0])
            self.pods += [pod(made, name, self.said[name]) for name in on]
        for manifest in move.delete:
            job = job_of(manifest)
            assert job is not None
            assert self.standing.pop(job) == manifest

    def run(self, wanted: Prerequisites) -> Move | None:
        """Move after move, until there is none or one that is not to do anything."""
        for _ in range(50):
            move = next_move(wanted, self.situation())
            if not isinstance(move, Do):
                return move
            self.do(move)
        raise AssertionError("it never ends")

    def next_run(self) -> None:
        self.log.clear()
        self.pods.clear()
        self.now += timedelta(hours=1)
        self.runs += 1


def test_nodes_that_are_fine_are_looked_at_once() -> None:
    shoot = ToyShoot(a=FINE, b=FINE)

    assert shoot.run(REPAIR) is None
    assert shoot.log == ["probe a b"]
    assert shoot.standing == {}

    shoot.next_run()
    assert shoot.run(REPAIR) is None
    assert shoot.log == []


def test_with_require_nothing_is_repaired() -> None:
    shoot = ToyShoot(a=FINE, b=BROKEN)

    stop = shoot.run(REQUIRE)

    assert isinstance(stop, Stop)
    assert "1 of 2 nodes" in stop.message
    assert "b: D-Bus: a directory is at /run/dbus/system_bus_socket" in stop.message
    assert shoot.log == ["probe a b"]
    assert shoot.standing == {}


def test_nodes_are_repaired_one_after_the_other() -> None:
    shoot = ToyShoot(a=BROKEN, b=FINE, c=BROKEN)

    assert shoot.run(REPAIR) is None
    assert shoot.log == ["probe a b c", "repair a", "repair c"]

    shoot.next_run()
    assert shoot.run(REPAIR) is None
    assert shoot.log == []


def test_a_node_that_cannot_be_repaired_stops_with_its_own_words_before_the_next() -> None:
    shoot = ToyShoot(a=BROKEN, b=BROKEN)
    shoot.repair = lambda _: {**BROKEN, "error": "Device or resource busy"}

    stop = shoot.run(REPAIR)

    assert isinstance(stop, Stop)
    assert "a: D-Bus:" in stop.message
    assert "the node says: Device or resource busy" in stop.message
    assert shoot.log == ["probe a b", "repair a"]
    assert shoot.standing == {}


def test_the_next_run_looks_again_at_what_was_not_good_enough_and_at_nothing_else() -> None:
    shoot = ToyShoot(a=BROKEN, b=FINE)
    shoot.run(REQUIRE)
    shoot.next_run()
    shoot.said["a"] = FINE

    assert shoot.run(REQUIRE) is None
    assert shoot.log == ["probe a"]


def test_nothing_is_repaired_while_another_node_is_beyond_repair() -> None:
    shoot = ToyShoot(a=BROKEN, b={**FINE, "cgroup": 1})

    stop = shoot.run(REPAIR)

    assert isinstance(stop, Stop)
    assert "b: cgroup v2: cgroup v1" in stop.message
    assert shoot.log == ["probe a b"]


def test_a_runtime_without_nri_needs_no_look() -> None:
    shoot = ToyShoot(a=FINE)
    shoot.nodes["a"] = node("a", runtime="containerd://1.6.20")

    stop = shoot.run(REPAIR)

    assert isinstance(stop, Stop)
    assert shoot.log == []


@pytest.mark.parametrize(
    "again",
    [node("a", boot="boot-2"), node("a", runtime="containerd://2.0.1")],
    ids=["booted", "another-runtime"],
)
def test_a_node_that_changed_is_looked_at_again(again: Manifest) -> None:
    shoot = ToyShoot(a=FINE, b=FINE)
    shoot.run(REQUIRE)
    shoot.next_run()
    shoot.nodes["a"] = again

    assert shoot.run(REQUIRE) is None
    assert shoot.log == ["probe a"]


def test_a_node_that_comes_while_others_are_looked_at_is_looked_at_too() -> None:
    shoot = ToyShoot(a=FINE, b=FINE)
    shoot.run(REQUIRE)
    shoot.next_run()
    for name in ("c", "d"):
        shoot.nodes[name], shoot.said[name] = node(name), FINE
        move = next_move(REQUIRE, shoot.situation())
        assert isinstance(move, Do)
        shoot.do(move)

    assert shoot.run(REQUIRE) is None
    assert shoot.log == ["probe c", "probe c d"]


def test_a_node_that_is_gone_is_forgotten_with_the_next_look() -> None:
    shoot = ToyShoot(a=FINE, b=FINE)
    shoot.run(REQUIRE)
    del shoot.nodes["a"]
    shoot.nodes["c"], shoot.said["c"] = node("c"), FINE
    shoot.run(REQUIRE)

    assert set(read_ledger(shoot.ledger)) == {"b", "c"}


def test_a_repaired_node_is_waited_for_until_it_is_ready_and_runs_containers_again() -> None:
    shoot = ToyShoot(a=BROKEN)
    while Job.REPAIR not in shoot.standing:
        move = next_move(REPAIR, shoot.situation())
        assert isinstance(move, Do)
        shoot.do(move)
    repaired = shoot.pods.pop()

    for ready, running in (("False", True), ("True", False)):
        shoot.nodes["a"] = node("a", ready=ready)
        shoot.pods = [pod(shoot.standing[Job.REPAIR], "a", FINE, running=running)]
        move = next_move(REPAIR, shoot.situation())
        assert isinstance(move, Wait)
        assert "not Ready again" in move.message

    shoot.nodes["a"], shoot.pods = node("a"), [repaired]
    assert shoot.run(REPAIR) is None


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}, "Back-off pulling image"),
        ({"terminated": {"exitCode": 127, "message": "chroot: not found"}}, "chroot: not found"),
    ],
)
def test_what_keeps_a_job_from_working_is_told(state: dict[str, Any], words: str) -> None:
    shoot = ToyShoot(a=FINE)
    move = next_move(REQUIRE, shoot.situation())
    assert isinstance(move, Do)
    shoot.do(move)
    shoot.pods[0]["status"]["initContainerStatuses"][0]["state"] = state

    waiting = next_move(REQUIRE, shoot.situation())

    assert isinstance(waiting, Wait)
    assert words in waiting.message
    assert "kubectl -n kube-system" in waiting.hint


def test_a_node_that_says_nonsense_is_named() -> None:
    shoot = ToyShoot(a=FINE)
    shoot.said["a"] = "sh: syntax error"  # type: ignore[assignment]

    stop = shoot.run(REQUIRE)

    assert isinstance(stop, Stop)
    assert "sh: syntax error" in stop.message


def test_pods_of_an_earlier_daemon_set_say_nothing() -> None:
    shoot = ToyShoot(a=BROKEN)
    shoot.run(REQUIRE)
    stale = list(shoot.pods)
    shoot.next_run()
    shoot.said["a"] = FINE
    shoot.pods = stale

    assert shoot.run(REQUIRE) is None


def test_jobs_of_another_version_are_replaced() -> None:
    shoot = ToyShoot(a=FINE)
    move = next_move(REQUIRE, shoot.situation())
    assert isinstance(move, Do)
    shoot.do(move)
    other = Prerequisites(Demand.REQUIRE, image="elsewhere/tools:1")

    assert shoot.run(other) is None
    assert shoot.log == ["probe a", "probe a"]
    assert get(shoot.ledger, "data", "a")


def test_jobs_of_a_killed_run_are_taken_away() -> None:
    shoot = ToyShoot(a=FINE)
    shoot.run(REPAIR)
    for job in Job:
        shoot.standing[job] = {"metadata": {"uid": "old", "labels": {"shoot-gitops/node-job": job.value}}}

    assert shoot.run(REPAIR) is None
    assert shoot.standing == {}


def test_a_shoot_without_nodes_needs_nothing() -> None:
    assert ToyShoot().run(REPAIR) is None


def test_a_pod_that_is_going_says_nothing() -> None:
    shoot = ToyShoot(a=FINE)
    move = next_move(REQUIRE, shoot.situation())
    assert isinstance(move, Do)
    shoot.do(move)
    shoot.pods[0]["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"

    assert isinstance(next_move(REQUIRE, shoot.situation()), Wait)
