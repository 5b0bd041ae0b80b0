"""Images that a chart pulls and that must be in some vector."""

from __future__ import annotations

from collections.abc import Iterable

from gitops.gardener.image_vector.vector import ImageSource

CONFIG_MANAGER = "nri-config-manager"
"""The init container of every chart of nri-plugins (deployment/helm): it turns NRI on in the container runtime."""


def uncovered(sources: Iterable[ImageSource], needed: Iterable[str]) -> tuple[str, ...]:
    """Those of the needed images that no entry is named after, in their order."""
    names = {source.name for source in sources}
    return tuple(name for name in dict.fromkeys(needed) if name not in names)


def companions(sources: Iterable[ImageSource]) -> tuple[str, ...]:
    """Images that come with those of the vector, and that no entry provides.

    A chart of nri-plugins has a plugin and its init container, whose image nothing sets where it has no entry:
    the chart's own tag is pulled then, from the public registry.
    """
    repositories = [_last_part(source) for source in sources]
    plugins = [name for name in repositories if name.startswith("nri-") and name != CONFIG_MANAGER]
    return (CONFIG_MANAGER,) if plugins and CONFIG_MANAGER not in repositories else ()


def _last_part(source: ImageSource) -> str:
    """`nri-memtierd` of `ghcr.io/containers/nri-plugins/nri-memtierd:v1`."""
    name = (source.repository or source.ref or "").rpartition("/")[2]
    return name.partition("@")[0].partition(":")[0]
