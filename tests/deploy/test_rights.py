"""Rights follow from what the overlay declares, and from nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gitops.deploy.printed import Part
from gitops.deploy.rights import Right, rights_of
from gitops.desired.compose import Desired
from tests.control_plane import objects
from tests.deploy.declared import NAMESPACE, NEW, OVERLAY, Documents, composed, documents

ALWAYS = {
    "project list shoots",
    "project patch shoots",
    "project list configmaps shoot-gitops-dev",
    "project patch configmaps shoot-gitops-dev",
    "project create configmaps shoot-gitops-dev",
    "project list configmaps shoot-gitops-dev-control",
    "garden get leases shoot-gitops-dev",
    "garden patch leases shoot-gitops-dev",
    "garden create leases",
    "garden create events",
    "garden get events",
    "garden patch events",
    "garden list configmaps cluster-identity",
}
EXTENSIONS = {"garden list controllerregistrations"}
INSIDE = {
    "project create shoots/viewerkubeconfig",
    "project create shoots/adminkubeconfig",
    "project get namespacedcloudprofiles",
    "garden get cloudprofiles",
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token", "namespace": "kube-system"},
    "stringData": {"a": "b"},
}


def smallest() -> Documents:
    """One Shoot by its labels, and nothing about it."""
    files = documents("v1")
    overlay = files[OVERLAY][0]["spec"]
    overlay["garden"]["namespaces"] = [NAMESPACE]
    overlay["waves"] = [{"name": "all"}]
    for key in ("policies", "extensions", "imageVectors"):
        del overlay[key]
    return {OVERLAY: files[OVERLAY], "clusters/one.yaml": files["clusters/one.yaml"]}


def with_policies(files: Documents) -> None:
    files[OVERLAY][0]["spec"]["policies"] = [{"path": "../../policies"}]
    files["policies/default.yaml"] = documents("v1", "default")["policies/default.yaml"]


def with_secrets_only(files: Documents) -> None:
    files[OVERLAY][0]["spec"]["policies"] = [{"path": "../../policies"}]
    files["policies/secret.yaml"] = [SECRET]


def with_prerequisites(files: Documents) -> None:
    files[OVERLAY][0]["spec"]["prerequisites"] = {"nri": "Require"}


def with_extensions(files: Documents) -> None:
    files[OVERLAY][0]["spec"]["extensions"] = [{"type": "roller", "state": "Enabled"}]


def with_a_whole_shoot(files: Documents) -> None:
    whole = objects.shoot("new")
    whole["metadata"]["namespace"] = NAMESPACE
    files["clusters/new.yaml"] = [whole]


def with_a_seed(files: Documents) -> None:
    with_a_whole_shoot(files)
    files["clusters/new.yaml"][0]["spec"]["seedName"] = "seed-a"


def with_references(files: Documents) -> None:
    references = [("Secret", "b"), ("Secret", "a"), ("ConfigMap", "c")]
    entries = [
        {"name": name, "resourceRef": {"apiVersion": "v1", "kind": kind, "name": name}} for kind, name in references
    ]
    files["clusters/one.yaml"][0]["spec"] = {"resources": entries}


def with_vectors(files: Documents) -> None:
    """For a deployment that somebody else registered."""
    files[OVERLAY][0]["spec"]["imageVectors"] = documents("v1")[OVERLAY][0]["spec"]["imageVectors"][:1]


def with_registrations(files: Documents) -> None:
    files["clusters/extensions.yaml"] = documents("v1")["clusters/extensions.yaml"][:2]


def with_operator_extensions(files: Documents) -> None:
    files["clusters/extensions.yaml"] = documents("v1")["clusters/extensions.yaml"][2:]


REGISTRATIONS = EXTENSIONS | {"garden list controllerdeployments", "garden list controllerinstallations"}


@pytest.mark.parametrize(
    ("declare", "more"),
    [
        pytest.param(lambda _: None, set(), id="nothing"),
        pytest.param(with_policies, INSIDE, id="policies"),
        pytest.param(with_secrets_only, INSIDE - {"project create shoots/viewerkubeconfig"}, id="secrets inside"),
        pytest.param(with_prerequisites, INSIDE, id="prerequisites"),
        pytest.param(with_extensions, EXTENSIONS, id="extensions"),
        pytest.param(with_a_whole_shoot, {"project create shoots"}, id="a whole shoot"),
        pytest.param(
            with_a_seed, {"project create shoots", "garden update shoots/binding new"}, id="a whole shoot with a seed"
        ),
        pytest.param(
            with_references,
            {"project get secrets a", "project get secrets b", "project get configmaps c"},
            id="references",
        ),
        pytest.param(
            with_vectors, REGISTRATIONS | {"garden patch controllerdeployments extension-roller"}, id="image vectors"
        ),
        pytest.param(
            with_registrations,
            REGISTRATIONS
            | {
                "garden patch controllerdeployments extension-roller",
                "garden create controllerdeployments",
                "garden patch controllerregistrations extension-roller",
                "garden create controllerregistrations",
            },
            id="registrations",
        ),
        pytest.param(
            with_operator_extensions,
            REGISTRATIONS
            | {
                "runtime list extensions",
                "runtime patch extensions extension-operated",
                "runtime create extensions",
            },
            id="operator extensions",
        ),
    ],
)
def test_rights_grow_with_what_is_declared(declare: Any, more: set[str]) -> None:
    files = smallest()
    declare(files)

    assert said(composed(files)) == ALWAYS | more


def test_nobody_ever_gets_a_right_to_delete_or_to_everything() -> None:
    for right in rights_of(composed(documents("v1", "default"))):
        assert not {"delete", "deletecollection", "*"} & {*right.verbs, right.resource, right.group}


def test_a_namespace_without_a_shoot_is_only_read() -> None:
    files = smallest()
    files[OVERLAY][0]["spec"]["garden"]["namespaces"] = [NAMESPACE, NEW]

    there = [right for right in rights_of(composed(files)) if right.namespace == NEW]

    assert [(right.verbs, right.resource) for right in there] == [(("list",), "shoots")]


def test_the_overlays_own_objects_are_in_its_first_namespace() -> None:
    rights = rights_of(composed(documents("v1", "default")))

    own = {right.namespace for right in rights if right.resource in {"configmaps", "leases"}}
    assert own == {NAMESPACE, "kube-system"}


def said(desired: Desired) -> set[str]:
    return {line for right in rights_of(desired) for line in _lines(right)}


def _lines(right: Right) -> list[str]:
    names = right.names or ("",)
    assert right.part is not Part.RUN
    return [f"{right.part.value} {verb} {right.resource} {name}".strip() for verb in right.verbs for name in names]


def test_readme_tells_of_every_right_and_of_no_other() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    section = re.search(r"^## Run it in a cluster\n(.*?)^## ", readme, re.DOTALL | re.MULTILINE)
    assert section
    rows = re.findall(r"^\| (`.*) \| (project|garden|runtime) \|", section[1], re.MULTILINE)
    told = {
        (part, verb, resource)
        for rights, part in rows
        for verb in re.findall(r"`(\w+)`", rights)
        for resource in re.sub(r"`\w+`", "", rights).strip().split(", ")
    }

    files = documents("v1", "default")
    references = ["Secret", "ConfigMap", "WorkloadIdentity"]
    files["clusters/three.yaml"][0]["spec"]["resources"] = [
        {"name": kind.lower(), "resourceRef": {"apiVersion": _API.get(kind, "v1"), "kind": kind, "name": "x"}}
        for kind in references
    ]
    rights = rights_of(composed(files))
    assert told == {(right.part.value, verb, right.resource) for right in rights for verb in right.verbs}


_API = {"WorkloadIdentity": "security.gardener.cloud/v1alpha1"}
