"""Policies that the plugin's own chart brings along.

The balloons chart always renders `BalloonsPolicy/default`, and an extension deploys the chart by a ManagedResource: the
resource manager puts every edit of it back (nri-plugins deployment/helm/balloons/templates/config.yaml, gardener
docs/concepts/resource-manager.md).
"""

from __future__ import annotations

from gitops.manifest import Manifest, get
from gitops.ownership.managers import writer_of

IGNORE = "resources.gardener.cloud/ignore"
_TRUTHY = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_RESOURCE_MANAGER = "gardener-resource-manager"

WAYS_OUT = (
    "the chart that the extension deploys renders it, and Gardener's resource manager puts every edit back. There are "
    "three ways out: declare policies `group.<group>` and `node.<node>` only, which no chart renders; or let the "
    "extension render this one as you want it, from its providerConfig, where it supports that; or have the chart "
    f'render it with the annotation {IGNORE}: "true", in the ManagedResource\'s secret (on the live object it means '
    "nothing), so that it is created once and then left alone"
)


def is_left_alone(live: Manifest) -> bool:
    """Whether the resource manager created an object once and leaves it alone from then on.

    Only its own word counts: what a person writes on the live object has no effect on it.
    """
    if get(live, "metadata", "annotations", IGNORE) not in _TRUTHY:
        return False
    writer = writer_of(live, ("metadata", "annotations", IGNORE))
    return writer is not None and writer.manager == _RESOURCE_MANAGER
