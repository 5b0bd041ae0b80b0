"""What the Gardener API fills into a Shoot.

`default` is the API's own defaulting (gardener pkg/apis/core/v1beta1/defaults_shoot.go): its fields belong to
the writer. `complete` is what admission adds (plugin/pkg/shoot/mutator and others): it belongs to nobody.
"""

import re
import zlib
from typing import Any

from gitops.sandbox.kinds import Context
from gitops.sandbox.wire import ApiError, Manifest, forbidden

GARDENER = "core.gardener.cloud"


def _fill(target: Manifest, **values: Any) -> Manifest:
    for name, value in values.items():
        target.setdefault(name, value)
    return target


def default(manifest: Manifest) -> None:
    """Fill in defaults, in place."""
    spec = manifest.setdefault("spec", {})
    kubernetes = spec.setdefault("kubernetes", {})
    workers = spec.setdefault("provider", {}).get("workers") or []
    profile = spec.get("cloudProfile")
    if profile is not None:
        profile.setdefault("kind", "CloudProfile")
    elif spec.get("cloudProfileName"):
        spec["cloudProfile"] = {"kind": "CloudProfile", "name": spec["cloudProfileName"]}
    server = kubernetes.setdefault("kubeAPIServer", {})
    _fill(server.setdefault("requests", {}), maxNonMutatingInflight=400, maxMutatingInflight=200)
    _fill(server, eventTTL="1h0m0s", logging={"verbosity": 2})
    _fill(server.setdefault("encryptionConfig", {}).setdefault("provider", {}), type="aescbc")
    spec.setdefault("purpose", "evaluation")
    spec.setdefault("schedulerName", "default-scheduler")
    _default_maintenance(spec, manifest["metadata"])
    spec.setdefault("networking", {}).setdefault("ipFamilies", ["IPv4"])
    kubernetes.setdefault("kubeControllerManager", {})
    if not workers:
        kubernetes["kubeControllerManager"] or kubernetes.pop("kubeControllerManager")
        return
    _fill(server, defaultNotReadyTolerationSeconds=300, defaultUnreachableTolerationSeconds=300)
    _fill(kubernetes["kubeControllerManager"], nodeCIDRMaskSize=24, nodeMonitorGracePeriod="40s")
    _fill(kubernetes.setdefault("kubeScheduler", {}), profile="balanced")
    _fill(kubernetes.setdefault("kubeProxy", {}), enabled=True, mode="IPTables")
    _default_kubelet(kubernetes.setdefault("kubelet", {}))
    spec["provider"].setdefault("workersSettings", {}).setdefault("sshAccess", {}).setdefault("enabled", True)
    dns = spec.setdefault("systemComponents", {}).setdefault("coreDNS", {})
    dns.setdefault("autoscaling", {}).setdefault("mode", "horizontal")
    for worker in workers:
        _default_worker(worker)


def _default_kubelet(kubelet: Manifest) -> None:
    _fill(
        kubelet,
        failSwapOn=True,
        imageGCHighThresholdPercent=50,
        imageGCLowThresholdPercent=40,
        imageMaximumGCAge="0s",
        imageMinimumGCAge="2m0s",
        serializeImagePulls=True,
    )


def _default_worker(worker: Manifest) -> None:
    _fill(worker, maxSurge=1, maxUnavailable=0, updateStrategy="AutoRollingUpdate", maximum=0, minimum=0)
    worker.setdefault("systemComponents", {}).setdefault("allow", True)
    worker.setdefault("cri", {}).setdefault("name", "containerd")
    kubelet = (worker.get("kubernetes") or {}).get("kubelet")
    if kubelet is not None:
        _default_kubelet(kubelet)


def _default_maintenance(spec: Manifest, metadata: Manifest) -> None:
    """Choose the hour of the maintenance window by the Shoot's name: the real one is random."""
    maintenance = spec.setdefault("maintenance", {})
    updates = maintenance.setdefault("autoUpdate", {})
    updates.setdefault("kubernetesVersion", True)
    if spec["provider"].get("workers"):
        updates.setdefault("machineImageVersion", True)
    if "timeWindow" not in maintenance:
        hour = zlib.crc32(metadata.get("name", "").encode()) % 24
        window = {"begin": f"{hour:02}0000+0000", "end": f"{(hour + 1) % 24:02}0000+0000"}
        maintenance["timeWindow"] = window


_VERTICAL_AUTOSCALER = {
    "evictAfterOOMThreshold": "10m0s",
    "evictionRateBurst": 1,
    "evictionRateLimit": -1,
    "evictionTolerance": 0.5,
    "recommendationMarginFraction": 0.15,
    "updaterInterval": "1m0s",
    "recommenderInterval": "1m0s",
    "targetCPUPercentile": 0.9,
    "recommendationLowerBoundCPUPercentile": 0.5,
    "recommendationUpperBoundCPUPercentile": 0.95,
    "targetMemoryPercentile": 0.9,
    "recommendationLowerBoundMemoryPercentile": 0.5,
    "recommendationUpperBoundMemoryPercentile": 0.95,
    "cpuHistogramDecayHalfLife": "24h0m0s",
    "memoryHistogramDecayHalfLife": "24h0m0s",
    "memoryAggregationInterval": "24h0m0s",
    "memoryAggregationIntervalCount": 8,
    "recommenderUpdateWorkerCount": 10,
}


def complete(new: Manifest, old: Manifest | None, context: Context) -> None:
    """Add what admission adds, in place: versions, machine images, reservations, the vertical autoscaler.

    Raises:
        ApiError: 500 where the CloudProfile does not exist, 403 where it has no such Kubernetes version.
    """
    spec, name = new["spec"], new["metadata"].get("name", "")
    profile = _profile(spec, context)
    if profile is None:
        return
    kubernetes, workers = spec["kubernetes"], spec["provider"].get("workers") or []
    before = str(old["spec"]["kubernetes"]["version"]) if old else ""
    kubernetes["version"] = _full_version(str(kubernetes.get("version") or ""), before, profile, name)
    rotation = spec["maintenance"].setdefault("autoRotation", {}).setdefault("credentials", {})
    rotation.setdefault("etcdEncryptionKey", {"rotationPeriod": "672h0m0s"})
    if not workers:
        return
    kubernetes["kubelet"].setdefault("kubeReserved", {"cpu": "80m", "memory": "1Gi", "pid": "20k"})
    if old is None:
        kubernetes.setdefault("verticalPodAutoscaler", {"enabled": True})
    if "verticalPodAutoscaler" in kubernetes:
        _fill(kubernetes["verticalPodAutoscaler"], **_VERTICAL_AUTOSCALER)
    earlier = {item["name"]: item for item in (old["spec"]["provider"].get("workers") or ())} if old else {}
    for worker in workers:
        _complete_machine(worker, earlier.get(worker.get("name", "")), profile)


def _profile(spec: Manifest, context: Context) -> Manifest | None:
    name = (spec.get("cloudProfile") or {}).get("name")
    if not name:
        return None
    profile = context.find("cloudprofiles", "", name)
    if profile is None:
        text = f'could not find referenced cloud profile: cloudprofile.core.gardener.cloud "{name}" not found'
        details = {"causes": [{"message": text}]}
        raise ApiError(500, "InternalError", f"Internal error occurred: {text}", details)
    return profile


def _full_version(wanted: str, before: str, profile: Manifest, name: str) -> str:
    known = [str(item["version"]) for item in profile["spec"]["kubernetes"]["versions"]]
    if wanted and (wanted in known or wanted == before):
        return wanted
    fitting = [version for version in known if not wanted or version.startswith(f"{wanted}.")]
    if wanted.count(".") == 2 or not fitting:
        text = (
            f"couldn't find a suitable version for {wanted}. Suitable versions have a non-expired expiration "
            "date and are no 'preview' versions. 'Preview'-classified versions have to be selected explicitly"
        )
        raise forbidden(GARDENER, "shoots", name, f'spec.kubernetes.version: Invalid value: "{wanted}": {text}')
    return max(fitting, key=version_key)


def version_key(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _complete_machine(worker: Manifest, earlier: Manifest | None, profile: Manifest) -> None:
    machine = worker.setdefault("machine", {})
    types = {item["name"]: item for item in profile["spec"].get("machineTypes") or ()}
    machine.setdefault("architecture", types.get(machine.get("type"), {}).get("architecture", "amd64"))
    images = profile["spec"].get("machineImages") or []
    if not images:
        return
    before = (earlier or {}).get("machine", {}).get("image") or {}
    image = machine.setdefault("image", {})
    image.setdefault("name", before.get("name") or images[0]["name"])
    listed = next((item for item in images if item["name"] == image["name"]), images[0])
    newest = max((item["version"] for item in listed["versions"]), key=version_key)
    image.setdefault("version", before.get("version") or newest)
