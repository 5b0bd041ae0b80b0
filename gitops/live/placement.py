"""Where containers run in one shoot: its pods, its plugin, and what the plugin on each node tells."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.errors import ApiError, Forbidden
from gitops.kube.cluster import Cluster
from gitops.kube.statuses import Unserved
from gitops.manifest import Manifest, get
from gitops.nri.placement.log_lines import read_log
from gitops.nri.placement.metrics import read_metrics
from gitops.nri.placement.told import Told
from gitops.nri.placement.topology import KIND, read_topology
from gitops.nri.placement.verification import Scene
from gitops.plan.observed import Inside

NAME_LABEL = "app.kubernetes.io/name"
INSTANCE_LABEL = "app.kubernetes.io/instance"
PLUGIN = "nri-resource-policy-balloons"
"""What the chart names its DaemonSet's `app.kubernetes.io/name` (nri-plugins deployment/helm/balloons)."""
LOG_BYTES = 16 << 20
"""The most of a log that is read, its end."""
METRICS_PORT = 8891
"""The chart's `instrumentation.httpEndpoint`."""


def observe_scene(viewer: Cluster, inside: Inside, *, instance: str = "") -> Scene:
    """Read it: pods, DaemonSets and NodeResourceTopologies in one LIST each, then what no topology tells.

    A plugin that cannot be heard is no error here: `Scene.unheard` says why.

    Args:
        viewer: the shoot's API server.
        inside: policies and nodes, read before.
        instance: `app.kubernetes.io/instance` of the plugin; empty means any.

    Raises:
        Forbidden, Unreachable: pods or DaemonSets cannot be read.
    """
    selector = f"{NAME_LABEL}={PLUGIN}" + (f",{INSTANCE_LABEL}={instance}" if instance else "")
    plugins = viewer.list("apps/v1", "DaemonSet", label_selector=selector).items
    pods = viewer.list("v1", "Pod", field_selector="status.phase=Running").items
    told, unheard = _voices(viewer, plugins, pods)
    namespaces = {get(plugin, "metadata", "namespace") for plugin in plugins}
    policies = [
        manifest
        for ref, manifest in inside.objects.items()
        if ref.kind == "BalloonsPolicy" and (not namespaces or ref.namespace in namespaces)
    ]
    return Scene(inside.nodes, pods, policies, plugins, told, unheard)


def _voices(
    viewer: Cluster, plugins: tuple[Manifest, ...], pods: tuple[Manifest, ...]
) -> tuple[dict[str, Told], dict[str, str]]:
    topologies = dict(_topologies(viewer))
    uids = {get(plugin, "metadata", "uid") for plugin in plugins}
    told: dict[str, Told] = {}
    unheard: dict[str, str] = {}
    for pod in pods:
        if any(get(owner, "uid") in uids for owner in get(pod, "metadata", "ownerReferences") or ()):
            node = str(get(pod, "spec", "nodeName"))
            heard = _heard(viewer, pod, topologies.get(node))
            if isinstance(heard, Told):
                told[node] = heard
            else:
                unheard[node] = heard
    return told, unheard


def _topologies(viewer: Cluster) -> Iterator[tuple[str, Told]]:
    """By node; none where the plugin does not write them."""
    try:
        listing = viewer.list(*KIND)
    except (Unserved, Forbidden):
        return
    for manifest in listing.items:
        if (told := read_topology(manifest)) is not None:
            yield str(get(manifest, "metadata", "name")), told


def _heard(viewer: Cluster, pod: Manifest, topology: Told | None) -> Told | str:
    """The first voice that tells of containers, or why there is none."""
    if topology is not None and topology.names_containers:
        return topology
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    container = get(pod, "spec", "containers") or [{}]
    silence = []
    try:
        log = read_log(viewer.logs(namespace, name, str(container[0].get("name", "")), limit=LOG_BYTES))
        if log.assignments:
            return log
        silence.append("its log names no container")
    except ApiError as error:
        silence.append(f"its log cannot be read: {error}")
    try:
        metrics = read_metrics(viewer.proxied(namespace, name, METRICS_PORT, "metrics"))
        if metrics is not None:
            return metrics
        silence.append("its metrics tell of no balloon")
    except ApiError as error:
        silence.append(f"its metrics cannot be read: {error}")
    return "; ".join(silence)
