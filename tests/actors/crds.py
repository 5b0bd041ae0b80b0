"""Custom resource definitions that an extension brings into a shoot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.control_plane.client import Client, HttpError
from tests.waiting import until

COLLECTION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DATA = Path(__file__).parent.parent / "data" / "crds"
_MANAGER = "gardener-resource-manager"


def nri() -> list[dict[str, Any]]:
    """BalloonsPolicy, TopologyAwarePolicy and TemplatePolicy, as the charts of nri-plugins install them."""
    return [yaml.safe_load(path.read_text()) for path in sorted(_DATA.glob("config.nri_*.yaml"))]


def balloons_of(release: str) -> dict[str, Any]:
    """BalloonsPolicy as a release of nri-plugins defined it, such as `v0.9.4`."""
    definition: dict[str, Any] = yaml.safe_load((_DATA / "versions" / f"balloonspolicies-{release}.yaml").read_text())
    return definition


def install(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Create or update definitions; one that is there already is not written."""
    for definition in definitions:
        shoot.apply(f"{COLLECTION}/{definition['metadata']['name']}", definition, _MANAGER, force=True)


def wait_until_established(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Wait until the API server serves the objects of `definitions`."""
    for definition in definitions:
        spec = definition["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
        until(lambda served: served is not None, partial(shoot.find, path))


def uninstall(shoot: Client, definitions: list[dict[str, Any]]) -> None:
    """Delete definitions, and with them all their objects; returns when they are gone."""
    paths = [f"{COLLECTION}/{definition['metadata']['name']}" for definition in definitions]
    present = [path for path in paths if shoot.find(path) is not None]
    for path in present:
        try:
            shoot.delete(path)
        except HttpError as error:
            if error.status != 404:  # the server takes some time to delete, and others may have asked it to before
                raise
    for path in present:
        until(lambda left: left is None, partial(shoot.find, path))
