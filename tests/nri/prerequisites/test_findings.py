"""Whether a node has what is asked of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.manifest import Manifest
from gitops.nri.prerequisites.facts import node_facts, static_cpu_pools
from gitops.nri.prerequisites.findings import Evidence, verdicts
from gitops.nri.prerequisites.node_report import parse_report
from gitops.nri.prerequisites.wanted import Demand, Need, Prerequisites
from gitops.verdict import Status
from tests.actors.node_jobs import FINE
from tests.nri.prerequisites.nodes import node, report

ALL = Prerequisites(Demand.REQUIRE, Demand.REQUIRE, Demand.REQUIRE)
REPAIRED = Prerequisites(Demand.REPAIR, Demand.REPAIR, Demand.REQUIRE)


@pytest.mark.parametrize(
    ("need", "differences", "words"),
    [
        (Need.DBUS, {"dbus": "directory"}, "a directory is at /run/dbus/system_bus_socket"),
        (Need.DBUS, {"dbus": "absent", "dbusDaemon": "missing"}, "D-Bus is not installed"),
        (Need.DBUS, {"dbus": "dangling"}, "a link to nothing"),
        (Need.DBUS, {"dbus": "file"}, "a plain file"),
        (Need.DBUS, {"dbusDaemon": "masked"}, "its units are masked"),
        (Need.DBUS, {"dbusDaemon": "inactive"}, "it does not run"),
        (Need.DBUS, {"dbus": "sculpture"}, "'sculpture'"),
        (Need.NRI, {"nri": "disabled", "nriSocket": False}, "disabled in containerd's configuration"),
        (Need.NRI, {"nri": "disabled"}, "disabled in containerd's configuration"),
        (Need.NRI, {"nri": "disabled-plugin", "nriSocket": False}, "disabled_plugins"),
        (Need.NRI, {"nri": "broken", "nriSocket": False}, "cannot read its configuration"),
        (Need.NRI, {"nriSocket": False}, "/run/nri/nri.sock is not there"),
        (Need.CGROUP_V2, {"cgroup": 1, "cgroupDriver": "cgroupfs"}, "cgroup v1, driver cgroupfs"),
        (Need.CGROUP_V2, {"cgroup": 0}, "no cgroups are mounted"),
    ],
)
def test_what_is_missing_fails_with_the_reason_and_nothing_else_does(
    need: Need, differences: dict[str, Any], words: str
) -> None:
    found = verdicts(ALL, Evidence(node_facts(node("w1-0")), report(**differences)))

    assert found[need].status is Status.FAILED
    assert words in found[need].message
    assert {status.status for other, status in found.items() if other is not need} == {Status.CURRENT}


def test_a_node_that_is_fine() -> None:
    found = verdicts(ALL, Evidence(node_facts(node("w1-0")), report()))

    assert {verdict.status for verdict in found.values()} == {Status.CURRENT}


def test_a_node_that_nobody_looked_at_is_unknown() -> None:
    found = verdicts(ALL, Evidence(node_facts(node("w1-0")), None))

    assert {verdict.status for verdict in found.values()} == {Status.UNKNOWN}


def test_what_a_repair_is_asked_for_is_in_progress_until_it_was_tried() -> None:
    facts, lacking = node_facts(node("w1-0")), {"dbus": "directory", "nri": "disabled", "nriSocket": False, "cgroup": 1}

    before = verdicts(REPAIRED, Evidence(facts, report(**lacking)))
    after = verdicts(REPAIRED, Evidence(facts, report(**lacking, error="Device or resource busy"), repaired=True))

    assert (before[Need.DBUS].status, before[Need.NRI].status) == (Status.IN_PROGRESS, Status.IN_PROGRESS)
    assert before[Need.CGROUP_V2].status is Status.FAILED
    assert after[Need.DBUS].status is Status.FAILED
    assert "the node says: Device or resource busy" in after[Need.DBUS].message


def test_what_is_ignored_has_no_verdict() -> None:
    wanted = Prerequisites(dbus=Demand.REQUIRE)

    assert set(verdicts(wanted, Evidence(node_facts(node("w1-0")), None))) == {Need.DBUS}
    assert not Prerequisites().any


@pytest.mark.parametrize(
    ("runtime", "refused"),
    [
        ("containerd://1.6.36", "needs containerd 1.7 or newer"),
        ("containerd://1.7.0", ""),
        ("containerd://2.1.4", ""),
        ("containerd://v2.0.0-rc.3", ""),
        ("cri-o://1.25.4", "needs cri-o 1.26 or newer"),
        ("cri-o://1.26.2", ""),
        ("docker://24.0.7", "needs containerd or CRI-O"),
        ("gvisor", "needs containerd or CRI-O"),
        ("", ""),
    ],
)
def test_a_runtime_without_nri_is_refused_before_anybody_looks(runtime: str, refused: str) -> None:
    found = verdicts(REPAIRED, Evidence(node_facts(node("w1-0", runtime=runtime)), None))[Need.NRI]

    assert found.status is (Status.FAILED if refused else Status.UNKNOWN)
    assert refused in found.message


def test_facts_of_a_node_that_says_nothing_are_empty() -> None:
    facts = node_facts({"metadata": {"name": "w1-0"}})

    assert (facts.runtime, facts.kubelet, facts.ready, facts.runtime_version) == ("", "", False, None)


@pytest.mark.parametrize(
    ("everywhere", "own", "static"),
    [
        (None, None, False),
        ({"cpuManagerPolicy": "static"}, None, True),
        ({"cpuManagerPolicy": "static"}, {"maxPods": 50}, False),
        ({"cpuManagerPolicy": "none"}, {"cpuManagerPolicy": "static"}, True),
    ],
    ids=["nowhere", "for-all", "replaced-by-the-pools-own", "in-the-pool"],
)
def test_pools_with_the_static_cpu_manager(everywhere: Manifest | None, own: Manifest | None, static: bool) -> None:  # noqa: FBT001 - a table's column
    worker = {"name": "w1", **({"kubernetes": {"kubelet": own}} if own else {})}
    shoot = {"spec": {"kubernetes": {"kubelet": everywhere}, "provider": {"workers": [worker]}}}

    assert static_cpu_pools(shoot) == (("w1",) if static else ())


def test_a_report_is_read_back_as_it_was_written() -> None:
    made = report(changed=["restarted containerd"], error='"quoted"')

    assert parse_report(json.dumps(made.document())) == made


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.sampled_from(sorted(FINE)), JSON)
def test_a_report_with_anything_else_in_it_is_no_report_or_a_sound_one(key: str, value: Any) -> None:
    read = parse_report(json.dumps({**FINE, key: value}))

    assert read is None or isinstance(read.error, str)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    parse_report(text)
