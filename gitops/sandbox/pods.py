"""Defaults of pods and DaemonSets (k8s.io/kubernetes pkg/apis/{core,apps}/v1/defaults.go)."""

from collections.abc import Iterable, Iterator

from gitops.sandbox.wire import Cause, Manifest, invalid_value, required


def default_pod(spec: Manifest) -> None:
    """Fill in a PodSpec, in place."""
    if "serviceAccountName" in spec:
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for name, value in (
        ("restartPolicy", "Always"),
        ("dnsPolicy", "ClusterFirst"),
        ("schedulerName", "default-scheduler"),
        ("terminationGracePeriodSeconds", 30),
    ):
        spec.setdefault(name, value)
    spec.setdefault("securityContext", {})
    for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]:
        _default_container(container)
    for volume in spec.get("volumes") or ():
        _default_volume(volume)


def _default_container(container: Manifest) -> None:
    image = container.get("image", "")
    _, _, tag = image.rpartition("/")[2].partition(":")
    floating = tag in {"", "latest"} and "@" not in image
    container.setdefault("imagePullPolicy", "Always" if floating else "IfNotPresent")
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container["resources"]
    for name, value in (resources.get("limits") or {}).items():
        resources.setdefault("requests", {}).setdefault(name, value)
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom", {}).get("fieldRef")
        if source:
            source.setdefault("apiVersion", "v1")
    for probe in (container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")):
        if probe:
            for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1)):
                probe.setdefault(name, value)
            probe.setdefault("failureThreshold", 3)
            if "httpGet" in probe:
                probe["httpGet"].setdefault("path", "/")
                probe["httpGet"].setdefault("scheme", "HTTP")


def _default_volume(volume: Manifest) -> None:
    if volume.get("hostPath") is not None:
        volume["hostPath"].setdefault("type", "")
    for kind in ("configMap", "secret", "downwardAPI", "projected"):
        if volume.get(kind) is not None:
            volume[kind].setdefault("defaultMode", 420)
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}


def default_daemon_set(manifest: Manifest) -> None:
    """Fill in a DaemonSet, in place."""
    metadata, spec = manifest["metadata"], manifest.setdefault("spec", {})
    annotations = metadata.setdefault("annotations", {})
    annotations.setdefault("deprecated.daemonset.template.generation", str(metadata.get("generation") or 1))
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    template = spec.setdefault("template", {})
    template.setdefault("metadata", {})
    default_pod(template.setdefault("spec", {}))


def prepare_daemon_set(manifest: Manifest, old: Manifest | None) -> None:
    """Count template changes in the annotation that does so, in place, and start with an empty status."""
    if old is None:
        counts = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
        manifest["status"] = dict.fromkeys(counts, 0)
    generation = manifest["metadata"].get("generation", 1)
    manifest["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = str(generation)


def validate_daemon_set(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    """Yield what makes a DaemonSet invalid."""
    spec = manifest["spec"]
    selector = (spec.get("selector") or {}).get("matchLabels") or {}
    template = spec["template"]
    labels = template["metadata"].get("labels")
    if not selector or any((labels or {}).get(key) != value for key, value in selector.items()):
        yield invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from _validate_containers(template["spec"], "spec.template.spec")


def validate_pod(manifest: Manifest, _old: Manifest | None) -> Iterable[Cause]:
    """Yield what makes a Pod invalid."""
    yield from _validate_containers(manifest["spec"], "spec")


def _validate_containers(spec: Manifest, path: str) -> Iterator[Cause]:
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    for index, container in enumerate(spec.get("containers") or ()):
        if not container.get("name"):
            yield required(f"{path}.containers[{index}].name")
        if not container.get("image"):
            yield required(f"{path}.containers[{index}].image")
