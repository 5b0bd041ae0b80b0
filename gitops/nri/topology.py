"""What a NodeResourceTopology tells of its node: how many CPUs there are, and what is pinned to them now.

Source: nri-plugins docs/resource-policy/policy/balloons.md and pkg/agent/nrt.go. The object has its node's name. Each
balloon is a zone whose `cpu` capacity is that of the whole machine; containers are zones where showContainersInNrt
says so.
"""

from __future__ import annotations

from typing import Any

from gitops.manifest import Manifest, get
from gitops.ownership.equality import quantity

API = ("topology.node.k8s.io/v1alpha2", "NodeResourceTopology")
"""apiVersion and kind."""
_CONTAINER = "allocation for container"


def cpus_of(topology: Manifest) -> int:
    """The machine's CPUs as its own kernel counts them, whatever the kubelet reports; 0 where no zone tells."""
    return max((_cpus(zone) for zone in _zones(topology)), default=0)


def containers_of(topology: Manifest) -> int | None:
    """How many containers are shown; None where none is, as showing them is an option."""
    return sum(get(zone, "type") == _CONTAINER for zone in _zones(topology)) or None


def _zones(topology: Manifest) -> list[Any]:
    zones = topology.get("zones")
    return zones if isinstance(zones, list) else []


def _cpus(zone: Any) -> int:
    resources = get(zone, "resources")
    found = [get(one, "capacity") for one in resources if get(one, "name") == "cpu"] if resources else []
    return max((int(quantity(capacity) or 0) for capacity in found), default=0)
