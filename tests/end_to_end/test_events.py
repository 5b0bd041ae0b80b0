"""Events on the Shoots of a fleet that lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitops.desired.whole import compose_whole
from gitops.notify.events import ShootEvents
from gitops.pipeline import reconcile
from gitops.record.record import Record
from gitops.rollout.rollout import RunOutcome
from gitops.world import Pace
from tests.end_to_end.fleet import NAMES, NOW, Fleet
from tests.end_to_end.repository import balloons
from tests.end_to_end.requests import Requests


def run(fleet: Fleet, told: Callable[[str], Any], requests: Requests | None = None) -> Record:
    """One run that is told on the Shoots."""
    with fleet.alive(), fleet.world(requests or Requests()) as world, fleet.artifact() as artifact:
        desired = compose_whole(artifact, "dev", NOW)
        events = ShootEvents(world.clock, told)
        return reconcile(world, desired, trigger="command", pace=Pace(fleet.poll), observer=events)


def ours(fleet: Fleet) -> dict[str, list[tuple[str, str, int]]]:
    """Type, reason and count of our Events, by Shoot; each must be about the Shoot that is there."""
    found: dict[str, list[tuple[str, str, int]]] = {name: [] for name in NAMES}
    for event in fleet.client.get(f"/api/v1/namespaces/{fleet.namespace}/events")["items"]:
        if event.get("source", {}).get("component") == "shoot-gitops":
            regarding = event["involvedObject"]
            assert regarding["uid"] == fleet.shoot(regarding["name"])["metadata"]["uid"]
            found[regarding["name"]].append((event["type"], event["reason"], event["count"]))
    return {name: sorted(events) for name, events in found.items()}


def test_a_rollout_is_told_on_each_shoot_and_a_run_without_news_writes_nothing(fleet: Fleet) -> None:
    told: list[str] = []
    rollout = Requests()
    record = run(fleet, told.append, rollout)

    assert record.result.outcome is RunOutcome.CONVERGED, record.result.message
    written = [request.path for request in rollout.sent if request.method != "GET"]
    events = [number for number, path in enumerate(written) if "/events" in path]
    leases = [number for number, path in enumerate(written) if "/leases" in path]
    assert leases[0] < min(events) <= max(events) < leases[-1], "Events are written while the lease is held"
    assert ours(fleet) == {name: [("Normal", "Reconciled", 1)] for name in NAMES}

    requests = Requests()
    assert run(fleet, told.append, requests).result.outcome is RunOutcome.CONVERGED
    assert requests.writes == []
    assert told == []


def test_a_shoot_that_failed_carries_a_warning_and_its_recovery(fleet: Fleet) -> None:
    told: list[str] = []
    run(fleet, told.append)
    node = fleet.nodes("one")[0]
    fleet.refuse("one", node, "not enough CPUs")
    fleet.repository.policy("default", **balloons("3"))
    fleet.repository.commit("ask for more")
    assert run(fleet, told.append).result.outcome is RunOutcome.STOPPED
    fleet.accept("one")
    fleet.repository.policy("default", **balloons("2"))
    fleet.repository.commit("ask for less")
    assert run(fleet, told.append).result.outcome is RunOutcome.CONVERGED

    reasons = [reason for _, reason, _ in ours(fleet)["one"]]
    assert sorted(reasons) == ["ReconcileFailed", "Reconciled", "Reconciled"]
    assert told == []
