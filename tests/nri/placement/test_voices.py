"""What the plugin tells in its log, its NodeResourceTopology and its metrics: never a crash, never an invention."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.manifest import Manifest
from gitops.nri.cpuset import cpuset_text, parse_cpuset
from gitops.nri.placement.log_lines import Line, read_line, read_log
from gitops.nri.placement.metrics import read_metrics
from gitops.nri.placement.told import Balloon, Told
from gitops.nri.placement.topology import read_topology

NAME = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
CONTAINERS = st.builds("{}/{}/{}".format, NAME, NAME, NAME)
BALLOONS = st.builds("{}[{}]".format, NAME, st.integers(0, 99))
CPUS = st.frozensets(st.integers(0, 255), max_size=16)
LINES = st.builds(Line, CONTAINERS, BALLOONS, CPUS)


def message(line: Line) -> str:
    return (
        f'assigning container {line.container} to balloon {line.balloon}{{cpus:"{cpuset_text(line.cpus)}", mems:"0"}}'
    )


def legacy(line: Line) -> str:
    return f"I: [ policy ] {message(line)}"


def klog(line: Line) -> str:
    return f"I0821 16:29:00.123456       1 log.go:470] [ policy ] {message(line)}"


def slog(line: Line) -> str:
    return f"level=INFO time=2026-08-21T16:29:00.123Z source=policy msg={json.dumps(message(line))}"


def slog_with_source_behind(line: Line) -> str:
    return f'time="2026-08-21 16:29:00" level=INFO msg={json.dumps(message(line))} source=policy'


def with_timestamp(line: Line) -> str:
    return f"2026-08-21T16:29:00.123456789Z {slog(line)}"


STYLES = [legacy, klog, slog, slog_with_source_behind, with_timestamp, message]
STYLE = st.sampled_from(STYLES)


@given(LINES, STYLE)
def test_an_assignment_is_read_back_in_every_style(line: Line, style: Callable[[Line], str]) -> None:
    assert read_line(style(line)) == line


@pytest.mark.parametrize(
    "text",
    [
        'I: [ policy ] assigning container default/pod0/c0 to balloon fast[0]{cpus:"4-5", mems:"0"}',
        r'level=INFO msg="assigning container default/pod0/c0 to balloon fast[0]{cpus:\"4-5\", mems:\"0\"}"',
    ],
    ids=["klog", "slog"],
)
def test_the_published_samples(text: str) -> None:
    assert read_line(text) == Line("default/pod0/c0", "fast[0]", frozenset({4, 5}))


@given(LINES, STYLE, st.data())
def test_a_truncated_line_tells_the_truth_or_nothing(
    line: Line, style: Callable[[Line], str], data: st.DataObject
) -> None:
    text = style(line)
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))

    assert read_line(text[start:end]) in (None, line)


@given(LINES, LINES, STYLE, STYLE, st.data())
def test_a_line_that_another_broke_into_invents_nothing(
    first: Line, second: Line, one: Callable[[Line], str], other: Callable[[Line], str], data: st.DataObject
) -> None:
    text = one(first)
    at = data.draw(st.integers(0, len(text)))
    mixed = text[:at] + other(second) + text[at:]

    assert read_line(mixed) in (None, first, second)


@given(st.lists(st.tuples(LINES, STYLE)), st.lists(st.text()))
def test_a_log_tells_the_last_word_on_each_container_whatever_else_it_holds(
    said: list[tuple[Line, Callable[[Line], str]]], noise: list[str]
) -> None:
    mixed = [style(line) for line, style in said]
    for text in noise:
        mixed.insert(len(text) % (len(mixed) + 1), text.replace("assigning", ""))

    told = read_log("\n".join(mixed))

    assert told.assignments == {line.container: line.balloon for line, _ in said}
    assert told.balloons == {line.balloon: Balloon(line.balloon, line.cpus) for line, _ in said}


@given(st.text())
def test_no_text_breaks_a_reader(text: str) -> None:
    read_line(text)
    read_log(text)
    read_metrics(text)
    parse_cpuset(text)


@pytest.mark.parametrize(
    "text",
    [
        'assigning container default/pod0 to balloon fast[0]{cpus:"4-5", mems:"0"}',
        'assigning container default/pod0/c0 to balloon fast{cpus:"4-5", mems:"0"}',
        'assigning container default/pod0/c0 to balloon fast[0]{cpus:"5-4", mems:"0"}',
        'assigning container default/pod0/c0 to balloon fast[0]{cpus:"4-5"',
        'not assigning container default/pod0/c0 to balloon fast[0]{cpus:"4-5", mems:"0"}',
        'level=INFO msg="assigning container default/pod0/c0 to balloon fast[0]{cpus:\\"4-5\\", mems:\\"0\\"}',
        'level=INFO msg="\\x" msg="assigning container a/b/c to balloon d[0]{cpus:\\"1\\", mems:\\"0\\"}"',
    ],
)
def test_what_is_no_assignment(text: str) -> None:
    assert read_line(text) is None


@given(CPUS)
def test_a_cpuset_is_read_back_as_it_was_written(cpus: frozenset[int]) -> None:
    assert parse_cpuset(cpuset_text(cpus)) == cpus


@pytest.mark.parametrize("text", ["1-", "-1", "3-1", "1,,2", "0-99999", "a", " 1", "1 "])
def test_what_is_no_cpuset(text: str) -> None:
    assert parse_cpuset(text) is None


def topology(balloons: dict[str, str], containers: dict[str, str]) -> Manifest:
    """As the plugin writes it."""
    zones = [
        {"name": name, "type": "balloon", "attributes": [{"name": "cpuset", "value": cpus}]}
        for name, cpus in balloons.items()
    ]
    zones += [
        {"name": name, "type": "allocation for container", "parent": parent} for name, parent in containers.items()
    ]
    return {"kind": "NodeResourceTopology", "metadata": {"name": "w1-0"}, "zones": zones}


@given(st.dictionaries(BALLOONS, CPUS, min_size=1), st.lists(CONTAINERS, unique=True), st.data())
def test_zones_are_read_back(balloons: dict[str, frozenset[int]], containers: list[str], data: st.DataObject) -> None:
    assigned = {name: data.draw(st.sampled_from(sorted(balloons))) for name in containers}

    told = read_topology(topology({name: cpuset_text(cpus) for name, cpus in balloons.items()}, assigned))

    assert told is not None
    assert {name: balloon.cpus for name, balloon in told.balloons.items()} == balloons
    assert told.assignments == assigned
    assert told.names_containers is bool(assigned)


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"zones": None},
        {"zones": [{"name": "node-0", "type": "Node", "resources": []}]},
        {"zones": ["zone", {"type": "balloon"}, {"name": 3, "type": "balloon"}]},
        {"zones": [{"name": "fast[0]", "type": "balloon", "attributes": [{"name": "cpuset", "value": "broken"}]}]},
    ],
)
def test_zones_of_others_tell_nothing(manifest: Manifest) -> None:
    assert read_topology(manifest) is None


def test_a_container_in_a_zone_that_is_not_there_is_not_assigned() -> None:
    told = read_topology(topology({"fast[0]": "4-5"}, {"a/b/c": "slow[0]"}))

    assert told is not None
    assert told.assignments == {}


SAMPLE = (
    'nri_policy_balloons_cores{balloon="fast[0]",balloon_type="fast",containers="default/pod0/c0,default/pod1/c0",'
    'cpu_class="",cpus="4-5",cpus_allowed="4-7",cpus_count="2",sharedidlecpus="6-7",mems="0",groups=""} 2'
)


def test_metrics() -> None:
    told = read_metrics(f"# HELP x\n# TYPE x gauge\n{SAMPLE}\nprocess_cpu_seconds_total 3\n")

    assert told is not None
    assert told.balloons == {"fast[0]": Balloon("fast[0]", frozenset({4, 5}), frozenset({6, 7}))}
    assert told.assignments == {"default/pod0/c0": "fast[0]", "default/pod1/c0": "fast[0]"}


@given(st.integers(0, len(SAMPLE)))
def test_truncated_metrics_tell_the_truth_or_nothing(end: int) -> None:
    told = read_metrics(SAMPLE[:end])

    whole: Told | None = read_metrics(SAMPLE)
    assert told in (None, whole)
