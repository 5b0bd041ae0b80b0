"""What of ours is at work on a shoot's nodes."""

from __future__ import annotations

from gitops.errors import Absent
from gitops.kube.cluster import Cluster
from gitops.manifest import Manifest, Ref
from gitops.nri.prerequisites.jobs import JOB_LABEL
from gitops.nri.prerequisites.ledger import NAME, NAMESPACE
from gitops.plan.observed import NodeWork


def observe_node_work(cluster: Cluster, run: str) -> NodeWork:
    """Read what was noted of the nodes and our jobs there: two requests, and a third while a job stands.

    Raises:
        Forbidden, Unreachable: any of it cannot be read.
    """
    ledger = _ledger(cluster)
    jobs = cluster.list("apps/v1", "DaemonSet", namespace=NAMESPACE, label_selector=JOB_LABEL).items
    pods = cluster.list("v1", "Pod", namespace=NAMESPACE, label_selector=JOB_LABEL).items if jobs else ()
    return NodeWork(ledger, jobs, pods, run)


def _ledger(cluster: Cluster) -> Manifest | None:
    try:
        return cluster.get(Ref(cluster.target, "v1", "ConfigMap", NAMESPACE, NAME))
    except Absent:
        return None
