"""NodeResourceTopology of the balloons plugin: a zone per balloon, and with `showContainersInNrt` one per container.

Source: nri-plugins cmd/plugins/balloons/policy (GetTopologyZones); topology.node.k8s.io/v1alpha2. The object is never
deleted, and other programs may write zones of their own to it: only those that are whole count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops.manifest import Manifest, get
from gitops.nri.cpuset import parse_cpuset
from gitops.nri.placement.told import Balloon, Told, Voice, is_balloon, is_container

KIND = ("topology.node.k8s.io/v1alpha2", "NodeResourceTopology")
_BALLOON = "balloon"
_CONTAINER = "allocation for container"


def read_topology(manifest: Manifest) -> Told | None:
    """What it tells of balloons; None where the balloons plugin did not write it."""
    balloons = {balloon.name: balloon for balloon in _balloons(manifest)}
    if not balloons:
        return None
    assignments = {
        zone["name"]: zone["parent"]
        for zone in _zones(manifest, _CONTAINER)
        if is_container(zone["name"]) and get(zone, "parent") in balloons
    }
    return Told(Voice.TOPOLOGY, balloons, assignments, names_containers=bool(assignments))


def _balloons(manifest: Manifest) -> Iterator[Balloon]:
    for zone in _zones(manifest, _BALLOON):
        cpus = parse_cpuset(_attribute(zone, "cpuset") or "")
        shared = parse_cpuset(_attribute(zone, "shared cpuset") or "")
        if is_balloon(zone["name"]) and cpus is not None:
            yield Balloon(zone["name"], cpus, shared or frozenset())


def _zones(manifest: Manifest, kind: str) -> Iterator[dict[str, Any]]:
    zones = get(manifest, "zones")
    for zone in zones if isinstance(zones, list) else []:
        if get(zone, "type") == kind and isinstance(get(zone, "name"), str):
            yield zone


def _attribute(zone: dict[str, Any], name: str) -> str | None:
    attributes = get(zone, "attributes")
    for attribute in attributes if isinstance(attributes, list) else []:
        if get(attribute, "name") == name:
            return str(get(attribute, "value") or "")
    return None
