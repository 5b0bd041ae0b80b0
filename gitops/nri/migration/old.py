"""Find the old configurations: ConfigMaps, raw files, and what the Gardener extension was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from gitops.manifest import get

OLD_GROUP_LABEL = "cri-resource-manager.intel.com/group"
NEW_GROUP_LABEL = "config.nri/group"

_CONFIG_MAP = "cri-resmgr-config."
_EXTENSION = "cri-resmgr-extension"
_STATIC = ("fallback", "force", "EXTRA_OPTIONS")
"""Keys of the extension that never reached a node since its v1.1.0."""


@dataclass(frozen=True)
class OldConfig:
    """The configuration of all nodes, of a group, or of a node."""

    name: str
    """`default`, `group.<GROUP>` or `node.<NODE>`: policies have the same names."""
    namespace: str
    modules: Mapping[str, Any]
    """Settings by module, such as `policy`, `cpu`, `logger`."""


@dataclass(frozen=True)
class Found:
    """What one document holds."""

    configs: tuple[OldConfig, ...] = ()
    notes: tuple[str, ...] = ()
    """What was there and has no counterpart."""
    relabelled: tuple[str, ...] = ()
    """Worker pools of a Shoot whose group label has to be renamed, as `<pool>: <group>`."""


def find(value: Any) -> Found:
    """The configurations in one document; none where it holds something else.

    Raises:
        ValueError: an embedded configuration is not YAML, or not a map; the message names it.
    """
    if not isinstance(value, dict):
        return Found()
    kind, name = value.get("kind"), str(get(value, "metadata", "name") or "")
    if kind == "ConfigMap" and name.startswith(_CONFIG_MAP):
        namespace = str(get(value, "metadata", "namespace") or "kube-system")
        modules = {key: _read(key, text) for key, text in as_map(value.get("data")).items()}
        return Found((OldConfig(name.removeprefix(_CONFIG_MAP), namespace, modules),))
    if kind == "Shoot":
        return _of_shoot(value)
    if kind == "ControllerDeployment":
        values = get(value, "providerConfig", "values") or get(value, "helm", "values")
        return _of_extension(get(values, "configs"))
    if kind is None and any(key.lower() == "policy" for key in value if isinstance(key, str)):
        return Found((OldConfig("default", "kube-system", value),))
    return Found()


def _of_shoot(shoot: Mapping[str, Any]) -> Found:
    found = [
        _of_extension(get(extension, "providerConfig", "configs"))
        for extension in get(shoot, "spec", "extensions") or ()
        if get(extension, "type") == _EXTENSION
    ]
    pools = tuple(
        f"{get(worker, 'name')}: {group}"
        for worker in get(shoot, "spec", "provider", "workers") or ()
        if (group := get(worker, "labels", OLD_GROUP_LABEL))
    )
    configs = tuple(config for one in found for config in one.configs)
    return Found(configs, tuple(note for one in found for note in one.notes), pools)


def _of_extension(configs: Any) -> Found:
    if not isinstance(configs, dict):
        return Found()
    read: list[OldConfig] = []
    for name, text in configs.items():
        if name not in _STATIC:
            modules = _read(name, text)
            if not isinstance(modules, dict):
                raise ValueError(f"configs.{name} is not a map of modules")
            read.append(OldConfig(name, "kube-system", modules))
    notes = tuple(
        f"{name}: no counterpart; the extension has ignored it since v1.1.0" for name in _STATIC if name in configs
    )
    return Found(tuple(read), notes)


def _read(name: str, text: Any) -> Any:
    try:
        return yaml.safe_load(text) if isinstance(text, str) else text
    except yaml.YAMLError as error:
        raise ValueError(f"{name} is not YAML: {' '.join(str(error).split())}") from error


def settings(modules: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Keys and values of a module or section by its name in any case, as the old program read it."""
    for key, value in as_map(modules).items():
        if str(key).lower() == name.lower():
            yield from as_map(value).items()


def as_map(value: Any) -> Mapping[str, Any]:
    """The value if it is a map; an empty one otherwise, as nothing can be read from it."""
    return value if isinstance(value, dict) else {}
