"""Which shoots an extension works for: what its registration serves, against what a Shoot asks for.

Source: gardener pkg/utils/gardener/extensions.go (ComputeRequiredExtensionsForShoot).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gitops.manifest import Manifest, get


@dataclass(frozen=True, order=True)
class Service:
    """One kind and type of extension resource that a registration answers for."""

    kind: str
    """Such as `Extension`, `Network`, `OperatingSystemConfig`."""
    type: str
    on_by_default: bool
    """Whether a Shoot that says nothing has it: `autoEnable: [shoot]`."""


def services_of(resources: Any) -> tuple[Service, ...]:
    """What the `spec.resources` of a ControllerRegistration, or of an operator Extension, serves in shoots."""
    return tuple(
        Service(str(get(resource, "kind")), str(get(resource, "type")), "shoot" in (get(resource, "autoEnable") or []))
        for resource in resources or []
        if "shoot" in (get(resource, "clusterCompatibility") or ["shoot"])
    )


def serves(services: Iterable[Service], shoot: Manifest) -> bool:
    """Whether any of these services works for the Shoot."""
    asked = set(_asked_for(shoot))
    entries = {entry["type"]: entry for entry in get(shoot, "spec", "extensions") or []}
    for service in services:
        if service.kind != "Extension":
            if (service.kind, service.type) in asked:
                return True
        elif service.type in entries:
            if not entries[service.type].get("disabled"):
                return True
        elif service.on_by_default:
            return True
    return False


def _asked_for(shoot: Manifest) -> Iterator[tuple[str, str]]:
    """Kind and type of everything but extensions of kind Extension."""
    if provider := get(shoot, "spec", "provider", "type"):
        yield from ((kind, provider) for kind in ("ControlPlane", "Infrastructure", "Worker"))
    if network := get(shoot, "spec", "networking", "type"):
        yield "Network", network
    for worker in get(shoot, "spec", "provider", "workers") or []:
        if image := get(worker, "machine", "image", "name"):
            yield "OperatingSystemConfig", image
        for runtime in get(worker, "cri", "containerRuntimes") or []:
            yield "ContainerRuntime", runtime["type"]
    for provider in get(shoot, "spec", "dns", "providers") or []:
        if type_ := get(provider, "type"):
            yield "DNSRecord", type_
