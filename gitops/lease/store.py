"""The Lease in the garden: read by its name, and written only over what was read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gitops.errors import Absent
from gitops.kube.cluster import Cluster
from gitops.lease.contest import Claim, LeaseState
from gitops.manifest import GARDEN, Manifest, Ref, get


class LeaseStore:
    """One Lease, `shoot-gitops-<overlay>` in the overlay's first namespace.

    It takes `get` and `patch` of this name, and `create` of Leases, which RBAC cannot tie to a name.
    """

    def __init__(self, garden: Cluster, overlay: str, namespace: str) -> None:
        """Ask nothing yet.

        Args:
            garden: where it is kept, by a way that no fence is on.
            overlay: whose turn it is about.
            namespace: the overlay's first.
        """
        self._garden = garden
        self.overlay = overlay
        self.ref = Ref(GARDEN, "coordination.k8s.io/v1", "Lease", namespace, f"shoot-gitops-{overlay}")

    def read(self) -> LeaseState | None:
        """What is stored; None where nothing is.

        Raises:
            Forbidden, Unreachable: it is not known.
        """
        try:
            return _state(self._garden.get(self.ref))
        except Absent:
            return None

    def claim(self, claim: Claim, identity: str, duration: int, now: datetime) -> LeaseState:
        """Take or renew it.

        Args:
            claim: what to store.
            identity: the holder's.
            duration: seconds after which others may take over.
            now: by our wall clock, for people to read.

        Raises:
            Conflict: somebody was faster.
            Absent: it was deleted.
            ApiError: it is not known whether it was stored.
        """
        acquired = _micro_time(now) if claim.acquires or claim.over is None else claim.over.acquired
        spec = {
            "holderIdentity": identity,
            "leaseDurationSeconds": duration,
            "leaseTransitions": claim.transitions,
            "acquireTime": acquired or None,
            "renewTime": _micro_time(now),
        }
        if claim.over is None:
            metadata = {"name": self.ref.name, "namespace": self.ref.namespace}
            manifest = {"apiVersion": self.ref.api_version, "kind": self.ref.kind, "metadata": metadata, "spec": spec}
            return _state(self._garden.create(manifest))
        return self._replace(claim.over.version, "/spec", spec)

    def free(self, lease: LeaseState) -> LeaseState:
        """Let nobody hold it.

        Raises:
            Conflict: it changed since.
            Absent: it was deleted.
            ApiError: it is not known whether it was stored.
        """
        return self._replace(lease.version, "/spec/holderIdentity", "")

    def _replace(self, version: str, path: str, value: Any) -> LeaseState:
        guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
        return _state(self._garden.patch(self.ref, [guard, {"op": "add", "path": path, "value": value}]))


def _state(lease: Manifest) -> LeaseState:
    return LeaseState(
        holder=get(lease, "spec", "holderIdentity") or "",
        duration=get(lease, "spec", "leaseDurationSeconds") or 0,
        transitions=get(lease, "spec", "leaseTransitions") or 0,
        version=lease["metadata"]["resourceVersion"],
        acquired=get(lease, "spec", "acquireTime") or "",
        renewed=get(lease, "spec", "renewTime") or "",
    )


def _micro_time(moment: datetime) -> str:
    """A `metav1.MicroTime`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
