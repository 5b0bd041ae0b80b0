"""Equality by meaning at the paths of a Shoot, and the fields that Gardener moves."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.gardener.shoot_fields import same_in_shoot
from gitops.ownership.merge import ABSENT
from tests.gardener.shoots import live_shoot, merged, path_of, shoot, spec_after


def nested(path: str, value: Any) -> Any:
    """A spec with one value, such as `kubernetes.version`; `name[x]` steps into a list by name."""
    for key in reversed(path.split(".")):
        name, bracket, element = key.partition("[")
        value = {name: [{"name": element.rstrip("]"), **value}]} if bracket else {key: value}
    return value


DURATIONS = [
    "kubernetes.clusterAutoscaler.scaleDownDelayAfterAdd",
    "kubernetes.clusterAutoscaler.scaleDownDelayAfterDelete",
    "kubernetes.clusterAutoscaler.scaleDownDelayAfterFailure",
    "kubernetes.clusterAutoscaler.scaleDownUnneededTime",
    "kubernetes.clusterAutoscaler.scanInterval",
    "kubernetes.clusterAutoscaler.maxNodeProvisionTime",
    "kubernetes.clusterAutoscaler.newPodScaleUpDelay",
    "kubernetes.clusterAutoscaler.initialNodeGroupBackoffDuration",
    "kubernetes.clusterAutoscaler.maxNodeGroupBackoffDuration",
    "kubernetes.clusterAutoscaler.nodeGroupBackoffResetTimeout",
    "kubernetes.clusterAutoscaler.maxBinpackingTime",
    "kubernetes.verticalPodAutoscaler.evictAfterOOMThreshold",
    "kubernetes.verticalPodAutoscaler.updaterInterval",
    "kubernetes.verticalPodAutoscaler.cpuHistogramDecayHalfLife",
    "kubernetes.verticalPodAutoscaler.memoryHistogramDecayHalfLife",
    "kubernetes.kubeAPIServer.eventTTL",
    "kubernetes.kubeAPIServer.serviceAccountConfig.maxTokenExpiration",
    "kubernetes.kubeControllerManager.podEvictionTimeout",
    "kubernetes.kubeControllerManager.nodeMonitorGracePeriod",
    "kubernetes.kubeControllerManager.horizontalPodAutoscaler.cpuInitializationPeriod",
    "kubernetes.kubeControllerManager.horizontalPodAutoscaler.downscaleStabilization",
    "kubernetes.kubeControllerManager.horizontalPodAutoscaler.initialReadinessDelay",
    "kubernetes.kubelet.evictionPressureTransitionPeriod",
    "kubernetes.kubelet.streamingConnectionIdleTimeout",
    "kubernetes.kubelet.imageMinimumGCAge",
    "kubernetes.kubelet.evictionSoftGracePeriod.memoryAvailable",
    "provider.workers[a].machineControllerManager.machineDrainTimeout",
    "provider.workers[a].clusterAutoscaler.scaleDownUnreadyTime",
]
"""Fields of type metav1.Duration, which the garden stores as Go writes them: `1h0m0s`."""


@pytest.mark.parametrize("path", DURATIONS)
def test_a_duration_is_the_same_however_it_is_written(path: str) -> None:
    assert same_in_shoot(path_of(f"spec.{path}"), "1h0m0s", "60m")
    assert not same_in_shoot(path_of(f"spec.{path}"), "1h0m1s", "60m")


QUANTITIES = [
    "kubernetes.kubelet.kubeReserved.memory",
    "kubernetes.kubelet.evictionHard.memoryAvailable",
    "kubernetes.kubelet.evictionSoft.nodeFSAvailable",
    "kubernetes.kubelet.evictionMinimumReclaim.imageFSAvailable",
    "kubernetes.kubelet.containerLogMaxSize",
    "provider.workers[a].volume.size",
    "provider.workers[a].dataVolumes[d].size",
    "provider.workers[a].kubernetes.kubelet.kubeReserved.memory",
]


@pytest.mark.parametrize("path", QUANTITIES)
def test_a_quantity_is_the_same_however_it_is_written(path: str) -> None:
    assert same_in_shoot(path_of(f"spec.{path}"), "1Gi", "1024Mi")
    assert not same_in_shoot(path_of(f"spec.{path}"), "1Gi", "1025Mi")


@pytest.mark.parametrize(
    ("path", "live", "desired"),
    [
        pytest.param("kubernetes.kubelet.kubeReserved.cpu", "1", 1, id="a number of CPUs"),
        pytest.param("kubernetes.kubelet.kubeReserved.cpu", "80m", 0.08, id="a fraction of a CPU"),
        pytest.param("provider.workers[a].maxSurge", 1, "1", id="a count written as text"),
        pytest.param("provider.workers[a].maxUnavailable", "25%", "25%", id="a share"),
        pytest.param("kubernetes.version", "1.35.2", "1.35", id="any patch of a minor version"),
        pytest.param("kubernetes.version", "1.35.2", "1.35.2", id="a full version"),
        pytest.param("kubernetes.version", "1.35.2", 1.35, id="a version that YAML read as a number"),
        pytest.param("provider.workers[a].kubernetes.version", "1.35.2", "1.35", id="a pool's own version"),
        pytest.param("provider.workers[a].machine.image.version", "1592.3.0", "1592", id="a major image version"),
        pytest.param("addons", ABSENT, {}, id="an empty map is not stored"),
        pytest.param("tolerations", ABSENT, [], id="an empty list is not stored"),
        pytest.param("kubernetes.kubelet", {"maxPods": 110}, {}, id="an empty map with defaults in it"),
        pytest.param("extensions[x].disabled", ABSENT, False, id="not disabled is the default"),
        pytest.param("extensions[x].providerConfig", {"kind": "Config"}, {}, id="a configuration of somebody else"),
    ],
)
def test_these_mean_the_same_in_a_shoot(path: str, live: Any, desired: Any) -> None:
    assert same_in_shoot(path_of(f"spec.{path}"), live, desired)


@pytest.mark.parametrize(
    ("path", "live", "desired"),
    [
        pytest.param("kubernetes.version", "1.35.2", "1.35.3", id="another patch"),
        pytest.param("kubernetes.version", "1.35.2", "1.3", id="a minor version that begins alike"),
        pytest.param("kubernetes.version", "1.35.2", "1.36", id="another minor"),
        pytest.param("kubernetes.version", "latest", "1.36", id="no version is live"),
        pytest.param("extensions[x].disabled", ABSENT, True, id="absent is enabled"),
        pytest.param("extensions[x].disabled", True, False, id="disabled and enabled"),
        pytest.param("extensions[x].providerConfig", ABSENT, {}, id="an empty configuration may say much"),
        pytest.param("extensions[x].providerConfig.disabled", ABSENT, False, id="a provider's own disabled"),
        pytest.param("extensions[x].providerConfig.timeout", "1h0m0s", "60m", id="a provider's own duration"),
        pytest.param("provider.infrastructureConfig.size", "1Gi", "1024Mi", id="a provider's own quantity"),
        pytest.param("hibernation.enabled", ABSENT, False, id="false elsewhere is a value"),
        pytest.param("kubernetes.kubelet", ["x"], {}, id="a list is no empty map"),
        pytest.param("provider.workers[a].maxSurge", 1, "2", id="another count"),
        pytest.param("provider.workers[a].minimum", 1, True, id="true is not one"),
        pytest.param("region", "eu", "us", id="text"),
    ],
)
def test_these_do_not_mean_the_same_in_a_shoot(path: str, live: Any, desired: Any) -> None:
    assert not same_in_shoot(path_of(f"spec.{path}"), live, desired)


@pytest.mark.parametrize(
    ("live", "declared"),
    [
        pytest.param("1.35.2", "1.35.1", id="a patch behind"),
        pytest.param("1.36.0", "1.35", id="a minor behind"),
        pytest.param("2.0.0", "1.36", id="a major behind"),
        pytest.param("1592.2.0-beta", "1592.1.0-beta", id="a pre-release behind"),
    ],
)
def test_a_version_that_maintenance_moved_on_is_kept_with_the_reason(live: str, declared: str) -> None:
    outcome = merged(shoot({"kubernetes": {"version": declared}}), live_shoot({"kubernetes": {"version": live}}))

    assert outcome.merged["spec"] == {"kubernetes": {"version": live}}
    assert f"{declared} is behind the running {live}" in outcome.differences[0].kept
    assert not outcome.changes_spec


@pytest.mark.parametrize(
    ("live", "declared"),
    [
        pytest.param("1.35.2", "1.35.3", id="a newer patch"),
        pytest.param("1.35.2", "1.36", id="a newer minor"),
        pytest.param("1.9.0", "1.10", id="by number and not by letter"),
    ],
)
def test_a_newer_version_is_written(live: str, declared: str) -> None:
    assert spec_after({"kubernetes": {"version": declared}}, live={"kubernetes": {"version": live}}) == {
        "kubernetes": {"version": declared}
    }


def test_a_machine_image_is_never_rolled_back() -> None:
    live = {"provider": {"workers": [{"name": "a", "machine": {"image": {"name": "linux", "version": "1592.4.0"}}}]}}
    declared = {"provider": {"workers": [{"name": "a", "machine": {"image": {"version": "1592.3.0"}}}]}}

    assert spec_after(declared, live=live) == live


def test_schedules_switch_hibernation_and_we_do_not() -> None:
    declared = {"hibernation": {"enabled": False, "schedules": [{"start": "0 20 * * *"}]}}
    live = {"hibernation": {"enabled": True, "schedules": [{"start": "0 20 * * *"}]}}

    outcome = merged(shoot(declared), live_shoot(live))

    assert outcome.merged["spec"] == live
    assert "schedules" in outcome.differences[0].kept


def test_without_schedules_git_decides_about_hibernation() -> None:
    live = {"hibernation": {"enabled": True}}

    assert spec_after({"hibernation": {"enabled": False}}, live=live) == {"hibernation": {"enabled": False}}


@pytest.mark.parametrize(
    "path",
    [
        "region",
        "cloudProfile.name",
        "credentialsBindingName",
        "secretBindingName",
        "seedName",
        "purpose",
        "networking.pods",
        "kubernetes.version",
        "provider.type",
        "maintenance.timeWindow.begin",
        "dns.domain",
        "controlPlane.highAvailability.failureTolerance.type",
        "provider.workers[a].minimum",
        "provider.workers[a].cri.name",
    ],
)
def test_what_a_shoot_must_have_stays_when_it_is_declared_no_longer(path: str) -> None:
    live = nested(path, "x")

    assert spec_after(nested(path, "x"), {}, live=live) == live


@pytest.mark.parametrize(
    "path",
    [
        "kubernetes.kubelet.maxPods",
        "maintenance.confineSpecUpdateRollout",
        "dns.providers",
        "provider.workers[a].labels.x",
    ],
)
def test_what_a_shoot_can_be_without_goes_away(path: str) -> None:
    kept = {"region": "eu", "provider": {"workers": [{"name": "a", "machine": {"type": "large"}}]}}
    declared = nested(path, "x")

    before = spec_after(declared, live=kept)

    assert before != kept
    assert spec_after(declared, {}, live=kept) == kept


def test_the_secret_binding_goes_when_a_credentials_binding_takes_its_place() -> None:
    old, new = {"secretBindingName": "old"}, {"credentialsBindingName": "new"}

    assert spec_after(old, new, live=old) == new
