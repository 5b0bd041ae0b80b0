import base64
import hashlib

import pytest

from gitops.manifest import Manifest, Ref
from gitops.ownership.applyset import (
    applyset_id,
    group_kinds_of,
    member_labels,
    members,
    namespaces_of,
    parent,
    set_of,
)

KINDS = [("config.nri", "BalloonsPolicy"), ("", "ConfigMap")]


def test_the_id_is_the_hash_that_the_kep_prescribes() -> None:
    digest = hashlib.sha256(b"shoot-gitops-dev.kube-system.ConfigMap.").digest()
    text = base64.urlsafe_b64encode(digest).decode().rstrip("=")

    assert applyset_id("dev") == f"applyset-{text}-v1"
    assert len(applyset_id("dev")) <= 63


def test_two_overlays_are_two_sets() -> None:
    assert applyset_id("dev") != applyset_id("prod")


def test_a_parent_names_its_tool_its_kinds_and_its_namespaces() -> None:
    made = parent("dev", [*KINDS, *KINDS], ["kube-system", "b", "a", "b", ""])

    assert made == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "shoot-gitops-dev",
            "namespace": "kube-system",
            "labels": {"applyset.kubernetes.io/id": applyset_id("dev")},
            "annotations": {
                "applyset.kubernetes.io/tooling": "shoot-gitops/v1",
                "applyset.kubernetes.io/contains-group-kinds": "BalloonsPolicy.config.nri,ConfigMap",
                "applyset.kubernetes.io/additional-namespaces": "a,b",
            },
        },
    }


@pytest.mark.parametrize("kinds", [[], KINDS, [("apps", "DaemonSet")]])
@pytest.mark.parametrize("namespaces", [[], ["a"], ["a", "kube-system"]])
def test_a_parent_is_read_back_as_it_was_written(kinds: list[tuple[str, str]], namespaces: list[str]) -> None:
    made = parent("dev", kinds, namespaces)

    assert group_kinds_of(made) == set(kinds)
    assert namespaces_of(made) == {"kube-system", *namespaces}


def test_a_parent_without_annotations_names_nothing() -> None:
    bare: Manifest = {"metadata": {"name": "x"}}

    assert group_kinds_of(bare) == frozenset()
    assert namespaces_of(bare) == {"kube-system"}


def test_members_are_those_with_our_label() -> None:
    def labelled(labels: dict[str, str]) -> Manifest:
        return {"metadata": {"labels": labels}}

    state = {
        Ref("t", "v1", "ConfigMap", "n", name): manifest
        for name, manifest in {
            "ours": labelled(member_labels("dev")),
            "theirs": labelled(member_labels("prod")),
            "nobody's": labelled({}),
            "bare": {"metadata": {}},
        }.items()
    }

    assert [ref.name for ref in members(state, "dev")] == ["ours"]
    assert [set_of(manifest) for manifest in state.values()] == [applyset_id("dev"), applyset_id("prod"), "", ""]
