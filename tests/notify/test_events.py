"""Events on the Shoot: where there is something to say, and never more than a word when they may not be written."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from gitops.gardener.shoot_record import parse_timestamp
from gitops.kube.cluster import Cluster
from gitops.kube.transport import Request, Response
from gitops.manifest import GARDEN
from gitops.notify.events import MESSAGE, ShootEvents
from tests.kube.in_memory import Server, answer, refusal
from tests.notify.runs import BROKEN, WORKING, Runs
from tests.report.rollouts import NOON

DRIFTED = {"garden-local/canary": WORKING, "garden-local/fleet-00": WORKING, "garden-local/fleet-01": WORKING}
EVENTS = "/api/v1/namespaces/garden-local/events"


class Garden:
    """Keeps Events, as far as they are allowed.

    Attributes:
        events: by name.
    """

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.refusal: Response | None = None
        self.server = Server(self._answer)
        self.cluster = Cluster(self.server, target=GARDEN)
        self.told: list[str] = []

    def observer(self, runs: Runs) -> ShootEvents:
        return ShootEvents(runs.landscape, self.told.append)

    @property
    def said(self) -> list[tuple[str, str, str]]:
        """Shoot, type and reason of each."""
        events = self.events.values()
        return sorted((event["involvedObject"]["name"], event["type"], event["reason"]) for event in events)

    def _answer(self, request: Request) -> Response:
        if self.refusal is not None:
            return self.refusal
        body: Any = json.loads(request.body) if request.body else None
        name = request.path.removeprefix(EVENTS).strip("/")
        match request.method:
            case "POST" if body["metadata"]["name"] in self.events:
                return refusal(409, "exists already", "AlreadyExists", name=body["metadata"]["name"])
            case "POST":
                body["metadata"]["resourceVersion"] = "1"
                self.events[body["metadata"]["name"]] = body
                return answer(body, 201)
            case "PATCH":
                for operation in body[1:]:
                    self.events[name][operation["path"].strip("/")] = operation["value"]
        return answer(self.events[name])


def test_a_shoot_that_was_written_has_an_event() -> None:
    runs, garden = Runs(DRIFTED), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)

    assert garden.said == [
        ("canary", "Normal", "Reconciled"),
        ("fleet-00", "Normal", "Reconciled"),
        ("fleet-01", "Normal", "Reconciled"),
    ]
    event = next(iter(garden.events.values()))
    assert event["metadata"]["namespace"] == event["involvedObject"]["namespace"] == "garden-local"
    assert event["involvedObject"] | {"name": ""} == {
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "namespace": "garden-local",
        "name": "",
        "uid": "0",
    }
    assert event["message"] == "overlay dev at 1a2b3c4d5e6f, 1 object written"
    assert (event["count"], event["source"]) == (1, {"component": "shoot-gitops"})
    assert garden.told == []


def test_a_run_that_finds_everything_as_the_last_one_left_it_writes_nothing() -> None:
    runs, garden = Runs(DRIFTED), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)
    before = len(garden.server.requests)
    runs.run(garden.observer(runs), garden=garden.cluster)

    assert len(garden.server.requests) == before


def test_the_first_run_over_a_fleet_that_is_as_declared_writes_nothing() -> None:
    runs, garden = Runs(), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)

    assert garden.server.requests == []


def test_a_failure_is_a_warning_with_its_reason_and_a_recovery_is_told() -> None:
    runs, garden = Runs({"garden-local/canary": (*BROKEN, *WORKING)}), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)
    assert garden.said == [("canary", "Warning", "ReconcileFailed")]
    (event,) = garden.events.values()
    assert "the machines are gone" in event["message"]

    runs.landscape.sleep(60)
    runs.landscape.shoots["garden-local/canary"]["status"] = WORKING[-1]
    runs.run(garden.observer(runs), garden=garden.cluster)

    assert ("canary", "Normal", "Reconciled") in garden.said


def test_a_repetition_is_counted_where_it_is() -> None:
    runs, garden = Runs(DRIFTED), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)
    again = Runs(DRIFTED)
    again.landscape.sleep(timedelta(minutes=5).total_seconds())
    again.run(garden.observer(again), garden=garden.cluster)

    assert len(garden.events) == 3
    event = garden.events[min(garden.events)]
    assert event["count"] == 2
    assert event["firstTimestamp"] < event["lastTimestamp"]


def test_a_canary_is_told_before_it_soaks() -> None:
    runs, garden = Runs(DRIFTED, soak=timedelta(hours=2)), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)

    canary = next(event for event in garden.events.values() if event["involvedObject"]["name"] == "canary")
    assert parse_timestamp(canary["lastTimestamp"]) - NOON < timedelta(minutes=1)


def test_events_that_may_not_be_written_are_told_once_and_harm_nothing() -> None:
    runs, garden = Runs(DRIFTED), Garden()
    garden.refusal = refusal(403, 'events is forbidden: User "x" cannot create resource', "Forbidden")
    record = runs.run(garden.observer(runs), garden=garden.cluster)

    assert record is not None
    assert record.result.outcome.value == "Converged"
    assert len(garden.told) == 1
    assert garden.told[0].startswith("Events are not written: ")


def test_events_that_cannot_be_written_are_counted() -> None:
    runs, garden = Runs(DRIFTED), Garden()
    garden.refusal = refusal(422, "no")
    runs.run(garden.observer(runs), garden=garden.cluster)

    assert garden.told == [f"3 Events not written: POST {EVENTS}: no"]


def test_a_message_fits() -> None:
    long = (WORKING[0] | {"lastOperation": {**BROKEN[0]["lastOperation"], "description": "x" * 5000}},)
    runs, garden = Runs({"garden-local/canary": long}), Garden()
    runs.run(garden.observer(runs), garden=garden.cluster)

    (event,) = garden.events.values()
    assert len(event["message"]) == MESSAGE
