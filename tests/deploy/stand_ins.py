"""What the rollouts of the tests do not do: Events, which an observer of a run writes.

They are written by its own function, twice, so that the second one is counted; or, until there is such a room, as it
will write them.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from gitops.deploy.printed import Part
from gitops.kube.transport import Request
from tests.deploy.declared import NAMESPACE, NEW
from tests.deploy.rights_fleet import RightsFleet
from tests.end_to_end.requests import Requests

_PATCH = "application/json-patch+json"


def stand_in(fleet: RightsFleet) -> None:
    """Write an Event in each namespace; every request succeeds, which only the printed rights allow."""
    for namespace in (NAMESPACE, NEW):
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "one.1", "namespace": namespace},
            "involvedObject": {"kind": "Shoot", "namespace": namespace, "name": "one"},
            "reason": "Reconciled",
            "count": 1,
            "lastTimestamp": "2026-01-01T00:00:00Z",
        }
        if not _built("gitops.notify"):
            _create_and_count(fleet, f"/api/v1/namespaces/{namespace}/events", event, "/count")
        else:
            with fleet.world(Requests()) as world:
                for _ in range(2):
                    import_module("gitops.notify.events").write_event(world.garden, event)


def _built(room: str) -> bool:
    spec = find_spec(room)
    return spec is not None and spec.origin is not None  # a folder that is left of it is no room


def _create_and_count(fleet: RightsFleet, collection: str, manifest: dict[str, Any], counter: str) -> None:
    path = f"{collection}/{manifest['metadata']['name']}"
    _send(fleet, Request("POST", collection, (), json.dumps(manifest).encode(), "application/json"))
    _send(fleet, Request("GET", path))
    counted = [{"op": "add", "path": counter, "value": 2}]
    _send(fleet, Request("PATCH", path, (), json.dumps(counted).encode(), _PATCH))


def _send(fleet: RightsFleet, request: Request) -> None:
    response = fleet.send(Part.PROJECT, request)
    assert response.status < 300, response.body
