"""Plugins that read their ConfigMap once are restarted when it changes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gitops.manifest import Manifest, Ref, get, ref_of
from gitops.nri.siblings import CHECKSUM_ANNOTATION, CONFIG_MAPS, never_read, with_checksums

CONFIG = "nri-memory-qos-config.default"


def config_map(name: str = CONFIG, text: str = "classes: []", **metadata: Any) -> Manifest:
    metadata = {"name": name, "namespace": "kube-system", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.yaml": text}}


def daemon_set(config: str = CONFIG, namespace: str = "kube-system", **template: Any) -> Manifest:
    volumes = [{"name": "host", "hostPath": {"path": "/"}}, {"name": "config", "configMap": {"name": config}}]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "plugin", "namespace": namespace},
        "spec": {"selector": {}, "template": {"spec": {"volumes": volumes}, **template}},
    }


def state(*manifests: Manifest) -> dict[Ref, Manifest]:
    return {ref_of("ns/one", manifest): manifest for manifest in manifests}


def checksum(*manifests: Manifest) -> Any:
    """What stands on the pod template of the DaemonSet, which comes last."""
    *_, changed = with_checksums(state(*manifests)).values()
    return get(changed, "spec", "template", "metadata", "annotations", CHECKSUM_ANNOTATION)


@pytest.mark.parametrize("name", sorted(CONFIG_MAPS))
def test_the_checksum_changes_with_what_the_plugin_reads_and_with_nothing_else(name: str) -> None:
    first = checksum(config_map(name), daemon_set(name))

    assert first
    assert checksum(config_map(name, labels={"a": "b"}), daemon_set(name)) == first
    assert checksum(config_map(name, "classes: [a]"), daemon_set(name)) != first


@pytest.mark.parametrize(
    "manifests",
    [
        (daemon_set(),),
        (config_map("settings"), daemon_set("settings")),
        (config_map(), daemon_set("other")),
        (config_map(), daemon_set(namespace="nri")),
    ],
    ids=["no config map", "another plugin's", "not mounted", "another namespace"],
)
def test_other_daemon_sets_stay_as_they_are(manifests: tuple[Manifest, ...]) -> None:
    assert with_checksums(state(*manifests)) == state(*manifests)


def test_what_the_template_says_besides_is_kept_and_what_is_declared_is_not_touched() -> None:
    ours = daemon_set(metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}})
    before = copy.deepcopy(ours)

    *_, changed = with_checksums(state(config_map(), ours)).values()

    assert ours == before
    metadata = changed["spec"]["template"]["metadata"]
    assert metadata["labels"] == {"a": "b"}
    assert metadata["annotations"].keys() == {"c", CHECKSUM_ANNOTATION}


def test_a_configuration_without_its_daemon_set_is_told() -> None:
    assert [ref.name for ref in never_read(state(config_map(), daemon_set("other")))] == [CONFIG]
    assert list(never_read(state(config_map(), daemon_set()))) == []
