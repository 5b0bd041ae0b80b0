"""The CloudProfiles that Shoots refer to, each read once."""

from __future__ import annotations

import threading

from gitops.errors import Absent, ApiError, Forbidden
from gitops.kube.cluster import Cluster
from gitops.manifest import GARDEN, Manifest, Ref, get

_API = "core.gardener.cloud/v1beta1"


class CloudProfiles:
    """Reads on demand and remembers, refusals included. Thread-safe."""

    def __init__(self, garden: Cluster) -> None:
        self._garden = garden
        self._known: dict[Ref, Manifest | ApiError] = {}
        self._lock = threading.Lock()

    def of(self, shoot: Manifest) -> Manifest | ApiError | None:
        """The CloudProfile or NamespacedCloudProfile of a Shoot, or why nobody may know it; None: it names none.

        Raises:
            ApiError: the garden does not answer.
        """
        ref = _ref(shoot)
        if ref is None:
            return None
        with self._lock:
            if ref not in self._known:
                self._known[ref] = self._read(ref)
            return self._known[ref]

    def _read(self, ref: Ref) -> Manifest | ApiError:
        try:
            return self._garden.get(ref)
        except (Absent, Forbidden) as error:
            return error


def _ref(shoot: Manifest) -> Ref | None:
    """Gardener keeps the older `cloudProfileName` in step (pkg/apiserver/registry/core/shoot/strategy.go)."""
    profile = get(shoot, "spec", "cloudProfile")
    name = get(profile, "name") or get(shoot, "spec", "cloudProfileName")
    if not name:
        return None
    if get(profile, "kind") == "NamespacedCloudProfile":
        namespace = str(get(shoot, "metadata", "namespace"))
        return Ref(GARDEN, _API, "NamespacedCloudProfile", namespace, str(name))
    return Ref(GARDEN, _API, "CloudProfile", "", str(name))
