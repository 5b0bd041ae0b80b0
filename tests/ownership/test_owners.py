import pytest

from gitops.manifest import Manifest
from gitops.ownership.applyset import applyset_id, member_labels
from gitops.ownership.owners import foreign_owner

OURS = applyset_id("dev")


def marked(labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None) -> Manifest:
    return {"metadata": {"labels": labels, "annotations": annotations}}


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (
            marked(
                {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
            ),
            "managed by Flux, Kustomization flux-system/apps",
        ),
        (
            marked(
                {
                    "helm.toolkit.fluxcd.io/name": "nri",
                    "helm.toolkit.fluxcd.io/namespace": "x",
                    "app.kubernetes.io/managed-by": "Helm",
                },
                {"meta.helm.sh/release-name": "nri"},
            ),
            "managed by Flux, HelmRelease x/nri",
        ),
        (
            marked(annotations={"argocd.argoproj.io/tracking-id": "fleet:config.nri/BalloonsPolicy:kube-system/x"}),
            "managed by Argo CD, Application fleet",
        ),
        (marked({"argocd.argoproj.io/instance": "fleet"}), "managed by Argo CD, Application fleet"),
        (
            marked(
                {"app.kubernetes.io/managed-by": "Helm"},
                {"meta.helm.sh/release-name": "nri", "meta.helm.sh/release-namespace": "kube-system"},
            ),
            "managed by Helm, release kube-system/nri",
        ),
        (
            marked({"resources.gardener.cloud/managed-by": "gardener"}),
            "managed by Gardener's resource manager",
        ),
        (
            marked(annotations={"resources.gardener.cloud/origin": "seed:shoot--local--one/shoot-core"}),
            "managed by Gardener, ManagedResource seed:shoot--local--one/shoot-core",
        ),
        (marked(member_labels("prod")), f"a member of another ApplySet, {applyset_id('prod')}"),
    ],
    ids=["kustomization", "helm release", "tracking id", "instance", "helm", "gardener", "origin", "applyset"],
)
def test_the_owner_is_named(manifest: Manifest, sentence: str) -> None:
    owner = foreign_owner(manifest, applyset=OURS)

    assert owner is not None
    assert owner.claim == sentence


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"metadata": {"name": "x"}},
        marked(member_labels("dev")),
        marked({"app.kubernetes.io/managed-by": "Helm"}),
        marked({"app.kubernetes.io/managed-by": "jane"}, {"meta.helm.sh/release-name": "x"}),
        marked({"app.kubernetes.io/instance": "x"}),
    ],
    ids=["empty", "bare", "ours", "helm's label alone", "helm's annotation alone", "an ordinary label"],
)
def test_what_nobody_else_manages_has_no_foreign_owner(manifest: Manifest) -> None:
    assert foreign_owner(manifest, applyset=OURS) is None
