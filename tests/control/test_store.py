"""What people ask, kept in a ConfigMap: what is written is read, and nobody is overruled."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.control.control import NOTHING_ASKED, Approval, Control, Hold, Suspension
from gitops.control.document import control_of, data_of
from gitops.control.store import LIMIT, change_control, load_control
from gitops.desired.overlay import Overlay
from gitops.errors import Conflict, Refused
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request
from tests.end_to_end.requests import Requests
from tests.end_to_end.sandbox_fleet import NAMESPACE, SandboxFleet

TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001 - of UTC
    lambda moment: moment.replace(microsecond=0)
)
SUSPENSIONS = st.builds(Suspension, st.text(), TIMES, st.text())
COMMITS = st.text("0123456789abcdef", min_size=40, max_size=40)
NAMES = st.text("abc/-", min_size=1)
APPROVALS = st.builds(
    Approval, st.text(), TIMES, COMMITS, st.text(), st.dictionaries(NAMES, st.frozensets(NAMES, max_size=4), max_size=4)
)
CONTROLS = st.builds(
    Control,
    st.none() | SUSPENSIONS,
    st.dictionaries(NAMES, SUSPENSIONS, max_size=3),
    st.lists(APPROVALS, max_size=3).map(tuple),
    st.none() | st.builds(Hold, COMMITS, COMMITS, st.text(), TIMES, st.text()),
    st.just("7"),
)
THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
JANE, JOE = Suspension("jane", THEN), Suspension("joe", THEN)


@given(control=CONTROLS)
def test_what_is_written_is_read(control: Control) -> None:
    assert control_of(data_of(control), "7") == control


SOUND = data_of(Control(JANE))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {**SOUND, "hold": "{"},
        {**SOUND, "hold": '{"from": "main", "to": "v1", "by": "jane", "at": "2026-11-30T10:00:00Z"}'},
        {**SOUND, "hold": "[1]"},
        {**SOUND, "suspension": "null"},
        {**SOUND, "suspension": '{"overlay": {"by": 7, "at": "2026-11-30T10:00:00Z", "reason": ""}, "shoots": {}}'},
        {**SOUND, "suspension": '{"overlay": {"by": "jane", "at": "today", "reason": ""}, "shoots": {}}'},
        {**SOUND, "approvals": '[{"by": "jane"}]'},
    ],
    ids=["empty", "no-json", "no-commits", "list", "null", "number", "time", "approval"],
)
def test_what_is_not_ours_is_refused(garden: Cluster, overlay: Overlay, data: dict[str, str]) -> None:
    metadata = {"name": "shoot-gitops-dev-control", "namespace": NAMESPACE}
    garden.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})

    with pytest.raises(Refused, match=r"shoot-gitops-dev-control holds nothing that can be read.*delete it"):
        load_control(garden, overlay)


def test_nothing_is_asked_until_somebody_does(garden: Cluster, overlay: Overlay, requests: Requests) -> None:
    assert load_control(garden, overlay) == NOTHING_ASKED
    assert change_control(garden, overlay, lambda control: control) == NOTHING_ASKED
    assert requests.writes == []


def test_it_is_read_by_its_name_in_one_request(garden: Cluster, overlay: Overlay, requests: Requests) -> None:
    load_control(garden, overlay)

    (request,) = requests.sent
    assert ("fieldSelector", "metadata.name=shoot-gitops-dev-control") in request.query


@pytest.mark.parametrize("exists", [True, False], ids=["there", "not-there"])
def test_whoever_asks_at_the_same_time_is_not_overruled(
    garden: Cluster, overlay: Overlay, fleet: SandboxFleet, *, exists: bool
) -> None:
    if exists:
        change_control(garden, overlay, lambda control: control.suspended(JOE, "a/z"))
    others = iter([lambda control: control.suspended(JANE, "a/b")])

    def change(control: Control) -> Control:
        if (other := next(others, None)) is not None:
            with fleet.world(Requests()) as world:
                change_control(world.garden, overlay, other)
        return control.suspended(JOE, None)

    change_control(garden, overlay, change)

    found = load_control(garden, overlay)
    assert (found.suspension, found.shoots["a/b"]) == (JOE, JANE)


def test_a_conflict_that_never_ends_is_told(garden: Cluster, overlay: Overlay, requests: Requests) -> None:
    change_control(garden, overlay, lambda control: control.suspended(JANE, None))
    numbers = iter(range(100))

    def always_faster(request: Request) -> None:
        if request.writes:
            raise Conflict(f"the object has been modified {next(numbers)} times", status=409)

    requests.before = always_faster
    with pytest.raises(Conflict):
        change_control(garden, overlay, lambda control: control.resumed(None))
    assert next(numbers) == 10


def test_an_approval_that_is_too_large_is_refused_and_nothing_is_written(
    garden: Cluster, overlay: Overlay, requests: Requests
) -> None:
    names = frozenset({"0" * 32})
    shoots = {f"garden-dev/{number:050}": names for number in range(LIMIT // 64)}
    approval = Approval("jane", THEN, "1" * 40, "sha256:" + "0" * 64, shoots)

    with pytest.raises(Refused, match="divide the overlay"):
        change_control(garden, overlay, lambda control: replace(control, approvals=(approval,)))
    assert requests.writes == []


def test_ten_thousand_shoots_that_get_the_same_fit() -> None:
    names = frozenset(f"{number:032x}" for number in range(5))
    shoots = {f"garden-project/production-{number}": names for number in range(10_000)}
    approval = Approval("jane", THEN, "1" * 40, "sha256:" + "0" * 64, shoots)

    assert sum(map(len, data_of(Control(approvals=(approval,))).values())) < LIMIT


def test_a_suspended_overlay_goes_on_with_what_holds_and_another_where_git_is() -> None:
    held = Control(JANE, {"a/b": JOE}, hold=Hold("1" * 40, "2" * 40, "jane", THEN))

    assert held.resumed("a/b").shoots == {}
    assert held.resumed("a/b").hold is not None
    assert held.resumed(None) == Control(None, {"a/b": JOE}, hold=held.hold)
    assert held.resumed(None).resumed(None) == Control(None, {"a/b": JOE})


def test_a_hold_is_about_one_revision() -> None:
    control = Control(hold=Hold("1" * 40, "2" * 40, "jane", THEN))

    assert control.hold_on("1" * 40) == control.hold
    assert control.hold_on("3" * 40) is None
    assert control.hold_on("3" * 40, "abc") is None, "it is not known what the bad one declares"
    assert json.loads(data_of(control)["hold"])["from"] == "1" * 40


@pytest.fixture
def fleet(tmp_path: Path) -> SandboxFleet:
    return SandboxFleet(tmp_path)


@pytest.fixture
def requests() -> Requests:
    return Requests()


@pytest.fixture
def garden(fleet: SandboxFleet, requests: Requests) -> Any:
    with fleet.world(requests) as world:
        yield world.garden


@pytest.fixture
def overlay(fleet: SandboxFleet) -> Overlay:
    return fleet.composed().overlay
