from datetime import UTC, datetime
from typing import Any

import pytest

from gitops.sandbox import Landscape, OperationFault, Pace, Request, UnreachableError, VirtualClock
from gitops.sandbox.gardenlet import until_window
from tests.sandbox.driving import (
    EXTENSION,
    POLICIES,
    SHOOTS,
    RefusedError,
    declared,
    enable,
    garden,
    minted,
    shoot,
)

_PACE = Pace()
_NODES = Request("GET", "/api/v1/nodes")


def _status(landscape: Landscape, name: str = "one") -> Any:
    return garden(landscape).get(f"{SHOOTS}/{name}")["status"]


def _story(landscape: Landscape) -> list[tuple[int, str, str]]:
    """Watch ten minutes of a Shoot, change by change: observedGeneration, state, conditions."""
    seen: list[tuple[int, str, str]] = []
    for _ in range(600):
        status = _status(landscape)
        conditions = "/".join(sorted({item["status"] for item in status["conditions"]}))
        now = (status["observedGeneration"], status["lastOperation"]["state"], conditions)
        if not seen or seen[-1] != now:
            seen.append(now)
        landscape.advance(1)
    return seen


def test_an_operation_is_observed_at_its_start_and_conditions_follow_after_its_end() -> None:
    landscape = Landscape([declared("one")])
    enable(landscape, "one")
    assert _story(landscape) == [
        (1, "Succeeded", "True"),
        (2, "Processing", "True"),
        (2, "Succeeded", "Progressing"),
        (2, "Succeeded", "True"),
    ]


def test_an_extension_brings_its_kinds_and_takes_them_away() -> None:
    landscape = Landscape([declared("one")])
    client = shoot(landscape, "one")
    with pytest.raises(RefusedError) as refused:
        client.get(POLICIES)
    assert refused.value.status == 404
    enable(landscape, "one")
    landscape.advance(_PACE.operation + _PACE.reaction)
    assert client.get(POLICIES)["items"] == []
    extensions = [{"type": EXTENSION, "disabled": True}]
    garden(landscape).merge(f"{SHOOTS}/one", {"spec": {"extensions": extensions}})
    landscape.advance(_PACE.operation + _PACE.reaction)
    with pytest.raises(RefusedError) as refused:
        client.get(POLICIES)
    assert refused.value.status == 404


def test_a_change_during_an_operation_starts_another_one() -> None:
    landscape = Landscape([declared("one")])
    enable(landscape, "one")
    landscape.advance(60)
    garden(landscape).merge(f"{SHOOTS}/one", {"spec": {"purpose": "testing"}})
    landscape.advance(60 + _PACE.reaction)
    assert _status(landscape)["observedGeneration"] == 2
    landscape.advance(300)
    assert _status(landscape)["observedGeneration"] == 3


def test_the_annotation_alone_starts_an_operation() -> None:
    landscape = Landscape([declared("one")])
    patch = {"metadata": {"annotations": {"gardener.cloud/operation": "reconcile"}}}
    assert garden(landscape).merge(f"{SHOOTS}/one", patch)["metadata"]["generation"] == 2
    landscape.advance(_PACE.reaction)
    assert _status(landscape)["lastOperation"]["state"] == "Processing"


def test_a_confined_change_waits_for_the_maintenance_window() -> None:
    window = {"begin": "220000+0100", "end": "230000+0100"}
    maintenance = {"confineSpecUpdateRollout": True, "timeWindow": window}
    clock = VirtualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    landscape = Landscape([declared("one", maintenance=maintenance)], clock)
    enabled = enable(landscape, "one")
    assert enabled["metadata"]["generation"] == 1
    landscape.advance(8 * 3600)
    assert _status(landscape)["lastOperation"]["type"] == "Create"
    landscape.advance(2 * 3600)
    assert _status(landscape)["lastOperation"]["type"] == "Reconcile"
    assert _status(landscape)["lastOperation"]["lastUpdateTime"] == "2026-03-01T21:02:00Z"


@pytest.mark.parametrize(
    ("begin", "hours"),
    [("220000+0100", 9.0), ("120000+0000", 24.0), ("123000-0100", 1.5), ("010000+0200", 11.0)],
)
def test_windows_have_a_fixed_offset(begin: str, hours: float) -> None:
    assert until_window(begin, datetime(2026, 3, 1, 12, tzinfo=UTC)) == hours * 3600


def test_an_error_is_tried_again_and_a_failure_waits_for_a_retry() -> None:
    landscape = Landscape([declared("one")])
    landscape.faults.operations.append(OperationFault("garden-dev/one", codes=("ERR_X",), times=1))
    enable(landscape, "one")
    assert [state for _, state, _ in _story(landscape)] == [
        "Succeeded",
        "Processing",
        "Error",
        "Processing",
    ] + ["Succeeded"] * 2
    landscape.faults.operations.append(
        OperationFault("*", state="Failed", codes=("ERR_CONFIGURATION_PROBLEM",), times=1)
    )
    client = garden(landscape)
    client.merge(f"{SHOOTS}/one", {"spec": {"purpose": "testing"}})
    landscape.advance(3600)
    failed = _status(landscape)
    assert failed["lastOperation"]["state"] == "Failed"
    assert failed["lastErrors"][0]["codes"] == ["ERR_CONFIGURATION_PROBLEM"]
    client.merge(f"{SHOOTS}/one", {"metadata": {"annotations": {"gardener.cloud/operation": "retry"}}})
    landscape.advance(3600)
    assert _status(landscape)["lastOperation"]["state"] == "Succeeded"
    assert "lastErrors" not in _status(landscape)


def test_a_gardenlet_that_never_finishes() -> None:
    landscape = Landscape([declared("one")])
    landscape.faults.operations.append(OperationFault("*", state="Never"))
    enable(landscape, "one")
    landscape.advance(86400)
    assert _status(landscape)["lastOperation"]["state"] == "Processing"
    assert _status(landscape)["observedGeneration"] == 2


def test_hibernation_takes_the_api_away_and_waking_up_brings_it_back() -> None:
    landscape = Landscape([declared("one")])
    path, client = f"{SHOOTS}/one", garden(landscape)
    shoot(landscape, "one").call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "x"}})
    client.merge(path, {"spec": {"hibernation": {"enabled": True}}})
    landscape.advance(300)
    status = _status(landscape)
    assert status["hibernated"] is True
    assert {item["reason"] for item in status["conditions"]} == {"ConditionNotChecked"}
    with pytest.raises(UnreachableError):
        shoot(landscape, "one").get("/api/v1/nodes")
    client.merge(path, {"spec": {"hibernation": {"enabled": False}}})
    landscape.advance(300)
    assert len(shoot(landscape, "one").get("/api/v1/nodes")["items"]) == 2
    assert shoot(landscape, "one").get("/api/v1/namespaces/default/configmaps/x")


def test_a_confirmed_deletion_takes_the_shoot_and_its_api_away() -> None:
    landscape = Landscape([declared("one")])
    client, config = garden(landscape), minted(landscape, "one")
    with pytest.raises(RefusedError, match="confirmation"):
        client.call("DELETE", f"{SHOOTS}/one")
    client.merge(f"{SHOOTS}/one", {"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "true"}}})
    client.call("DELETE", f"{SHOOTS}/one")
    landscape.advance(300)
    with pytest.raises(RefusedError) as refused:
        client.get(f"{SHOOTS}/one")
    assert refused.value.status == 404
    with pytest.raises(UnreachableError):
        landscape.connect(config)(_NODES)


def test_a_new_shoot_is_created_in_time() -> None:
    landscape = Landscape([declared("one")])
    template = garden(landscape).get(f"{SHOOTS}/one")
    new = {**template, "metadata": {"name": "two", "namespace": "garden-dev"}, "status": {}}
    garden(landscape).call("POST", SHOOTS, new)
    with pytest.raises(RefusedError, match="advertised address"):
        minted(landscape, "two")
    landscape.advance(300)
    assert _status(landscape, "two")["lastOperation"]["type"] == "Create"
    assert shoot(landscape, "two").get("/api/v1/nodes")["items"]
