"""The DaemonSets that run a policy's agents: whose policies they read, and on which nodes.

Source: nri-plugins deployment/helm (labels, arguments) and pkg/agent/agent.go (an agent reads one namespace).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitops.manifest import Manifest, get

PLUGINS = {
    "nri-resource-policy-balloons": "BalloonsPolicy",
    "nri-resource-policy-topology-aware": "TopologyAwarePolicy",
    "nri-resource-policy-template": "TemplatePolicy",
}
"""By the label `app.kubernetes.io/name` of the DaemonSet: the kind of policy that it reads."""
NAME_LABEL = "app.kubernetes.io/name"
_NAMESPACE_FLAG = "--config-namespace"
_UNSET = "kube-system"
"""The flag's default."""


@dataclass(frozen=True)
class Agents:
    """The agents of one DaemonSet."""

    kind: str
    """Of the policies that they read."""
    namespace: str
    """The only one whose policies they see."""
    node_selector: Mapping[str, str]
    confined: bool
    """Whether a node affinity decides as well where they run, which is not evaluated here."""

    def may_run_on(self, node: Manifest) -> bool:
        """Whether the node selector lets an agent onto the node."""
        labels = get(node, "metadata", "labels") or {}
        return self.node_selector.items() <= labels.items()


def agents_of(daemon_sets: Iterable[Manifest]) -> tuple[Agents, ...]:
    """The agents among DaemonSets; others are left out."""
    return tuple(
        _agents(daemon_set, kind)
        for daemon_set in daemon_sets
        if (kind := PLUGINS.get(str(get(daemon_set, "metadata", "labels", NAME_LABEL)))) is not None
    )


def _agents(daemon_set: Manifest, kind: str) -> Agents:
    pod = get(daemon_set, "spec", "template", "spec")
    affinity = get(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return Agents(kind, _namespace(pod), get(pod, "nodeSelector") or {}, confined=affinity is not None)


def _namespace(pod: Manifest | None) -> str:
    """The flag's value, which stands behind an equals sign or is the next word."""
    arguments = (get(container, "args") or () for container in get(pod, "containers") or ())
    words = " ".join(str(word) for argument in arguments for word in argument).replace("=", " ").split()
    return words[words.index(_NAMESPACE_FLAG) + 1] if _NAMESPACE_FLAG in words[:-1] else _UNSET
