"""What real API servers do with policies under the CRDs of several releases is what we say they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitops.nri.schema.pruning import pruned_by_crd
from tests.actors import crds
from tests.control_plane.client import Client, HttpError
from tests.control_plane.garden import Garden
from tests.control_plane.objects import shoot

pytestmark = pytest.mark.control_plane

POLICIES = "/apis/config.nri/v1alpha1/namespaces/kube-system/balloonspolicies"
_SPEC = {
    "reservedResources": {"cpu": "1"},
    "pinCpu": True,
    "balloonTypes": [
        {
            "name": "irq",
            "irqMode": "sink",
            "irqClaim": ["eth*"],
            "minCPUs": 1,
            "preferIsolCpus": True,
            "schedulingClass": "rt",
            "components": [{"balloonType": "a"}],
        }
    ],
    "schedulingClasses": [{"name": "rt", "policy": "fifo"}],
    "cpuClasses": [{"name": "turbo", "minFreq": "turbo"}],
    "control": {"rdt": {"enable": True, "options": {"l2": {"optional": True}}}},
    "agent": {"podResourceAPI": True},
}
_NEW = {
    "apiVersion": "config.nri/v1alpha1",
    "kind": "BalloonsPolicy",
    "metadata": {"name": "default", "namespace": "kube-system"},
    "spec": _SPEC,
}


def shoot_with(garden: Garden, definition: dict[str, Any]) -> Client:
    garden.create_shoot(shoot("one"))
    client = garden.shoot_server("one").client
    crds.install(client, [definition])
    crds.wait_until_established(client, [definition])
    return client


def places(value: Any, at: tuple[str | int, ...] = ("spec",)) -> Iterator[tuple[str | int, ...]]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


@pytest.mark.parametrize("release", ["v0.7.1", "v0.9.4", "v0.12.2", "v0.14.0"])
def test_an_older_definition_prunes_what_we_say_and_nothing_else(garden: Garden, release: str) -> None:
    definition = crds.balloons_of(release)
    client = shoot_with(garden, definition)

    stored = set(places(client.post(POLICIES, _NEW)["spec"]))

    pruned = [one.at for one in pruned_by_crd(_NEW, definition)]
    assert pruned
    gone = {at for at in places(_SPEC) if any(at[: len(top)] == top for top in pruned)}
    assert set(places(_SPEC)) - stored == gone


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"balloonTypes": [{"name": "a", "memoryTypes": ["SRAM"]}]}, "memoryTypes"),
        ({"reservedResources": {"cpu": 2}}, "must be of type string"),
        ({"balloonTypes": [{"name": "a", "allocatorPriority": "urgent"}]}, "Unsupported value"),
        ({"schedulingClasses": [{"name": "a", "flags": ["reset-on-fork"]}]}, "flags"),
        ({"pinCpu": True}, 'unknown field "spec.pinCpu"'),
    ],
    ids=["the CEL rule", "type", "enumeration", "an enumeration on a list", "strict"],
)
def test_what_a_definition_refuses(garden: Garden, spec: dict[str, Any], message: str) -> None:
    client = shoot_with(garden, crds.balloons_of("v0.14.0"))
    refused = {**_NEW, "spec": {"reservedResources": {}, **spec}}

    with pytest.raises(HttpError, match=message) as error:
        client.request("POST", POLICIES, refused, params={"fieldValidation": "Strict"})

    assert error.value.status in {400, 422}
