"""Composition refuses what the nodes would refuse."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gitops.desired.acceptance import refused_policies
from gitops.desired.compose import compose
from gitops.desired.documents import parse
from gitops.desired.overlay import Overlay
from gitops.errors import InvalidInput
from gitops.nri.acceptance.answers import Answers
from gitops.nri.acceptance.cpuset import parse_cpuset
from gitops.nri.acceptance.machine import Machine
from tests.desired.in_memory import POLICY, SHOOT, Files, overlay, repository

_POLICY = """\
apiVersion: config.nri/v1alpha1
kind: BalloonsPolicy
metadata: {{name: {name}, namespace: kube-system}}
spec:
  reservedResources: {{cpu: "{cpu}"}}
"""
_MACHINE = Machine(packages=1, nodes=1, cores=4, threads=1)


def _refused(name: str, cpu: str, **labels: str) -> list[str]:
    (document,) = parse(_POLICY.format(name=name, cpu=cpu).encode(), "policies/policy.yaml")
    worker: dict[str, Any] = {"name": "pool", "machine": {"type": "large"}, "labels": labels}
    shoot = {"kind": "Shoot", "spec": {"provider": {"type": "aws", "workers": [worker]}}}
    placed = [(document, document.manifest)]
    return [str(found) for found in refused_policies(shoot, placed, {"large": _MACHINE}, Answers())]


def test_a_declared_machine_that_refuses_a_policy_is_named_with_the_line() -> None:
    (refused,) = _refused("default", "cpuset:4")

    assert refused == (
        "policies/policy.yaml:5: BalloonsPolicy kube-system/default: a node of machine type large refuses it: "
        "reservedResources lists the CPUs 4, which are not on the machine; reserve some of the CPUs 0-3 "
        "[reserved-outside-available]"
    )


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        pytest.param("group.fast", {}, id="the pool is in no group"),
        pytest.param("default", {"config.nri/group": "fast"}, id="the pool is in a group"),
        pytest.param("node.one", {}, id="nobody knows the node's machine"),
    ],
)
def test_a_machine_is_not_asked_about_a_policy_that_it_will_not_use(name: str, labels: dict[str, str]) -> None:
    assert _refused(name, "cpuset:4", **labels) == []


def test_what_every_node_refuses_needs_no_machine() -> None:
    (refused,) = _refused("group.fast", "0-3")

    assert "every node refuses it" in refused


def test_other_objects_are_not_asked_about() -> None:
    (document,) = parse(
        yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}).encode(), "f"
    )

    assert list(refused_policies({}, [(document, document.manifest)], {}, Answers())) == []


_MACHINES = """\
  machines:
  - {type: large, shape: 2x2x2x2:64Gi, isolated: "2-3"}
"""


def _composed(machines: str, cpu: str) -> Overlay:
    shoot = SHOOT + "  provider: {type: aws, workers: [{name: pool, machine: {type: large}}]}\n"
    files = repository(overlay=overlay(machines), shoot=shoot, policy=POLICY.replace('"1"', f'"{cpu}"'))
    return compose(Files(files), "dev").overlay


def test_an_overlay_declares_machines_by_type() -> None:
    declared = _composed(_MACHINES, "cpuset:15").machines

    assert declared == {"large": Machine(2, 2, 2, 2, memory=64 * 2**30, isolated=parse_cpuset("2-3"))}


def test_composition_fails_where_a_declared_machine_refuses_a_policy() -> None:
    with pytest.raises(InvalidInput, match=r"default.yaml:7: .*machine type large.* \[reserved-outside-available\]"):
        _composed(_MACHINES, "cpuset:16")


def test_without_declared_machines_only_what_every_node_refuses_fails() -> None:
    assert _composed("", "cpuset:16").machines == {}
    with pytest.raises(InvalidInput, match=r"default.yaml:7: .*every node refuses it"):
        _composed("", "0-3")


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ("{type: large, shape: 2x2x2}", "is not a machine such as 2x2x8x2"),
        ("{type: large, shape: 1x1x1x1, isolated: 3-1}", "runs backwards"),
        ("{type: large}", "shape"),
    ],
)
def test_a_machine_that_cannot_be_read_is_told_with_its_line(machine: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"overlay.yaml:1[12]: .*{message}"):
        _composed(f"  machines:\n  - {machine}\n", "1")


def test_a_machine_type_is_declared_once() -> None:
    twice = _MACHINES + "  - {type: large, shape: 1x1x1x1}\n"
    with pytest.raises(
        InvalidInput, match=r"overlay.yaml:13: Overlay dev: machine type 'large' is there twice \[machine\]"
    ):
        _composed(twice, "1")
