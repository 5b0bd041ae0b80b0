"""What a change of a Shoot does to the running cluster (gardener docs/usage/shoot-operations/shoot_updates.md)."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.gardener.shoot_cost import Effect, effect_of, rolled_pools, total_effect
from gitops.gardener.shoot_merge import ShootMerge
from gitops.ownership.merge import ABSENT, Difference
from tests.gardener.shoots import live_shoot, merged, path_of, shoot


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        ("metadata.labels.wave", Effect.NOTHING),
        ("metadata.annotations.owner", Effect.NOTHING),
        ("spec.extensions[x].disabled", Effect.NOTHING),
        ("spec.extensions[x]", Effect.NOTHING),
        ("spec.extensions[x].providerConfig.machine", Effect.NOTHING),
        ("spec.resources[r].resourceRef.name", Effect.NOTHING),
        ("spec.hibernation.schedules", Effect.NOTHING),
        ("spec.maintenance.timeWindow.begin", Effect.NOTHING),
        ("spec.purpose", Effect.NOTHING),
        ("spec.provider.workers[a].labels.config", Effect.NOTHING),
        ("spec.provider.workers[a].maximum", Effect.NOTHING),
        ("spec.provider.workers[a].maxSurge", Effect.NOTHING),
        ("spec.provider.workers[a].kubernetes.kubelet.maxPods", Effect.NOTHING),
        ("spec.kubernetes.kubelet.maxPods", Effect.NOTHING),
        ("spec.hibernation.enabled", Effect.CONTROL_PLANE),
        ("spec.kubernetes.kubeAPIServer.eventTTL", Effect.CONTROL_PLANE),
        ("spec.kubernetes.clusterAutoscaler.scanInterval", Effect.CONTROL_PLANE),
        ("spec.kubernetes.verticalPodAutoscaler.enabled", Effect.CONTROL_PLANE),
        ("spec.addons.kubernetesDashboard.enabled", Effect.CONTROL_PLANE),
        ("spec.networking.ipFamilies", Effect.CONTROL_PLANE),
        ("spec.controlPlane.highAvailability.failureTolerance.type", Effect.CONTROL_PLANE),
        ("spec.seedName", Effect.CONTROL_PLANE),
        ("spec.provider.infrastructureConfig.zones", Effect.CONTROL_PLANE),
        ("spec.systemComponents.coreDNS.autoscaling.mode", Effect.CONTROL_PLANE),
        ("spec.systemComponents.nodeLocalDNS.enabled", Effect.NODE_ROLL),
        ("spec.kubernetes.kubelet.kubeReserved.cpu", Effect.NODE_ROLL),
        ("spec.kubernetes.kubelet.evictionHard.memoryAvailable", Effect.NODE_ROLL),
        ("spec.kubernetes.kubelet.cpuManagerPolicy", Effect.NODE_ROLL),
        ("spec.provider.workers[a].kubernetes.kubelet.kubeReserved.memory", Effect.NODE_ROLL),
        ("spec.provider.workers[a].machine.type", Effect.NODE_ROLL),
        ("spec.provider.workers[a].machine.image.version", Effect.NODE_ROLL),
        ("spec.provider.workers[a].machine.image.name", Effect.NODE_ROLL),
        ("spec.provider.workers[a].volume.size", Effect.NODE_ROLL),
        ("spec.provider.workers[a].dataVolumes[d].size", Effect.NODE_ROLL),
        ("spec.provider.workers[a].providerConfig.x", Effect.NODE_ROLL),
        ("spec.provider.workers[a].cri.name", Effect.NODE_ROLL),
        ("spec.provider.workers[a]", Effect.NODE_ROLL),
    ],
)
def test_what_changing_a_field_does(path: str, effect: Effect) -> None:
    assert effect_of(Difference(path_of(path), "old", "new")) is effect


@pytest.mark.parametrize(
    ("live", "desired", "effect"),
    [
        pytest.param("1.35.2", "1.35.3", Effect.CONTROL_PLANE, id="a patch release"),
        pytest.param("1.35.2", "1.36.0", Effect.NODE_ROLL, id="a minor release"),
        pytest.param("1.35.2", "1.36", Effect.NODE_ROLL, id="a partial version"),
        pytest.param(ABSENT, "1.36", Effect.NODE_ROLL, id="a pool's own version for the first time"),
    ],
)
@pytest.mark.parametrize("path", ["spec.kubernetes.version", "spec.provider.workers[a].kubernetes.version"])
def test_what_an_upgrade_does(path: str, live: Any, desired: str, effect: Effect) -> None:
    assert effect_of(Difference(path_of(path), live, desired)) is effect


def test_what_is_kept_does_nothing() -> None:
    kept = Difference(path_of("spec.provider.workers[a].machine.type"), "a", "b", kept="ignored")

    assert effect_of(kept) is Effect.NOTHING
    assert rolled_pools((kept,)) == ()


def pools(*live: Any, declared: Any) -> ShootMerge:
    return merged(shoot({"provider": {"workers": declared}}), live_shoot({"provider": {"workers": list(live)}}))


A, B = ({"name": name, "machine": {"type": "small"}} for name in "ab")


def test_the_pools_that_roll_are_named() -> None:
    outcome = pools(A, B, declared=[{"name": name, "machine": {"type": "large"}} for name in "ba"])

    assert rolled_pools(outcome.differences) == ("a", "b")
    assert total_effect(outcome.differences) is Effect.NODE_ROLL


def test_a_new_pool_replaces_no_machine() -> None:
    outcome = pools(A, declared=[{"name": "b", "machine": {"type": "large"}, "minimum": 1}])

    assert total_effect(outcome.differences) is Effect.NOTHING
    assert rolled_pools(outcome.differences) == ()


def test_a_new_pool_beside_one_that_rolls() -> None:
    outcome = pools(A, declared=[{"name": "a", "machine": {"type": "large"}}, B])

    assert rolled_pools(outcome.differences) == ("a",)


def test_a_field_of_the_whole_shoot_rolls_every_pool() -> None:
    outcome = merged(shoot({"kubernetes": {"version": "1.36"}}), live_shoot({"kubernetes": {"version": "1.35.1"}}))

    assert rolled_pools(outcome.differences) is None


def test_nothing_costs_nothing() -> None:
    assert total_effect(()) is Effect.NOTHING
