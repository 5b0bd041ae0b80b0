"""How a landscape is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.sandbox.gardenlet import Pace

POLICY_CRDS = (
    "config.nri_balloonspolicies",
    "config.nri_topologyawarepolicies",
    "config.nri_templatepolicies",
    "topology.node.k8s.io_noderesourcetopologies",
)


@dataclass(frozen=True)
class Options:
    """How a landscape is made."""

    identity: str = "sandbox"
    """What ConfigMap kube-system/cluster-identity says."""
    extensions: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {"cri-resmgr-extension": POLICY_CRDS, "nri-resource-policy": POLICY_CRDS}
    )
    """CRDs (files in data/) that an extension type brings into a shoot. Shoots start without them."""
    copies: int = 0
    """Shoots added by copying the given ones, for scale."""
    policy_namespace: str = "kube-system"
    """Where the agents look for policies."""
    latency: float = 0.0
    """Seconds every answer takes, in landscape time."""
    pace: Pace = field(default_factory=Pace)
    """How long operations take."""
    crd_delay: float = 1.0
    """Landscape seconds until a CRD's resource is served in a shoot."""
