"""Which other tool manages an object, by the marks that tools leave on what is theirs (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from gitops.manifest import Manifest, get
from gitops.ownership.applyset import set_of

FLUX_KUSTOMIZATION = "kustomize.toolkit.fluxcd.io"
FLUX_HELM = "helm.toolkit.fluxcd.io"


class Tool(Enum):
    """Who else manages objects; the values are how an overlay names those it may adopt from."""

    FLUX = "Flux"
    ARGO_CD = "ArgoCD"
    HELM = "Helm"
    GARDENER = "Gardener"
    APPLYSET = "ApplySet"


@dataclass(frozen=True)
class Owner:
    """Another tool's claim on an object."""

    tool: Tool
    claim: str
    """A sentence that names the tool and the owner, such as `managed by Helm, release apps/web`."""


def foreign_owner(manifest: Manifest, *, applyset: str) -> Owner | None:
    """Who else manages an object; None when nobody claims it.

    Args:
        manifest: the live object.
        applyset: the id of our own set.
    """
    labels = get(manifest, "metadata", "labels") or {}
    annotations = get(manifest, "metadata", "annotations") or {}
    claims = (
        (Tool.FLUX, _flux(labels)),
        (Tool.ARGO_CD, _argo_cd(labels, annotations)),
        (Tool.GARDENER, _gardener(labels, annotations)),
        (Tool.HELM, _helm(labels, annotations)),
        (Tool.APPLYSET, _other_applyset(set_of(manifest), applyset)),
    )
    return next((Owner(tool, claim) for tool, claim in claims if claim), None)


def _flux(labels: Mapping[str, str]) -> str | None:
    for group, kind in ((FLUX_KUSTOMIZATION, "Kustomization"), (FLUX_HELM, "HelmRelease")):
        if name := labels.get(f"{group}/name"):
            return f"managed by Flux, {kind} {_qualified(labels.get(f'{group}/namespace'), name)}"
    return None


def _argo_cd(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str | None:
    """The tracking id begins with `<application>:` (argo-cd util/argo/resource_tracking.go)."""
    if tracking := annotations.get("argocd.argoproj.io/tracking-id"):
        return f"managed by Argo CD, Application {tracking.partition(':')[0]}"
    if name := labels.get("argocd.argoproj.io/instance"):
        return f"managed by Argo CD, Application {name}"
    return None


def _gardener(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str | None:
    """The origin reads `<cluster>:<namespace>/<name>` (gardener pkg/apis/resources/v1alpha1/types.go)."""
    origin = annotations.get("resources.gardener.cloud/origin")
    if origin:
        return f"managed by Gardener, ManagedResource {origin}"
    if labels.get("resources.gardener.cloud/managed-by") == "gardener":
        return "managed by Gardener's resource manager"
    return None


def _helm(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str | None:
    """Helm itself demands label and annotation together (helm pkg/action/validate.go)."""
    release = annotations.get("meta.helm.sh/release-name")
    if release and labels.get("app.kubernetes.io/managed-by") == "Helm":
        return f"managed by Helm, release {_qualified(annotations.get('meta.helm.sh/release-namespace'), release)}"
    return None


def _other_applyset(theirs: str, ours: str) -> str | None:
    return f"a member of another ApplySet, {theirs}" if theirs and theirs != ours else None


def _qualified(namespace: str | None, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
