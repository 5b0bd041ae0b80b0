"""Plugins that read a ConfigMap once, at their start: a change of it must restart them.

They watch nothing and report nothing (nri-plugins cmd/plugins/{memtierd,memory-qos,memory-policy,resctrl-mon}), so a
checksum of the ConfigMap stands on the pod template of their DaemonSet, which then replaces its pods.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256

from gitops.manifest import Manifest, Ref, get

CHECKSUM_ANNOTATION = "shoot-gitops/config-checksum"
CONFIG_MAPS = frozenset(
    {
        "nri-memtierd-config.default",
        "nri-memory-qos-config.default",
        "nri-memory-policy-config.default",
        "nri-resctrl-mon-config.default",
    }
)
"""As the charts name them (nri-plugins deployment/helm)."""


def with_checksums(objects: Mapping[Ref, Manifest]) -> dict[Ref, Manifest]:
    """The objects of one shoot, with the checksum on every DaemonSet that mounts a plugin's configuration.

    Only declared DaemonSets are touched, in a copy.
    """
    configs = dict(_configs(objects))
    return {ref: _with_checksum(ref, manifest, configs) for ref, manifest in objects.items()}


def never_read(objects: Mapping[Ref, Manifest]) -> Iterator[Ref]:
    """Configurations whose DaemonSet is declared nowhere, so that nothing here can restart it."""
    read = {(ref.namespace, name) for ref, one in objects.items() if ref.kind == "DaemonSet" for name in _mounted(one)}
    return (ref for (namespace, name), (ref, _) in _configs(objects) if (namespace, name) not in read)


def _configs(objects: Mapping[Ref, Manifest]) -> Iterator[tuple[tuple[str, str], tuple[Ref, Manifest]]]:
    for ref, manifest in objects.items():
        if (ref.api_version, ref.kind) == ("v1", "ConfigMap") and ref.name in CONFIG_MAPS:
            yield (ref.namespace, ref.name), (ref, manifest)


def _mounted(daemon_set: Manifest) -> Iterator[str]:
    """Names of the ConfigMaps among the pod's volumes."""
    volumes = get(daemon_set, "spec", "template", "spec", "volumes")
    for volume in volumes if isinstance(volumes, list) else ():
        if name := get(volume, "configMap", "name"):
            yield str(name)


def _with_checksum(ref: Ref, manifest: Manifest, configs: Mapping[tuple[str, str], tuple[Ref, Manifest]]) -> Manifest:
    if (ref.api_version, ref.kind) != ("apps/v1", "DaemonSet"):
        return manifest
    mounted = [configs[ref.namespace, name][1] for name in _mounted(manifest) if (ref.namespace, name) in configs]
    if not mounted:
        return manifest
    spec, template = manifest["spec"], manifest["spec"]["template"]
    metadata = template.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), CHECKSUM_ANNOTATION: _checksum(mounted)}
    annotated = {**template, "metadata": {**metadata, "annotations": annotations}}
    return {**manifest, "spec": {**spec, "template": annotated}}


def _checksum(configs: list[Manifest]) -> str:
    """Of what the plugin reads alone: labels of a ConfigMap restart nobody."""
    content = [[one.get("data"), one.get("binaryData")] for one in configs]
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
