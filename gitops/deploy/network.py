"""Who may speak to the pods, and with whom they may."""

from __future__ import annotations

from gitops.deploy.naming import APP, labels
from gitops.deploy.printed import Because, Part, Printed
from gitops.deploy.runs import PORT, SERVE
from gitops.deploy.settings import API_SERVER_PORTS, Settings, port_of
from gitops.manifest import Manifest


def egress_policy(settings: Settings) -> Printed:
    """For every pod of the pipeline: names, git, API servers and forges, and no way in."""
    selector = {"app.kubernetes.io/name": APP}
    names = [
        {"port": 53, "protocol": "UDP"},
        {"port": 53, "protocol": "TCP"},
        Because(
            {"port": 8053, "protocol": "UDP"},
            "Policies see the port of the pod behind the Service, and CoreDNS listens here in shoots of Gardener.",
        ),
        {"port": 8053, "protocol": "TCP"},
    ]
    ports = sorted({*API_SERVER_PORTS, *map(port_of, filter(None, (settings.url, settings.forge.address)))})
    spec = {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [
            {"ports": names},
            Because(
                {"ports": [{"port": port, "protocol": "TCP"} for port in ports]},
                "API servers of the garden and of shoots, forges, and git. Shoots come and go, so no address is named.",
            ),
        ],
    }
    why = (
        "Nobody reaches the pods of the pipeline unless another policy says so; they reach names, git and API servers."
    )
    return Printed(Part.RUN, _policy(settings, APP, labels("network"), spec), why)


def ingress_policy(settings: Settings) -> Printed:
    """For the pods of `serve`: its one port."""
    spec = {
        "podSelector": {"matchLabels": labels(SERVE)},
        "policyTypes": ["Ingress"],
        "ingress": [{"ports": [{"port": PORT, "protocol": "TCP"}]}],
    }
    why = "The ingress controller, Prometheus and kubelet's probes reach `gitops serve` at its port, and nothing else."
    return Printed(Part.RUN, _policy(settings, f"{APP}-serve", labels(SERVE), spec), why)


def _policy(settings: Settings, name: str, marks: dict[str, str], spec: Manifest) -> Manifest:
    metadata = {"name": name, "namespace": settings.namespace, "labels": marks}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}
